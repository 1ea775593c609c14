"""The one line at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from checker.exitcode import ExitCode
from checker.options import Options
from checker.reports.evidence import plural
from checker.result import FileReport, PropertyResult, Result
from checker.verdict import HoldsTo, Judgement, NotARun, Refuted, Runs, Uncovered, UncoveredTo, Undecided, title


def tally(reports: Sequence[FileReport], options: Options, seconds: float) -> str:
    """`9 models, 22 variants, 41 properties: all 41 expectations met in 12.3 s`."""
    variants = [variant for report in reports for variant in report.variants]
    results = [result for variant in variants for result in variant.results]
    kept = sum(variant.decided is not None for variant in variants)
    cached = f" ({'all' if kept == len(variants) > 1 else f'{kept:,}'} from the cache)" if kept else ""
    if kept == len(variants) == 1:
        cached = " (from the cache)"
    counted = [plural(len(reports), "model")]
    named = sum(variant.variant is not None for variant in variants)
    if named:
        counted.append(plural(named, "variant"))
    counted[-1] += cached
    properties = sum(isinstance(result, PropertyResult) for result in results)
    counted.append(plural(properties, "property"))
    if len(results) > properties:
        counted.append(plural(len(results) - properties, "scenario"))
    told = [*_expected(results), *_unexpected(results, options)]
    told += _amiss(reports, options)
    return f"{', '.join(counted)}: {', '.join(told) or 'nothing to check'} in {seconds:.1f} s"


def _expected(results: Sequence[Result]) -> list[str]:
    counts = Counter(judged.judgement for result in results for judged in result.judged)
    total = counts.total() - counts[Judgement.NOT_JUDGED]
    told = []
    if total and counts[Judgement.MET] == total:
        told.append(f"all {total} expectations met" if total > 1 else "the expectation is met")
    elif total:
        told.append(f"{counts[Judgement.MET]} of {plural(total, 'expectation')} met")
        told += [
            f"{counts[judgement]} {judgement.value}"
            for judgement in (Judgement.MISSED, Judgement.INCONCLUSIVE)
            if counts[judgement]
        ]
    if counts[Judgement.NOT_JUDGED]:
        told.append(f"{plural(counts[Judgement.NOT_JUDGED], 'expectation')} not judged (options changed the model)")
    return told


def _unexpected(results: Sequence[Result], options: Options) -> list[str]:
    """What became of results that no expectation speaks of: all of it where there are no expectations, else only what
    is unwelcome."""
    judged = [r for r in results if any(j.judgement is not Judgement.NOT_JUDGED for j in r.judged)]
    open_ones = [r for r in results if r not in judged]
    words = Counter(_word(result) for result in open_ones)
    if judged:
        words = Counter(_word(result) for result in open_ones if result.code(options) is not ExitCode.MET)
        unwelcome = ("refuted", "undecided", "only bounded")
        return [f"{words[word]} {word} without expectation" for word in unwelcome if words[word]]
    return [f"{count} {word}" for word, count in words.items()]


def _word(result: Result) -> str:
    match result.verdict:
        case HoldsTo() | UncoveredTo():
            return "only bounded"
        case Refuted() | Undecided() | Uncovered() | NotARun() | Runs() as verdict:
            return title(verdict).lower()
        case verdict:
            return title(verdict).lower()


def _amiss(reports: Sequence[FileReport], options: Options) -> list[str]:
    variants = [variant for report in reports for variant in report.variants]
    wrong = sum(bool(report.errors) or any(v.errors for v in report.variants) for report in reports)
    warned = sum(len(variant.remarks) for variant in variants)
    warned += sum(len(report.remarks) + len(report.warnings) for report in reports)
    failed = sum(len(list(report.all_failures())) for report in reports)
    told = []
    if wrong:
        told.append(f"{plural(wrong, 'model')} with errors")
    if warned:
        told.append(plural(warned, "warning") + (" (--strict)" if options.strict else ""))
    if failed:
        told.append(f"{plural(failed, 'error')} of our own")
    late = Counter("model" if variant.variant is None else "variant" for variant in variants if not variant.begun)
    if late:
        total = "" if options.total is None else f" ({options.total.name})"
        told.append(f"{' and '.join(plural(late[noun], noun) for noun in sorted(late))} not begun{total}")
    if any(variant.interrupted for variant in variants):
        told.append("interrupted")
    return told
