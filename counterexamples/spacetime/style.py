"""The style sheet of a diagram: three colours after Okabe and Ito (2008), two of them darkened, never colour alone."""

from __future__ import annotations

from collections.abc import Sequence

KIND = "spacetime"
"""The class of a diagram's root, which keeps its rules away from the page that holds it."""

INK, DIM, RULE = "#1c2530", "#5b6875", "#e3e7eb"
VERMILLION, GREEN, BLUE = "#c44d00", "#00795a", "#0072b2"
DARK_RED, DARK_GREEN = "#a03c00", "#006349"
"""Of text, which has to be dark without colour too."""

_SANS = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_MONO = "Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace"

_RULES = (
    ("text", f"font-family: {_SANS}; fill: {INK}"),
    (".m", f"font-family: {_MONO}"),
    (".b", "font-weight: bold"),
    (".x", "text-decoration: line-through"),
    (".dim, .place, .sign-name, .track-name, .reminder, .in-local, .in-faded", f"fill: {DIM}"),
    (".bad, .in-bad", f"fill: {DARK_RED}"),
    (".good", f"fill: {DARK_GREEN}"),
    (".paper", "fill: #fff"),
    (".field", "fill: transparent"),
    (".struck", "fill: #fdf1e8"),
    (".hair", f"stroke: {RULE}"),
    (".band", "fill: #7a8794; fill-opacity: .07"),
    (".life", "stroke: #a9b4be"),
    (".head", f"fill: #fff; stroke: {INK}; stroke-width: 1.2"),
    (".head.process", "fill: #eef1f4"),
    (".head.outside", "stroke-dasharray: 4 3"),
    (".drum", f"fill: #fff; stroke: {INK}; stroke-width: 1.1"),
    (".reminding", "fill: #fff"),
    (".running", "fill: #cfd6dd; stroke: #8f9ba7; stroke-width: .8"),
    (".waiting", "fill: #fff"),
    (".request", f"stroke: {INK}; stroke-width: 1.3; fill: none"),
    (".answer", f"stroke: {INK}; stroke-width: 1; stroke-dasharray: 4 2.5; fill: none"),
    (".request.refused, .request.lost, .answer.lost, .tip.refused", f"stroke: {VERMILLION}; stroke-width: 1.4"),
    (".missed", f"stroke: {VERMILLION}; stroke-width: 1; stroke-dasharray: 1 4"),
    (".tip.request", f"fill: {INK}; stroke-width: 1.3"),
    (".tip.half", "fill: none"),
    (".tip.refused", "stroke-width: 3"),
    (".tip.answer", "stroke-dasharray: none; stroke-width: 1.2; stroke-linejoin: round"),
    (".tip.circled", f"stroke: {VERMILLION}; fill: #fff"),
    (".link.cut", f"stroke: {VERMILLION}; stroke-width: 1.4; stroke-dasharray: 7 4"),
    (".link.heal", f"stroke: {GREEN}; stroke-width: 1.4"),
    (".cut-edge", f"stroke: {VERMILLION}; stroke-width: 1.4; stroke-dasharray: 7 4"),
    (".cross", f"stroke: {VERMILLION}; stroke-width: 3.4; stroke-linecap: round; fill: none"),
    (".small", "stroke-width: 2.2"),
    (".halo", "stroke: #fff; stroke-width: 7; stroke-linecap: round; fill: none"),
    (".halo.small", "stroke-width: 4.5"),
    (".again", f"stroke: {GREEN}; stroke-width: 2.2; fill: #fff"),
    (".again-tip", f"fill: {GREEN}"),
    (".alarm", f"stroke: {VERMILLION}; stroke-width: 1.8; fill: #fff; stroke-linejoin: round"),
    (".dot", f"fill: {INK}; stroke: #fff; stroke-width: 1.2"),
    (".note", "fill: #fff; stroke: #b4bec8; stroke-width: .9"),
    (".note.change", f"fill: #eef6fb; stroke: {BLUE}"),
    (".note.ghost", f"stroke: {BLUE}; stroke-dasharray: 1.5 2"),
    (".note.faded", f"stroke: {DIM}; stroke-dasharray: 4 3"),
    (".note.local", "stroke: #d3dae0"),
    (".note.bad", f"stroke: {VERMILLION}"),
    (".note.wrong", f"fill: #fdf1e8; stroke: {VERMILLION}; stroke-width: 2"),
    (".note.good", f"fill: #e9f5f0; stroke: {GREEN}; stroke-width: 2"),
    (".violated", f"fill: #fff; stroke: {VERMILLION}; stroke-width: 1.6"),
    (".violated-bar", f"stroke: {VERMILLION}; stroke-width: 5"),
    (".fulfilled", f"fill: #fff; stroke: {GREEN}; stroke-width: 1.6"),
    (".fulfilled-bar", f"stroke: {GREEN}; stroke-width: 5"),
    (".lasso", f"stroke: {INK}; stroke-width: 2; fill: none; stroke-linejoin: round"),
)

TEXT_RULES = (*_RULES[:3], (".paper", "fill: #fff"))
"""What any picture needs that is written by `counterexamples.spacetime.svg`."""


def style_sheet(rules: Sequence[tuple[str, str]] = _RULES, kind: str = KIND) -> str:
    """The rules (selectors, declarations), each for elements inside of a picture of this kind alone."""
    lines = []
    for selectors, declarations in rules:
        scoped = ", ".join(f".{kind} {selector.strip()}" for selector in selectors.split(","))
        lines.append(f"{scoped} {{ {declarations} }}")
    return "\n" + "\n".join(lines) + "\n"
