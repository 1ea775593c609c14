"""A model that has a little of everything, other layouts of a text, and the cache as the tests use it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from checker.cache.cache import Cache
from checker.cache.identity import Identity
from checker.choosing import choose
from checker.options import Options
from checker.planning.plan import Silence
from checker.result import VariantReport
from checker.work.item import Item, items_of, perform
from spec.load import load
from spec.source import Source

ROOT = Path(__file__).parent.parent.parent
TOOL = Identity("the tool", ())

EVERYTHING = """\
/// A server that writes, twice; and asserts that it has.

const LAST: int = 2
switch twice: bool = true

store db { durable x: 0..2 }

process Server {
  task up {
    db.x := 1
    if twice {
      db.x := LAST
    }
    assert db.x == LAST
    assert db.x == 1
  }
}

process Reader {
  loop read {
    await db.x == 1
    db.x := 0
  }
}

faults {
  crash Server
  crash db
}

/// It never grows.
invariant small: db.x <= 2
invariant never_two: db.x != 2
at rest done: db.x != 1
step invariant by_steps: db.x' <= db.x + 1
cover two: db.x == 2
cover three: db.x == 2 and db.x == 1
live settles: eventually db.x == 2
scenario straight { Server.up "db.x := 1" }
scenario stuck {
  Server.up "db.x := 1"
  Server.up "db.x := 1"
}

variant once { twice = false }
variant both { twice = true }

expect both refutes never_two needs {}
expect both runs straight
expect both forbids stuck
expect both proves small
"""


def source_of(text: str, folder: Path, name: str = "everything.cpt") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def items(path: Path, options: Options) -> list[Item]:
    """The items of a model file that has no errors."""
    module = load(path, ROOT / "models")
    assert not isinstance(module, tuple), module
    chosen = choose(module, options)
    assert all(choice.checked for choice in chosen), [choice.errors for choice in chosen]
    return items_of(module, chosen, options)


def checked(item: Item) -> VariantReport:
    return perform(item, Silence())


def plain(report: VariantReport) -> VariantReport:
    """Without what a kept report need not share with a new one."""
    return replace(report, seconds=0.0, decided=None)


def cache_in(folder: Path, tool: Identity | str = TOOL) -> Cache:
    return Cache(folder / "kept", tool)


def entries(cache_folder: Path) -> list[Path]:
    return sorted((cache_folder / "kept").glob("*.result"))


def laid_out_otherwise(source: Source, seed: int) -> str:
    """The text with other comments, blank lines, margins and spaces: line breaks stay where they are."""
    draw = random.Random(seed)
    lines: list[str] = []
    for line in source.text.split("\n"):
        bare = line.strip()
        if bare.startswith("//"):
            if draw.random() < 0.5:
                continue
        elif draw.random() < 0.3:
            lines.append(draw.choice(("", "// a remark", "   // crash Server; x := 2", "\t")))
        tail = draw.choice(("", "", " ", "  // { so it goes"))
        lines.append(" " * draw.randrange(6) + bare + tail if bare else "")
    return "\n".join(lines)
