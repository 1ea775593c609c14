"""Makes the parser's tables while the package is built; everything else stands in `pyproject.toml`."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).parent))


class BuildWithTables(build_py):
    """Also writes `spec/grammar.tables.json`, into the source tree, where an editable install looks for it."""

    def run(self) -> None:
        from spec.lalr_tables import main

        main()
        super().run()


setup(cmdclass={"build_py": BuildWithTables})
