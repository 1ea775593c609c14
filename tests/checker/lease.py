"""A small protocol whose invariant can be worked out by hand, for the tests of proofs.

A job is finished only by a worker that has run it:

    never (finished[j] and not ran[j])
    never (Worker[i].work is before "finish" with j, and not ran[j])

is inductive, and nothing weaker is: a worker before "finish" sets `finished[j]` in its next step.
"""

from __future__ import annotations

from pathlib import Path

from checker.check import check_file
from checker.options import Options
from checker.result import VariantReport
from spec import syntax
from spec.load import load

MODEL = """\
/// Jobs that are run and then finished.
ids Job[2]
switch careful: bool = true

store db {
  durable finished: Job -> bool
  durable queue jobs: Job
}

ghost ran: Job -> bool

process Client {
  on submit(j: fresh Job) {
    step "put it on the queue" { db.jobs.push(j) }
  }
}

process Worker[2] {
  loop work {
    let j = db.jobs.take()
    if careful {
      step "run" { ran[j] := true }
    }
    step "finish" { db.finished[j] := true }
  }
}

faults { crash Worker }

invariant finished_was_run: forall j: Job. db.finished[j] => ran[j]
cover finished: exists j: Job. db.finished[j]

variant with_care { careful = true }
variant in_haste { careful = false }
"""


def write(folder: Path, text: str = MODEL) -> Path:
    path = folder / "lease.cpt"
    path.write_text(text, encoding="utf-8")
    return path


def module_of(path: Path) -> syntax.Module:
    module = load(path, path.parent)
    assert not isinstance(module, tuple), module
    return module


def checked(path: Path, options: Options) -> VariantReport:
    report = check_file(path, options, library=path.parent)
    assert not report.errors
    (variant,) = report.variants
    assert not variant.failures, variant.failures
    return variant
