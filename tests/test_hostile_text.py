"""Hostile text wherever a model, a path or an option can hold one: no output lets it act.

The same commands are run with harmless text of the same places.  What a browser, a code host, a CI runner or a drawing
program would take for markup must then be the same in both.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checker import cli

PIECES = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x1b[2J",
    "\x9b31m",
    "\x07",
    "\x08",
    "\r",
    "\x00",
    "\x7f",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u200b",
    "\u2028",
    "\U000e0041",
    "::error::x",
    "::stop-commands::t",
    "::set-output name=a::b",
    "%0A::error::y",
    "##[error]z",
    "##vso[task.complete]",
    "##teamcity[x]",
    "<script>alert(1)</script>",
    "</script>",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "-->",
    "]]>",
    "&lt;",
    '"',
    "'",
    "\\",
    "`",
    "```",
    "|",
    "[a](javascript:x)",
    "https://evil.example",
    "www.evil.example",
    "@somebody",
    "#1",
    "$(id)",
    "%%{init: {}}%%",
    "end",
    "\\N",
    '"]; evil [label="',
    "{",
    "}",
    "a",
    " ",
    "\t",
    ";",
]
"""What somebody who wants to be noticed would write."""


def model(text: str, name: str = "v") -> str:
    """A model that is refuted in two steps, with the text in all places that can hold any."""
    comment = re.sub(r"[\n\r\x00]", " ", text)
    literal = comment.replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
/// First {comment}
/// {comment}

// {comment}
/// {comment}
store db {{ durable x: 0..2 }}
/// {comment}
process P {{
  /// {comment}
  loop up {{
    step "{literal}" {{
      await db.x < 2
      db.x := db.x + 1
    }}
  }}
  on ask(n: 0..1) {{
    fail "{literal}"
  }}
}}
/// {comment}
invariant never_two: db.x != 2
/// {comment}
cover two: db.x == 2
/// {comment}
scenario told {{ P.up "{literal}"; then db.x == 1 }}
/// {comment}
variant {name} {{ }}
"""


def outputs(text: str, folder: Path) -> Mapping[str, str]:
    """What all commands write, by the kind of output."""
    stem = re.sub(r"[/\x00]", "_", text)[:40] or "m"
    if stem.startswith((".", "-")):
        stem = f"m{stem}"
    (folder / f"in {stem}").mkdir()
    path = folder / f"in {stem}" / f"{stem}.cpt"
    path.write_text(model(text), encoding="utf-8", newline="")
    wrong = folder / f"wrong {stem}.cpt"
    wrong.write_text(
        model(text) + f'import "{text.replace(chr(0), "")}"\ninvariant {text}: {text}\n', encoding="utf-8", newline=""
    )
    (folder / "toml").mkdir()
    config = folder / "toml" / "counterpoint.toml"
    file = str(path.relative_to(folder))
    found: dict[str, str] = {}

    def run(kind: str, *words: str) -> None:
        with contextlib.chdir(folder):
            found[kind] = executed(*words)

    files = ("--html", "o.html", "--junit", "o.xml", "--sarif", "o.sarif", "--summary", "o.md")
    run("terminal check", "check", file, "--color", "always", "--no-config", *files)
    for name in ("o.html", "o.xml", "o.sarif", "o.md"):
        found[name] = (folder / name).read_text(encoding="utf-8")
    run("annotations", "check", file, "--no-config", "--github", "--trace", "none")
    run("json", "check", file, "--no-config", "--json")
    for number, words in enumerate(
        (
            ("check", str(wrong.name), "--no-config"),
            ("check", file, "--no-config", "--property", text),
            ("check", file, "--no-config", "--variant", text, "--with", text, "-D", text),
            ("check", file, "--no-config", "--faults", text),
            ("check", text, "--no-config"),
            ("check", file, "--no-config", text),
            ("check", file, "--no-config", "--engine", text),
            ("check", file, "--no-config", "--timeout", text),
            ("check", file, "--no-config", "--junit", f"no/{stem}"),
            ("run", file, "--seed", "1", "--steps", "5"),
            ("replay", file, file),
            ("verify", file, file),
            ("diff", text, "."),
            ("explain", text),
            (text,),
        )
    ):
        run(f"terminal {number} {words[0]!a}", *words)
    run("mermaid", "trace", file, "--no-config", "--property", "never_two", "--to", "mermaid")
    run("dot", "trace", file, "--no-config", "--property", "never_two", "--to", "dot")
    run("json trace", "trace", file, "--no-config", "--property", "never_two", "--to", "json")
    run("svg", "draw", file, "--no-config", "--property", "never_two")
    for kind in ("svg", "html", "csv", "json"):
        run(f"terminal sweep {kind}", "sweep", file, "--no-config", "--max-faults", "0..1", "-o", f"s.{kind}")
        found[f"sweep {kind}"] = (folder / f"s.{kind}").read_text(encoding="utf-8")
    run("dot control", "graph", file, "--no-config", "--process", "P")
    for key in ("property", "junit", text):
        config.write_text(f"{json.dumps(key)} = {json.dumps(text)}\n", encoding="utf-8")
        with contextlib.chdir(config.parent):
            found[f"terminal configuration {key!a}"] = executed("check", f"../{file}")
    config.unlink()
    return found


def executed(*words: str) -> str:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.execute(list(words))
    assert code != 3, words
    written = []
    for stream in (out, err):
        stream.seek(0)
        written.append(stream.read())
    return "".join(written)


COLOURS = re.compile(r"\x1b\[(0|[0-9]|[139][0-9]|1;3[0-9])m")
COMMANDS = re.compile(r"^\s*::[^:]|##\w*\[", re.MULTILINE)


def harmless(text: str, but: str = "\n\t") -> bool:
    return all(c.isprintable() or c in but for c in text)


class Tags(HTMLParser):
    """The elements of a page with the names of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, ...]] = Counter()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag, *sorted(name for name, _ in attrs)] += 1
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]


def elements(text: str) -> Counter[tuple[str, ...]]:
    return Counter((each.tag, *sorted(each.attrib)) for each in ET.fromstring(text).iter())


def markdown_shape(text: str) -> list[object]:
    """Of each line: its tags, the bars that divide a table, and what would become a link or a mention."""
    shape: list[object] = []
    for line in text.splitlines():
        shape.append(
            (
                re.findall(r"</?[a-z]+", line) if "-->" not in line and "->>" not in line else [],
                len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0,
                re.findall(r"@(?!\u200b)\w|https?:(?!\u200b)|www(?!\u200b)\.|(?<!\\)\]\(|(?<![\w&\\])#\d", line)
                if not re.match(r"\s*(participant|note|p\d|env|rect|loop|end|actor|sequence)", line)
                else [],
            )
        )
    return shape


def mermaid_shape(text: str) -> list[str]:
    """The instruction that each line is."""
    return [re.split(r"[ :]", line.strip())[0] for line in text.splitlines()]


def dot_shape(text: str) -> str:
    """The text without what stands between quotes."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return outputs("plain text", tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return outputs("plain text " * 12, tmp_path_factory.mktemp("long"))


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join))
@example("\n::error::x\n##[error]y \x1b[8m\u202e")
@example('<img src=x onerror=alert(1)></script>"]]>--><!--')
@example("@somebody https://evil.example www.evil.example #1 [a](b) | ` ``` <b>")
def test_no_output_lets_hostile_text_act(
    plain: Mapping[str, str], long: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    found = outputs(text, tmp_path_factory.mktemp("hostile"))
    for kind, written in found.items():
        if kind.startswith("terminal"):
            shown = COLOURS.sub("", written)
            assert harmless(shown), (kind, shown)
            assert not COMMANDS.search(shown), (kind, shown)
        else:
            but = "\n\t\u200b" if kind == "o.md" else "\n\t"
            assert harmless(written, but), (kind, [c for c in written if not c.isprintable() and c not in but])
    expected = [line for line in plain["annotations"].splitlines() if COMMANDS.search(line)]
    here = [line for line in found["annotations"].splitlines() if COMMANDS.search(line)]
    assert expected
    assert [re.split(r"[ :]", line)[2] for line in here] == [re.split(r"[ :]", line)[2] for line in expected]
    for line in here:
        properties = line.partition(" ")[2].partition("::")[0]
        assert [each.partition("=")[0] for each in properties.split(",")] == ["file", "line", "endLine", "col", "title"]
    for kind in ("json", "json trace", "o.sarif"):
        json.loads(found[kind])
        assert found[kind].isascii()
    json.loads(found["sweep json"])
    assert elements(found["o.xml"]) == elements(plain["o.xml"])
    # Longer text takes more lines of a picture, and nothing else.
    assert elements(found["svg"]).keys() <= elements(plain["svg"]).keys() | elements(long["svg"]).keys()
    assert (
        elements(found["sweep svg"]).keys() <= elements(plain["sweep svg"]).keys() | elements(long["sweep svg"]).keys()
    )
    for kind in ("o.html", "sweep html"):
        page = Tags(found[kind])
        assert page.found.keys() <= Tags(plain[kind]).found.keys() | Tags(long[kind]).found.keys()
        assert page.found["script",] == Tags(plain[kind]).found["script",]
        assert not [link for link in page.links if ":" in link and not link.startswith(("data:", "#"))]
    assert markdown_shape(found["o.md"]) == markdown_shape(plain["o.md"])
    assert mermaid_shape(found["mermaid"]) == mermaid_shape(plain["mermaid"])
    for kind in ("dot", "dot control"):
        assert dot_shape(found[kind]) == dot_shape(plain[kind])
