"""What has been found, as one HTML page that needs no other file and no network.

Everything that people can read is in the HTML itself; the script only turns pages and steps.  Names come from models
that strangers may have written: all text is escaped, and the page's own policy forbids it to load anything.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from counterexamples.explain import Explanation, Kind, Step
from counterexamples.notation import write_party
from counterexamples.render import wording
from counterexamples.render.columns import Entry
from counterexamples.render.conclusion import render_conclusion
from counterexamples.render.page import Page
from counterexamples.render.text import summary
from counterexamples.spacetime.svg import draw
from counterexamples.trace import Trace
from counterexamples.web.timeline import ABSENT, Timeline, timeline
from spec.event import Party
from spec.interpreter import Interpreter
from spec.typed import Model

_COLUMNS = 92
"""How wide the text of a conclusion is."""
_CLEAN = Page().clean
"""Writes characters that would reorder a line, or show nothing, as escapes."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Exhibit:
    """A trace to be looked at.

    property  what it shows something of, None for a scenario's run; heading: the verdict that it is evidence for
    faults    the fault set it belongs to, as people write it; empty where that is not the point
    files     for each source file, what people are to see of its name
    """

    name: str
    property: str | None
    heading: str
    faults: str
    trace: Trace
    explanation: Explanation
    files: Mapping[str, str]


@dataclass(frozen=True)
class Finding:
    """One row of the table of verdicts.

    tone       `good`, `bad` or `doubt`
    expected   what the model expects, in a few words; empty where it expects nothing
    proof      the proof in the model's words, a line each
    exhibits   indices of the section's exhibits that belong to it
    """

    name: str
    form: str
    verdict: str
    tone: str
    detail: str
    expected: str
    doc: str
    line: int | None
    proof: tuple[str, ...] = ()
    exhibits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One cell of a table; tone as in `Finding`, or empty; exhibit: the index of one that shows it."""

    text: str
    tone: str = ""
    exhibit: int | None = None


@dataclass(frozen=True)
class Grid:
    """A further table: which faults it takes, which crash points are dangerous.  Without rows, a remark."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Section:
    """One variant of a model.  variant None: the model's defaults."""

    variant: str | None
    doc: str
    scope: str
    findings: tuple[Finding, ...]
    exhibits: tuple[Exhibit, ...]
    grids: tuple[Grid, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chapter:
    """One model file.  sources: the names and texts of the file and of those it imports; the first is the model's."""

    name: str
    doc: str
    sources: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def document(chapters: Sequence[Chapter], summary_line: str) -> str:
    """The text of the page, with a newline at its end; the same for the same chapters, byte for byte."""
    writer = _Writer()
    body = "".join(writer.chapter(number, chapter) for number, chapter in enumerate(chapters, start=1))
    title = chapters[0].name if len(chapters) == 1 else f"{len(chapters)} models"
    data = json.dumps(writer.exhibits, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    for sign in "<>&":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)} – Counterpoint</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n"
        f"{_header(chapters, summary_line)}<main>\n{body}</main>\n"
        f'<script type="application/json" id="cp-data">{data}</script>\n'
        f"<script>\n{_asset('page.js')}</script>\n</body>\n</html>\n"
    )


def _header(chapters: Sequence[Chapter], summary_line: str) -> str:
    links = "".join(
        f'<li><a href="#{key}" data-chapter="{key}">{_name(chapter.name)}</a></li>'
        for key, chapter in zip(_chapter_keys(chapters), chapters, strict=True)
    )
    nav = f'<nav class="cp-models" aria-label="Models"><ul>{links}</ul></nav>\n' if len(chapters) > 1 else ""
    return (
        f'<header class="cp-top"><h1>Counterpoint</h1><p>{_text(summary_line)}</p>\n'
        '<p class="cp-keys" id="cp-keys"><kbd>←</kbd> <kbd>→</kbd> step &nbsp; <kbd>Home</kbd> <kbd>End</kbd> first, '
        "last &nbsp; <kbd>[</kbd> <kbd>]</kbd> previous, next counterexample</p>\n"
        f"{nav}</header>\n"
    )


def _chapter_keys(chapters: Sequence[Chapter]) -> list[str]:
    return [f"m{number}-{_slug(chapter.name)}" for number, chapter in enumerate(chapters, start=1)]


class _Writer:
    """Writes chapters, and collects what the script needs of their exhibits."""

    def __init__(self) -> None:
        self.exhibits: dict[str, object] = {}

    def chapter(self, number: int, chapter: Chapter) -> str:
        key = f"m{number}-{_slug(chapter.name)}"
        keys: list[list[str]] = []
        for place, section in enumerate(chapter.sections, start=1):
            taken: dict[str, int] = {}
            own = []
            for exhibit in section.exhibits:
                words = [section.variant or "", exhibit.name, exhibit.faults]
                slug = "-".join(filter(None, map(_slug, words))) or "run"
                taken[slug] = taken.get(slug, 0) + 1
                own.append(f"{key}-{place}-{slug}" + (f"-{taken[slug]}" if taken[slug] > 1 else ""))
            keys.append(own)
        sections = "".join(
            self.section(section, own, key, place)
            for place, (section, own) in enumerate(zip(chapter.sections, keys, strict=True), start=1)
        )
        return (
            f'<section class="cp-chapter" id="{key}" aria-labelledby="{key}-title">\n'
            f'<h2 id="{key}-title">{_name(chapter.name)}</h2>\n{_paragraphs(chapter.doc)}{sections}'
            f"{self.viewer(chapter, keys, key)}</section>\n"
        )

    # -- what was found -----------------------------------------------------------------------------------------------

    def section(self, section: Section, keys: Sequence[str], chapter: str, place: int) -> str:
        title = "" if section.variant is None else f"<h3>variant {_name(section.variant)}</h3>\n"
        about = f'{_paragraphs(section.doc)}<p class="cp-scope">Faults: {_text(section.scope)}</p>\n'
        rows = "".join(self.finding(finding, section, keys, chapter) for finding in section.findings)
        named = f"variant {section.variant}" if section.variant else "the model"
        table = (
            f'<div class="cp-wide" tabindex="0" role="region" aria-label="Verdicts on {_text(named)}">'
            f'<table class="cp-verdicts"><caption class="cp-unseen">Verdicts on {_text(named)}</caption>\n'
            '<thead><tr><th scope="col">property</th><th scope="col">kind</th><th scope="col">verdict</th>'
            '<th scope="col">evidence</th><th scope="col">expected</th></tr></thead>\n'
            f"<tbody>{rows}</tbody></table></div>\n"
        )
        grids = "".join(self.grid(grid, keys) for grid in section.grids)
        told = "".join(f"<li>{_text(warning)}</li>" for warning in section.warnings)
        warnings = f'<ul class="cp-warnings">{told}</ul>\n' if told else ""
        return f'<section class="cp-variant" id="{chapter}-v{place}">{title}{about}{table}{grids}{warnings}</section>\n'

    def finding(self, finding: Finding, section: Section, keys: Sequence[str], chapter: str) -> str:
        links = " ".join(
            f'<a class="cp-show" href="#{keys[index]}" data-exhibit="{keys[index]}">'
            f"{_text(section.exhibits[index].faults or 'show the run')}</a>"
            for index in finding.exhibits
        )
        proof = ""
        if finding.proof:
            lines = "".join(f"<li><code>{_text(line)}</code></li>" for line in finding.proof)
            proof = f"<details><summary>why: the invariant</summary><ul>{lines}</ul></details>"
        name = f"<bdi>{_text(finding.name)}</bdi>"
        if finding.line is not None:
            name = f'<a href="#{chapter}-line-{finding.line}" data-line="{finding.line}">{name}</a>'
        doc = f'<p class="cp-doc">{_text(finding.doc)}</p>' if finding.doc else ""
        return (
            f'<tr class="cp-{finding.tone}"><th scope="row">{name}{doc}</th><td>{_text(finding.form)}</td>'
            f'<td class="cp-verdict"><span class="cp-sign" aria-hidden="true">{_SIGNS[finding.tone]}</span> '
            f"{_text(finding.verdict)}</td><td>{_text(finding.detail)} {links}{proof}</td>"
            f"<td>{_text(finding.expected)}</td></tr>\n"
        )

    def grid(self, grid: Grid, keys: Sequence[str]) -> str:
        if not grid.rows:
            return f'<p class="cp-note"><strong>{_text(grid.title)}</strong> {_text(grid.note)}</p>\n'
        head = "".join(f'<th scope="col">{_text(column)}</th>' for column in grid.columns)
        rows = ""
        for row in grid.rows:
            cells = [f'<th scope="row">{self.cell(row[0], keys)}</th>']
            cells += [f'<td class="cp-{cell.tone or "plain"}">{self.cell(cell, keys)}</td>' for cell in row[1:]]
            rows += f"<tr>{''.join(cells)}</tr>\n"
        note = f'<p class="cp-note">{_text(grid.note)}</p>' if grid.note else ""
        return (
            f'<div class="cp-wide" tabindex="0" role="region" aria-label="{_text(grid.title)}">'
            f'<table class="cp-grid"><caption>{_text(grid.title)}</caption><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>{note}\n"
        )

    def cell(self, cell: Cell, keys: Sequence[str]) -> str:
        sign = f'<span class="cp-sign" aria-hidden="true">{_SIGNS[cell.tone]}</span> ' if cell.tone in _SIGNS else ""
        told = f"{sign}<bdi>{_text(cell.text)}</bdi>"
        if cell.exhibit is None:
            return told
        return f'<a class="cp-show" href="#{keys[cell.exhibit]}" data-exhibit="{keys[cell.exhibit]}">{told}</a>'

    # -- the runs -----------------------------------------------------------------------------------------------------

    def viewer(self, chapter: Chapter, keys: Sequence[Sequence[str]], key: str) -> str:
        shown = [
            (section, exhibit, name)
            for section, own in zip(chapter.sections, keys, strict=True)
            for exhibit, name in zip(section.exhibits, own, strict=True)
        ]
        if not shown:
            return self.sources(chapter, key)
        tabs = "".join(
            f'<button type="button" role="tab" id="{name}-tab" aria-controls="{name}" data-exhibit="{name}" '
            f'aria-selected="false" tabindex="-1">'
            f"{_tab(section, exhibit)}</button>\n"
            for section, exhibit, name in shown
        )
        panels = "".join(self.exhibit(section, exhibit, name, key) for section, exhibit, name in shown)
        return (
            f'<section class="cp-viewer" aria-label="Runs of {_text(chapter.name)}">\n'
            f'<div class="cp-tabs" role="tablist" aria-label="Runs">\n{tabs}</div>\n{panels}'
            f"{self.sources(chapter, key)}</section>\n"
        )

    def exhibit(self, section: Section, exhibit: Exhibit, name: str, chapter: str) -> str:
        table = timeline(exhibit.trace, Interpreter(exhibit.trace.model))
        steps = exhibit.explanation.steps
        self.exhibits[name] = {
            "chapter": chapter,
            "steps": [_step_data(exhibit, step) for step in steps],
            "places": [list(map(_CLEAN, place.values)) for place in table.places],
            "truths": [list(truth.values) for truth in table.truths],
            "loop": exhibit.trace.loop,
        }
        where = f"variant {section.variant}" if section.variant else ""
        subtitle = ", ".join(filter(None, (where, exhibit.faults)))
        picture = draw(exhibit.explanation, exhibit.trace, subtitle, name=exhibit.name, prefix=f"{name}-")
        picture = re.sub(r"^<\?xml[^>]*\?>\s*", "", picture)
        last = len(steps)
        return (
            f'<article class="cp-exhibit" id="{name}" role="tabpanel" aria-labelledby="{name}-tab" tabindex="-1">\n'
            f'<h3 class="cp-unseen"><bdi>{_text(exhibit.name)}</bdi> {_text(exhibit.heading)}, '
            f"{_text(', '.join(filter(None, (where, summary(exhibit.explanation)))))}</h3>\n"
            f'<div class="cp-columns"><figure class="cp-figure" tabindex="0" role="group" '
            f'aria-label="Space-time diagram">{picture}</figure>\n'
            f'<div class="cp-side">{_controls(name, last)}'
            f"{_filter(table, name)}{_state_table(table, last)}{_truth_table(table, exhibit, last)}"
            '<div class="cp-source-place"></div></div></div>\n'
            f'<details class="cp-steps"><summary>the run as text</summary>{_steps(exhibit)}{_conclusion(exhibit)}'
            "</details></article>\n"
        )

    def sources(self, chapter: Chapter, key: str) -> str:
        parts = []
        for place, (name, text) in enumerate(chapter.sources):
            prefix = f"{key}-line-" if place == 0 else f"{key}-file{place}-line-"
            lines = "".join(
                f'<li id="{prefix}{number}" value="{number}"><code>{_text(line) or " "}</code></li>'
                for number, line in enumerate(text.splitlines(), start=1)
            )
            opened = " open" if place == 0 else ""
            parts.append(
                f'<details class="cp-file" data-file="{_text(name)}"{opened}><summary>{_name(name)}</summary>'
                f'<ol class="cp-lines" tabindex="0" aria-label="{_text(name)}">{lines}</ol></details>\n'
            )
        return f'<div class="cp-sources">{"".join(parts)}</div>\n'


_SIGNS = {"good": "✓", "bad": "✗", "doubt": "?"}
_MARKS = {Kind.FAULT: "✗ ", Kind.RECOVERY: "↻ "}


def _tab(section: Section, exhibit: Exhibit) -> str:
    variant = f'<span class="cp-tab-variant"><bdi>{_text(section.variant)}</bdi></span> ' if section.variant else ""
    faults = f' <span class="cp-tab-faults">{_text(exhibit.faults)}</span>' if exhibit.faults else ""
    return f"{variant}<bdi>{_text(exhibit.name)}</bdi>{faults}"


def _controls(name: str, last: int) -> str:
    buttons = "".join(
        f'<button type="button" data-go="{where}" aria-label="{label}" title="{label}">{sign}</button>'
        for where, label, sign in (
            ("first", "First state", "«"),
            ("previous", "Step back", "‹"),
            ("next", "Step forward", "›"),
            ("last", "Last step", "»"),
        )
    )
    return (
        f'<div class="cp-controls" role="group" aria-label="Steps">{buttons}'
        f'<label>step <input type="range" min="0" max="{last}" value="{last}" class="cp-slider" '
        f'aria-label="Step" id="{name}-slider"></label> '
        f'<output class="cp-count" for="{name}-slider">{last} of {last}</output></div>\n'
        '<div class="cp-now" aria-live="polite"></div>\n'
    )


def _filter(table: Timeline, name: str) -> str:
    lanes = list(dict.fromkeys(place.lane for place in table.places))
    options = "".join(f'<option value="{_text(lane)}">{_text(lane)}</option>' for lane in lanes)
    return (
        f'<div class="cp-filter"><label for="{name}-lane">lane</label> <select id="{name}-lane" class="cp-lane">'
        f'<option value="">all</option>{options}</select> '
        f'<label for="{name}-find">variable</label> '
        f'<input type="search" id="{name}-find" class="cp-find" autocomplete="off" spellcheck="false"></div>\n'
    )


def _state_table(table: Timeline, last: int) -> str:
    rows = "".join(
        f'<tr data-lane="{_text(place.lane)}" data-place="{number}"><th scope="row"><bdi class="cp-of">'
        f"{_text(place.lane)}</bdi> <bdi>{_text(place.name)}</bdi></th>"
        f'<td class="cp-value"><bdi>{_text(place.values[last]) or "–"}</bdi></td></tr>\n'
        for number, place in enumerate(table.places)
    )
    return (
        '<div class="cp-wide cp-state" tabindex="0" role="region" aria-label="State"><table><caption>state after this '
        'step</caption><thead class="cp-unseen"><tr><th scope="col">place</th><th scope="col">value</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>\n"
    )


def _truth_table(table: Timeline, exhibit: Exhibit, last: int) -> str:
    if not table.truths:
        return ""
    rows = "".join(
        f'<tr data-truth="{number}"{" class=cp-subject" if truth.name == exhibit.property else ""}>'
        f'<th scope="row"><bdi>{_text(truth.name)}</bdi></th><td>{_text(truth.form.value)}</td>'
        f'<td class="cp-truth cp-{truth.values[last] or "none"}">{_text(truth.values[last] or "–")}</td></tr>\n'
        for number, truth in enumerate(table.truths)
    )
    return (
        '<div class="cp-wide cp-truths" tabindex="0" role="region" aria-label="Properties"><table><caption>does the '
        'condition hold here?</caption><thead class="cp-unseen"><tr><th scope="col">property</th><th scope="col">kind'
        f'</th><th scope="col">holds</th></tr></thead><tbody>{rows}</tbody></table></div>\n'
    )


def _steps(exhibit: Exhibit) -> str:
    items = []
    for step in exhibit.explanation.steps:
        told = _sentence(exhibit.explanation.model, step)
        changes = "".join(f"<li><bdi>{_text(line)}</bdi></li>" for line in _changes(exhibit, step))
        inner = f"<ul>{changes}</ul>" if changes else ""
        items.append(f'<li class="cp-{step.kind.value}"><bdi>{_text(told)}</bdi>{inner}</li>\n')
    return f"<ol>{''.join(items)}</ol>"


def _conclusion(exhibit: Exhibit) -> str:
    """What the end shows, as on a terminal but for the bar at the left."""
    if exhibit.explanation.conclusion is None:
        return ""
    text = _renamed(render_conclusion(exhibit.explanation, Page(width=_COLUMNS)), exhibit.files)
    lines = "\n".join(re.sub(r"^ {0,2}┃ ?", "", line) for line in text.splitlines())
    return f'<pre tabindex="0" role="group" aria-label="What the end shows">{_text(lines)}</pre>'


def _renamed(text: str, files: Mapping[str, str]) -> str:
    """The text with the names that people see in place of where the files happen to lie."""
    for name, shown in files.items():
        text = text.replace(name, shown)
    return text


def _step_data(exhibit: Exhibit, step: Step) -> dict[str, object]:
    span = None if step.site is None else step.site.statement.span
    return {
        "text": _CLEAN(_sentence(exhibit.explanation.model, step)),
        "kind": step.kind.value,
        "changes": list(map(_CLEAN, _changes(exhibit, step))),
        "file": None if span is None else exhibit.files.get(span.source.name, span.source.name),
        "line": None if span is None else span.line,
        "lanes": _lanes(step),
    }


def _lanes(step: Step) -> list[str]:
    """The lanes that the step concerns."""
    event = step.event
    found = [Party(event.slot.process, event.slot.instance)] if event.slot is not None else []
    found += [party for party in (event.party, event.other) if party is not None]
    found += [Party(event.store)] if event.store is not None else []
    found += [Party(store) for store in sorted(step.site.statement.stores)] if step.site is not None else []
    found += [Party(event.callee.process, event.callee.instance)] if event.callee is not None else []
    return list(dict.fromkeys(map(write_party, found)))


def _sentence(model: Model, step: Step) -> str:
    return _MARKS.get(step.kind, "") + wording.sentence(model, step)


def _changes(exhibit: Exhibit, step: Step) -> list[str]:
    return [_entry(entry) for entry in wording.entries(step, exhibit.explanation)]


def _entry(entry: Entry) -> str:
    value = f"{entry.before} → {entry.after}" if entry.before else f"= {entry.after}" if entry.after else ""
    remark = f"({entry.remark})" if entry.remark and value else entry.remark
    return " ".join(filter(None, (entry.name, value, remark)))


# ------------------------------------------------------------------------------------------------------------- text


def _asset(name: str) -> str:
    return resources.files("counterexamples.web").joinpath(name).read_text(encoding="utf-8")


def _text(text: str) -> str:
    """Clean and escaped, line by line."""
    return html.escape("\n".join(map(_CLEAN, text.split("\n"))), quote=True)


def _name(text: str) -> str:
    return f"<bdi>{_text(text)}</bdi>"


def _paragraphs(doc: str) -> str:
    parts: Iterable[str] = filter(None, (part.strip() for part in doc.split("\n\n")))
    return "".join(f'<p class="cp-doc">{_text(" ".join(part.split()))}</p>\n' for part in parts)


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-").lower()[:60]


__all__ = ["ABSENT", "Cell", "Chapter", "Exhibit", "Finding", "Grid", "Section", "document"]
