"""The evidence behind proofs, its checks, and its files."""
