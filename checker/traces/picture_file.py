"""Pictures as files: SVG as it is, PNG and PDF through vl-convert, the only module that imports it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from pathlib import PurePath

from checker.options import UsageError
from checker.suggestion import suggest

PIXELS = 2.0
"""Pixels of a PNG for one of the picture's own, so that it is sharp in print and on dense screens."""


class PictureForm(Enum):
    """The formats, by the ends of their files' names."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


def picture_form(file: str | None) -> PictureForm:
    """The format that a file's name asks for; SVG for standard output (None or `-`).  Raises UsageError: E421 for other
    names, E422 where the format needs a package that is not installed."""
    if file in (None, "-"):
        return PictureForm.SVG
    assert file is not None
    suffix = PurePath(file).suffix.lower().removeprefix(".")
    forms = {form.value: form for form in PictureForm}
    if suffix not in forms:
        hint = suggest(suffix, list(forms), "formats") if suffix else "end its name in .svg, .png or .pdf"
        raise UsageError(f"{file} is no name of a picture that can be drawn", hint, "E421")
    if forms[suffix] is not PictureForm.SVG:
        _converter(forms[suffix])
    return forms[suffix]


def encode(svg: str, form: PictureForm) -> bytes:
    """The picture in a format.  Raises UsageError (E422) without the package that the format needs."""
    if form is PictureForm.SVG:
        return svg.encode("utf-8")
    return _converter(form)(svg)


def _converter(form: PictureForm) -> Callable[[str], bytes]:
    try:
        library = import_module("vl_convert")
    except ImportError:
        message = f"{form.value.upper()} needs the package vl-convert-python, which is not installed"
        hint = "pip install vl-convert-python, or write an .svg, which needs nothing"
        raise UsageError(message, hint, "E422") from None
    if form is PictureForm.PDF:
        return lambda svg: bytes(library.svg_to_pdf(svg))
    return lambda svg: bytes(library.svg_to_png(svg, scale=PIXELS))
