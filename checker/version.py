"""The version of the tool, the same as in `pyproject.toml`."""

VERSION = "0.1.0"
