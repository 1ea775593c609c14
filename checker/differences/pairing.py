"""Which file of HEAD is which file of BASE: by name, and for the rest by content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from checker.differences.side import Side
from spec import syntax
from spec.diagnostic import Diagnostic

Loaded = syntax.Module | tuple[Diagnostic, ...]

_LIKE_ALONE = 0.6
"""How much of two files' lines has to agree for them to be one that was renamed."""
_LIKE_WITH_NAMES = 0.3
"""The same, where they have properties and processes of the same names."""


@dataclass(frozen=True)
class Document:
    """A model file with what it imports; or the errors that are in it."""

    name: str
    loaded: Loaded

    @property
    def texts(self) -> tuple[str, ...] | None:
        """Everything that the model's meaning depends on: two files with equal texts are one model.  None where the
        file has errors."""
        if isinstance(self.loaded, tuple):
            return None
        files = {item.span.source: None for item in self.loaded.items}
        return (self.loaded.source.text, *(source.text for source in files))

    @property
    def is_part(self) -> bool:
        if isinstance(self.loaded, tuple):
            return False
        return not any(isinstance(item, syntax.Process) for item in self.loaded.items)

    @property
    def names(self) -> frozenset[str]:
        """Of its properties and processes."""
        if isinstance(self.loaded, tuple):
            return frozenset()
        named = (syntax.Property, syntax.Process)
        return frozenset(f"{type(i).__name__} {i.name.name}" for i in self.loaded.items if isinstance(i, named))


@dataclass(frozen=True)
class Pair:
    """A model on both sides, or on one."""

    base: Document | None
    head: Document | None

    @property
    def unchanged(self) -> bool:
        return (
            self.base is not None
            and self.head is not None
            and self.base.texts is not None
            and self.base.texts == self.head.texts
        )


def pairs(base: Side, head: Side, library: Path) -> list[Pair]:
    """The models of both sides, in the order of HEAD's names, behind them those that only BASE has."""
    before, after = _documents(base, library), _documents(head, library)
    if base.single and head.single:
        return [Pair(*before.values(), *after.values())]
    match = {name: name for name in after if name in before}
    match |= _renamed(
        {name: each for name, each in before.items() if name not in match},
        {name: each for name, each in after.items() if name not in match},
    )
    found = [Pair(before[match[name]] if name in match else None, each) for name, each in after.items()]
    return found + [Pair(each, None) for name, each in before.items() if name not in match.values()]


def _documents(side: Side, library: Path) -> dict[str, Document]:
    """The models of a side; what has no process is there for others to import, and is part of them."""
    found = {name: Document(name, side.read(path, library)) for name, path in side.files.items()}
    return {name: each for name, each in found.items() if side.single or not each.is_part}


def _renamed(before: Mapping[str, Document], after: Mapping[str, Document]) -> dict[str, str]:
    """The old names of files by their new ones: the likest first."""
    likeness = []
    for new, ours in after.items():
        for old, theirs in before.items():
            same_names = bool(ours.names) and ours.names == theirs.names
            ratio = _ratio(theirs, ours)
            if ratio >= (_LIKE_WITH_NAMES if same_names else _LIKE_ALONE):
                likeness.append((-ratio, not same_names, new, old))
    found: dict[str, str] = {}
    for _, _, new, old in sorted(likeness):
        if new not in found and old not in found.values():
            found[new] = old
    return found


def _ratio(old: Document, new: Document) -> float:
    """How much of the files' own lines agrees, from 0 to 1; 0 for files with errors."""
    if isinstance(old.loaded, tuple) or isinstance(new.loaded, tuple):
        return 0.0
    lines = [
        [line.strip() for line in each.source.text.split("\n") if line.strip()] for each in (old.loaded, new.loaded)
    ]
    matcher: SequenceMatcher[str] = SequenceMatcher(a=lines[0], b=lines[1], autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= _LIKE_WITH_NAMES else 0.0
