"""Options in a file: `counterpoint.toml`, or the table `[tool.counterpoint]` of `pyproject.toml`.

The file is looked for from the working directory upwards.  An option on the command line takes the place of the file's,
and the file's that of the default.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.arguments import build, parse
from checker.options import UsageError
from checker.suggestion import suggest
from spec.project import OWN_FILE, SHARED_FILE, TABLE, real
from spec.regular_file import Unreadable, UnreadableError, read_bytes

MOST_BYTES = 1_000_000
"""The largest file that is read."""

_MODEL_KEYS = ("D", "with", "faults")
_EVERYWHERE = ("color", "debug")

TAKEN: Mapping[str, tuple[str, ...]] = {
    "crashpoints": (*_MODEL_KEYS, "variant", "property", "timeout", "states", "json", *_EVERYWHERE),
    "sweep": (
        *_MODEL_KEYS,
        "variant",
        "max-faults",
        "property",
        "depth",
        "engine",
        "timeout",
        "timeout-total",
        "states",
        "no-symmetry",
        "no-cache",
        "workers",
        "memory",
        "json",
        *_EVERYWHERE,
    ),
    "diff": ("variant", "needs", "timeout", "no-cache", "json", *_EVERYWHERE),
    "graph": (*_MODEL_KEYS, "timeout", *_EVERYWHERE),
    "trace": (*_MODEL_KEYS, "timeout", "no-cache", *_EVERYWHERE),
    "draw": (*_MODEL_KEYS, "timeout", "no-cache", *_EVERYWHERE),
    "run": ("D", "with", *_EVERYWHERE),
}
"""The keys that commands besides `check` take: those that mean the same there.  `check` takes all, and the commands
that are not here read no file."""

_NOT_KEYS = ("help", "no-config", "cache", "scheduler")
"""Not for a file to say.  Results in a cache are believed as far as they cannot be checked at once, and what comes from
a cluster is believed and may run code here; so these are named by who runs the check, not by who wrote the files that
are checked."""


@dataclass(frozen=True)
class Configuration:
    """The options that a file sets.

    path     the file
    name     how to call it: its path as seen from the working directory
    text     its content
    inside   the table of the options in it, as a path of keys
    values   the options as the file gives them
    """

    path: Path
    name: str
    text: str
    inside: tuple[str, ...]
    values: Mapping[str, object]

    def place(self, key: str) -> str:
        """`file:line` of an option, or the file alone where the line cannot be told."""
        line = _line(self.text, (*self.inside, key))
        return self.name if line is None else f"{self.name}:{line}"


@dataclass(frozen=True)
class Configured:
    """A command line and what a file adds to it.

    arguments   both together, as the commands take them
    name        how to call the file
    words       what it has added, as words of a command line; empty when it has added nothing
    keys        the same as keys of the file
    """

    arguments: argparse.Namespace
    name: str
    words: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def told(self) -> str:
        """What a report says of it; only where it has added anything."""
        return f"options of {self.name}: {', '.join(self.keys)}"


def find(folder: Path) -> Configuration | None:
    """The configuration that counts in a folder: the first that is found from there upwards, to the root of the
    repository (the folder that has `.git`) or of the file system.  Raises UsageError (E430, E431)."""
    start = folder.resolve()
    for each in (start, *start.parents):
        own = _read(each / OWN_FILE, (), start)
        shared = _read(each / SHARED_FILE, TABLE, start)
        if own is not None and shared is not None:
            raise UsageError(
                f"{own.name} and {shared.name} both have options, and only one of them can count",
                f"move the table [{'.'.join(TABLE)}] to {OWN_FILE}, or the other way round",
                "E431",
            )
        if own is not None or shared is not None:
            return own or shared
        if (each / ".git").exists():
            return None
    return None


def configure(words: Sequence[str], given: argparse.Namespace, configuration: Configuration) -> Configured:
    """The command line `words`, which was parsed to `given`, with the options that the file sets and it does not.
    Raises UsageError (E432, E433) for what is wrong in the file, whichever command takes it."""
    root, parsers = _parsers()
    known = _options(parsers["check"])
    values: dict[str, Any] = {}
    for key, value in configuration.values.items():
        if key not in known:
            raise _unknown(key, known, configuration)
        values[key] = _value(key, value, known[key], configuration)
    command: str = given.command
    parser = parsers[command]
    own = _options(parser)
    taken = {key: _fitted(value, own[key]) for key, value in values.items() if _takes(command, key, given)}
    defaults = {key: own[key].default for key in taken}
    # What the command line leaves None is for the file to say.
    parser.set_defaults(**{own[key].dest: None for key in taken})
    arguments = root.parse_args(list(words))
    added: list[str] = []
    keys: list[str] = []
    for key, value in taken.items():
        action = own[key]
        if getattr(arguments, action.dest) is not None:
            continue
        setattr(arguments, action.dest, value)
        if value != defaults[key]:
            added += _words(action, value)
            keys.append(key)
    return Configured(arguments, configuration.name, tuple(added), tuple(keys))


IN_PYTEST = (
    *_MODEL_KEYS,
    "max-faults",
    "variant",
    "depth",
    "engine",
    "timeout",
    "timeout-property",
    "states",
    "no-symmetry",
    "strict",
)
"""The keys that the plugin of pytest takes."""


def for_pytest(folder: Path) -> argparse.Namespace | None:
    """The options of `check` that count in a folder for the tests that pytest makes of models: the file's, as far as
    they are in IN_PYTEST, and the defaults for all others.  None where there is no file.  Raises UsageError."""
    found = find(folder)
    if found is None:
        return None
    words = ("check", "model.cpt")
    known = _options(_parsers()[1]["check"])
    for key in found.values:
        if key not in known:
            raise _unknown(key, known, found)
    taken = Configuration(
        found.path,
        found.name,
        found.text,
        found.inside,
        {key: value for key, value in found.values.items() if key in IN_PYTEST},
    )
    return configure(words, parse(words), taken).arguments


# ------------------------------------------------------------------------------------------------------------- files


def _read(path: Path, inside: tuple[str, ...], start: Path) -> Configuration | None:
    """The configuration in a file.  None where there is no such file, or no such table in it."""
    name = os.path.relpath(path, start)
    try:
        data = read_bytes(_unless_it_leads_out(path), MOST_BYTES)
    except UnreadableError as error:
        if inside or error.why in (Unreadable.MISSING, Unreadable.NOT_IN_A_FOLDER):
            return None
        raise UsageError(f"{name} {error.told}", "see --no-config", "E430") from None
    if inside and inside[-1].encode() not in data:
        return None
    try:
        text = data.decode("utf-8")
        found: object = _toml(text)
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"{name} is no TOML: {told}", "see --no-config", "E430") from None
    for key in inside:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    if not isinstance(found, dict):
        raise UsageError(f"{name}: `{'.'.join(inside)}` is no table", f"write [{'.'.join(inside)}]", "E433")
    return Configuration(path, name, text, inside, found)


def _unless_it_leads_out(path: Path) -> Path:
    """The path without links.  Raises UnreadableError where they lead out of the repository (or of the file's own
    folder, in none): messages about what is wrong in a file show parts of it."""
    folder = path.parent
    top = next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), folder)
    found = real(path)
    if found is None or not found.is_relative_to(top):
        raise UnreadableError(Unreadable.OTHER, f"is a link that leads out of {os.path.relpath(top)}")
    return found


def _toml(text: str) -> dict[str, Any]:
    # Most runs have no configuration, and need not wait for this import.
    import tomllib

    return tomllib.loads(text)


def _line(text: str, keys: Sequence[str]) -> int | None:
    """The line, from 1, on which an entry begins.  tomllib does not tell; but a statement begins where all that comes
    before is TOML, and this one where all that comes before lacks the entry."""
    lines = text.splitlines(keepends=True)
    found = None
    candidates = [number for number, line in enumerate(lines) if keys[-1] in line]
    for number in candidates[:_MOST_CANDIDATES]:
        try:
            before: object = _toml("".join(lines[:number]))
        except (ValueError, RecursionError):
            continue
        for key in keys:
            before = before.get(key) if isinstance(before, dict) else None
        if before is None:
            found = number + 1
    return found


_MOST_CANDIDATES = 100


# ------------------------------------------------------------------------------------------------------------ values


def _unknown(key: str, known: Mapping[str, argparse.Action], configuration: Configuration) -> UsageError:
    bare = key.lstrip("-").replace("_", "-")
    hint = f"did you mean {bare!r}?" if bare in known else suggest(bare, known, "options")
    return UsageError(f"{configuration.place(key)}: there is no option {key!r}", hint, "E432")


def _value(key: str, value: object, action: argparse.Action, configuration: Configuration) -> Any:
    """The value as the parser of the command line would have made it.  Raises UsageError (E433)."""

    def wrong(expected: str, hint: str | None = None) -> UsageError:
        shown = _shown(value)
        return UsageError(f"{configuration.place(key)}: {key!r} is {shown}, and should be {expected}", hint, "E433")

    if action.nargs == 0:
        if not isinstance(value, bool):
            raise wrong("true or false")
        return value
    if isinstance(action, argparse._AppendAction):
        return list(_several(key, value, wrong))
    if action.choices is not None:
        choices = [str(choice) for choice in action.choices]
        if not isinstance(value, str) or value not in choices:
            hint = suggest(value, choices, "values") if isinstance(value, str) else None
            raise wrong(f"one of {', '.join(choices)}", hint)
        return value
    if action.type is not None:
        assert callable(action.type)
        if action.metavar == "SIZE":
            try:
                return action.type(str(value))
            except argparse.ArgumentTypeError as error:
                raise wrong('a size such as "2G"', str(error)) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong("a number")
        try:
            return action.type(str(value))
        except argparse.ArgumentTypeError as error:
            raise wrong("a number that the option allows", str(error)) from None
        except ValueError:
            raise wrong("a whole number") from None
    if not isinstance(value, str) or "\0" in value:
        raise wrong("a text")
    return _inside(value, wrong, configuration) if action.metavar in ("FILE", "FOLDER") else value


def _fitted(value: Any, action: argparse.Action) -> Any:
    """A value of `check`'s option as that of another command takes it, which may take several, or a range."""
    if isinstance(action, argparse._AppendAction):
        return value if isinstance(value, list) else [value]
    return str(value) if action.type is None and isinstance(value, int) and action.nargs != 0 else value


def _several(key: str, value: object, wrong: Callable[..., UsageError]) -> Iterator[str]:
    named = key in ("D", "with")
    if named and isinstance(value, dict):
        for name, each in value.items():
            if not isinstance(each, bool | int | str):
                raise wrong("a table of numbers, texts, true and false")
            yield f"{name}={str(each).lower() if isinstance(each, bool) else each}"
        return
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, str):
            raise wrong("a text, a list of texts or a table" if named else "a text or a list of texts")
        yield each


def _inside(value: str, wrong: Callable[..., UsageError], configuration: Configuration) -> str:
    """The path of a file to be written, as seen from the working directory.  A file that came with somebody's pull
    request must not say what is overwritten elsewhere."""
    folder = configuration.path.parent
    path = (folder / value).resolve()
    if not path.is_relative_to(folder) or ".git" in (part.lower() for part in path.relative_to(folder).parts):
        raise wrong(
            f"a file below the folder of {configuration.path.name}, and not in .git", "other files: on the command line"
        )
    return os.path.relpath(path)


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            shown = f"the text {value!r}" if isinstance(value, str) else str(value)
            return shown if len(shown) <= 60 else f"{shown[:60]}.."


def _takes(command: str, key: str, given: argparse.Namespace) -> bool:
    if command == "check":
        return True
    # A trace has its own model, and the options that choose one are mistakes there.
    if key in _MODEL_KEYS and getattr(given, "source", "").endswith(".json"):
        return False
    return key in TAKEN[command]


def _words(action: argparse.Action, value: Any) -> Iterator[str]:
    flag = action.option_strings[0]
    if action.nargs == 0:
        yield flag
    else:
        for each in value if isinstance(value, list) else [value]:
            yield from (flag, str(each))


# ----------------------------------------------------------------------------------------------------------- parsers


def _options(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The options of a command by their keys: the names of their flags without the dashes at the beginning."""
    found = {}
    for action in parser._actions:
        if action.option_strings:
            long = [flag for flag in action.option_strings if flag.startswith("--")]
            found[(long or action.option_strings)[0].lstrip("-")] = action
    return {key: action for key, action in found.items() if key not in _NOT_KEYS}


def _parsers() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """A new parser, and its parsers of the commands."""
    root = build()
    chosen = next(action for action in root._actions if isinstance(action, argparse._SubParsersAction))
    return root, chosen.choices


def keys() -> tuple[str, ...]:
    """All keys that a file may have."""
    return tuple(_options(_parsers()[1]["check"]))
