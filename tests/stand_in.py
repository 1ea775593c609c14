"""A function of a test that takes the place of another one by `monkeypatch.setattr`, which takes any object."""

from __future__ import annotations

from typing import Generic, TypeVar

Function = TypeVar("Function")


class InPlaceOf(Generic[Function]):
    """`InPlaceOf(original)(function)` is `function`; mypy rejects it when it does not take and give what the original
    does, so that a test is not left behind by a changed signature."""

    def __init__(self, original: Function) -> None:
        pass

    def __call__(self, function: Function) -> Function:
        return function
