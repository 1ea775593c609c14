"""What `counterpoint init` writes: a first model, and what has models checked in every change."""

from __future__ import annotations

from collections.abc import Mapping

FOLDER = "protocols"
"""Where the models of a repository stand."""

MODEL = """\
/// A job is written to a database, then pushed to a queue; a server takes it from there.  Put your protocol here.

enum State { PENDING, DONE }
ids Job[1]

/// A background loop puts pending jobs back on the queue.
switch rescan: bool = false

store db {
  durable job: Job -> State?
}
store mq {
  durable queue jobs: Job
}

process Server {
  on submit(j: fresh Job) {
    db.job[j] := PENDING
    mq.jobs.push(j)
  }

  loop work {
    let j = mq.jobs.take()
    db.job[j] := DONE
    mq.jobs.ack(j)
  }

  loop requeue when rescan {
    let j = any Job where db.job[j] == PENDING
    mq.jobs.push(j)
  }
}

faults {
  crash Server
}

cover done: exists j: Job. db.job[j] == DONE

/// When nothing more will happen, no job is left pending.
at rest none_forgotten: forall j: Job. db.job[j] != PENDING

/// A crash between the write and the push loses a job.
variant today { rescan = false }
variant repaired { rescan = true }

expect today reaches done
expect today refutes none_forgotten needs {crash Server}
expect repaired reaches done
expect repaired proves none_forgotten
"""

WORKFLOW = """\
# Checks the models of protocols in every change.
name: protocols

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      # The variable COUNTERPOINT of the repository says where pip finds the tool: git+https://..., or a wheel.
      - name: Install Counterpoint
        env:
          COUNTERPOINT: ${{ vars.COUNTERPOINT }}
        run: pip install "${COUNTERPOINT:?set the variable COUNTERPOINT of the repository}"
      - name: Check the models
        run: >-
          counterpoint check protocols --timeout 300 --timeout-total 1500 --github
          --junit protocols.xml --sarif protocols.sarif --summary "$GITHUB_STEP_SUMMARY"
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: protocols
          path: protocols.*
"""

HOOK = """\
# Checks the models of protocols before a commit that changes one.
repos:
  - repo: local
    hooks:
      - id: counterpoint
        name: counterpoint check
        entry: counterpoint check protocols --quiet
        language: system
        files: \\.cpt$
        pass_filenames: false
"""

FILES: Mapping[str, str] = {
    f"{FOLDER}/jobs.cpt": MODEL,
    ".github/workflows/protocols.yml": WORKFLOW,
    ".pre-commit-config.yaml": HOOK,
}
"""The files' texts, by their paths in a repository."""
