"""The table of codes, which `counterpoint explain CODE` shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from spec.diagnostic import Code
from spec.file_codes import FILE_CODES
from spec.syntax_codes import SYNTAX_CODES
from spec.type_codes import TYPE_CODES


def table(*parts: Iterable[Code]) -> Mapping[str, Code]:
    """The codes of all parts, by code, in order.  Raises ValueError for a code that is there twice."""
    codes: dict[str, Code] = {}
    for code in sorted((code for part in parts for code in part), key=lambda code: (code.code[0], code.code)):
        if code.code in codes:
            raise ValueError(f"the code {code.code} is there twice")
        codes[code.code] = code
    return MappingProxyType(codes)


CODES: Mapping[str, Code] = table(FILE_CODES, SYNTAX_CODES, TYPE_CODES)
