"""Results in the XML of JUnit, for CI servers: a suite for each variant, a case for each property and scenario."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from checker.exitcode import ExitCode
from checker.options import Options
from checker.reports.evidence import describe
from checker.reports.explanation import explained
from checker.result import FileReport, PropertyResult, Result, VariantReport
from checker.verdict import Covered, Refuted, Runs, title
from counterexamples.render.page import Page
from counterexamples.render.text import render
from spec.diagnostic import Diagnostic

_WIDTH = 100


def junit(reports: Sequence[FileReport], options: Options) -> str:
    """The document's text, with a newline at its end.  A case fails where its verdict would make the command exit with
    1, and is an error where there is no verdict; so are files and variants that cannot be checked."""
    root = ET.Element("testsuites", name="counterpoint")
    suites = [suite for report in reports for suite in _suites(report, options)]
    for suite in suites:
        root.append(suite)
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    root.set("time", f"{sum(report.seconds for report in reports):.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suites(report: FileReport, options: Options) -> list[ET.Element]:
    found = []
    if report.errors or report.failures:
        suite = _suite(report.name, report.seconds)
        case = ET.SubElement(suite, "testcase", name="model", classname=_class(report.name, None), time="0.000")
        _wrong(case, report.errors, [failure.message for failure in report.failures])
        found.append(suite)
    found += [_variant(report, variant, options) for variant in report.variants]
    for suite in found:
        suite.set("tests", str(len(suite.findall("testcase"))))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("errors", str(len(suite.findall("testcase/error"))))
        suite.set("skipped", "0")
    return found


def _suite(name: str, seconds: float) -> ET.Element:
    return ET.Element("testsuite", name=_clean(name), time=f"{seconds:.3f}")


def _variant(report: FileReport, variant: VariantReport, options: Options) -> ET.Element:
    name = report.name if variant.variant is None else f"{report.name} {variant.variant}"
    suite = _suite(name, variant.seconds)
    where = _class(report.name, variant.variant)
    if variant.errors or variant.failures:
        case = ET.SubElement(suite, "testcase", name="model", classname=where, time="0.000")
        _wrong(case, variant.errors, [failure.message for failure in variant.failures])
    if variant.cut_short is not None and not variant.results:
        case = ET.SubElement(suite, "testcase", name="model", classname=where, time="0.000")
        ET.SubElement(case, "error", type="UNDECIDED", message=_clean(variant.cut_short))
    for result in variant.results:
        case = ET.SubElement(suite, "testcase", name=_clean(result.name), classname=where, time="0.000")
        _fill(case, result, options)
    return suite


def _class(file: str, variant: str | None) -> str:
    """Servers group by what stands before the last dots."""
    return _clean(file.removesuffix(".cpt").replace(".", "_").replace("/", ".") + (f".{variant}" if variant else ""))


def _fill(case: ET.Element, result: Result, options: Options) -> None:
    verdict = result.verdict
    told = f"{title(verdict)}  {describe(verdict)}"
    code = result.code(options)
    if code is not ExitCode.MET:
        tag = "failure" if code is ExitCode.REFUTED else "error"
        wanted = [f"{j.expectation.verb.value} ({j.judgement.value})" for j in result.judged]
        message = told + (f"; expected: {', '.join(wanted)}" if wanted else "")
        ET.SubElement(case, tag, type=title(verdict), message=_clean(message)).text = _shown(result)
    else:
        ET.SubElement(case, "system-out").text = _clean(told)


def _shown(result: Result) -> str:
    verdict = result.verdict
    place = "" if result.span is None else f"{result.span!r}\n"
    if not isinstance(verdict, Refuted | Covered | Runs):
        return _clean(place + describe(verdict))
    name = result.name if isinstance(result, PropertyResult) else None
    return "\n" + _clean(place + render(explained(verdict.trace, name), Page(width=_WIDTH)))


def _wrong(case: ET.Element, errors: Sequence[Diagnostic], failures: Sequence[str]) -> None:
    told = [f"{error.code}: {error.message}" for error in errors if error.span is None]
    told += [f"{error.span!r}: {error.code}: {error.message}" for error in errors if error.span is not None]
    told += failures
    ET.SubElement(case, "error", type="model" if errors else "internal", message=_clean(told[0])).text = _clean(
        "\n".join(told)
    )


def _clean(text: str) -> str:
    """The text without characters that XML does not allow, or that whoever shows it may act on: they are written as
    escapes."""
    return "".join(c if c.isprintable() or c in "\t\n" else f"\\u{ord(c):04x}" for c in text)


__all__ = ["junit"]
