"""The version of the tool, the same as in `pyproject.toml`, and when its code was loaded."""

import time

VERSION = "0.1.0"
LOADED = time.time()
"""When this process began to load the tool.  Source files that are younger may not be the ones that run."""
