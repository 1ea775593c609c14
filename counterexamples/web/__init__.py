"""Traces as a web page: one self-contained HTML file."""
