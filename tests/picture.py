"""The picture of a run in the README: what the command prints, with its colours, as SVG."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.documentation import COLUMNS, ROOT, run, timeless

PICTURE: Path = ROOT / "docs" / "pictures" / "run.svg"
COMMAND = ("check", "models/conductor/05_abandoned.cpt", "--variant", "v5_3_2", "--property", "none_abandoned")

_PAPER, _INK = (22, 27, 34), (214, 220, 228)
_RED, _GREEN, _YELLOW, _BLUE = (255, 123, 114), (86, 211, 100), (227, 179, 65), (121, 192, 255)
_MAGENTA, _CYAN, _BLACK, _WHITE = (210, 168, 255), (86, 212, 221), (72, 79, 88), (201, 209, 217)
_THEME = TerminalTheme(_PAPER, _INK, [_BLACK, _RED, _GREEN, _YELLOW, _BLUE, _MAGENTA, _CYAN, _WHITE])

_FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1240 {height}" role="img"
     aria-label="A run of the command: a table of verdicts, and the steps that lead to a violation">
<style>
.text {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px; \
line-height: {line_height}px; font-variant-ligatures: none; }}
{styles}
</style>
<rect width="100%" height="100%" rx="8" fill="#161b22"/>
<g transform="translate(18, 14)" class="text" xml:space="preserve">
<defs>{lines}</defs>
{backgrounds}
{matrix}
</g>
</svg>
"""


def draw() -> str:
    """Runs the command and draws what it prints."""
    _, printed = run((*COMMAND, "--color", "always"))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    shown = f"\x1b[2m$\x1b[0m \x1b[1mcounterpoint {' '.join(COMMAND)}\x1b[0m\n{printed.rstrip()}"
    for line in shown.split("\n"):
        console.print(Text.from_ansi(line), soft_wrap=True)
    return console.export_svg(theme=_THEME, code_format=_FRAME, unique_id="run", font_aspect_ratio=0.602)


def pieces(picture: str) -> list[tuple[str, str]]:
    """The pieces of text in a picture, each with its style, without what differs from run to run."""
    styles = dict(re.findall(r"\.(run-r\d+) \{ (.*?) \}", picture))
    found = re.findall(r'<text class="(run-r\d+)"[^>]*>(.*?)</text>', picture, flags=re.DOTALL)
    return [(timeless(text.replace("&#160;", " ")), styles[name]) for name, text in found]


def refresh() -> bool:
    """Draws the picture anew if it is no longer true; whether it was."""
    drawn = draw()
    if PICTURE.exists() and pieces(PICTURE.read_text(encoding="utf-8")) == pieces(drawn):
        return False
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn, encoding="utf-8")
    return True
