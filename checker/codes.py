"""Codes of errors that are not in a model's text: in trace files, and in what is asked of the tool."""

from __future__ import annotations

from collections.abc import Mapping

from spec.codes import CODES as MODEL_CODES
from spec.codes import table
from spec.diagnostic import Code

TOOL_CODES: tuple[Code, ...] = (
    Code(
        "E401",
        "the trace file cannot be read",
        "There is no such file, or it is no text in UTF-8.",
        "counterpoint replay tarce.json jobs.cpt",
        "counterpoint replay trace.json jobs.cpt",
        is_model=False,
    ),
    Code(
        "E402",
        "the file is no trace",
        "A trace is a JSON document of the schema `counterpoint-trace/1`, as `counterpoint trace --to json` writes "
        "it, or a report of the schema `counterpoint-report/1` with traces in it, as `counterpoint check --json` "
        "writes it. "
        "The message says where the file differs from that.",
        "counterpoint replay trace.itf.json jobs.cpt",
        "counterpoint replay trace.json jobs.cpt",
        is_model=False,
    ),
    Code(
        "E403",
        "there is more than one trace to choose from",
        "A report holds a trace for every property that is refuted, and a model may refute several. Say which one is "
        "meant: by the name of the property or scenario, and the variant.",
        "counterpoint trace conductor/05_abandoned --to itf",
        "counterpoint trace conductor/05_abandoned --property none_abandoned --to itf",
        is_model=False,
    ),
    Code(
        "E404",
        "there is no trace",
        "The report has no trace of that name, or the check of the model gave none: a property that is proved has no "
        "counterexample.",
        "counterpoint trace conductor/05_abandoned --property completed_was_executed --to itf",
        "counterpoint trace conductor/05_abandoned --property none_abandoned --to itf",
        is_model=False,
    ),
    Code(
        "E405",
        "the model of the trace is not found",
        "A trace names its model, but does not hold it. Without a second argument, the model is looked for among the "
        "shipped ones, beside the trace, and in the current folder.",
        "counterpoint replay trace.json",
        "counterpoint replay trace.json models/jobs.cpt",
        is_model=False,
    ),
    Code(
        "E406",
        "the trace is of another model",
        "The trace has other variables, constants, fault classes or properties than the model, so its states are no "
        "states of that model. It was written for another file, or the declarations have changed since.",
        "counterpoint replay trace-of-jobs.json pay.cpt",
        "counterpoint replay trace-of-jobs.json jobs.cpt",
        is_model=False,
    ),
    Code(
        "E407",
        "the trace is no longer a run of the model",
        "Up to some step the interpreter goes the way of the trace; that step is not possible there, or leads "
        "elsewhere. Where the model was repaired in the meantime, that is good news: this counterexample is gone. "
        "Whether others are left, `counterpoint check` says.",
        "counterpoint replay trace.json jobs.cpt",
        "counterpoint check jobs.cpt",
        is_model=False,
    ),
    Code(
        "E408",
        "the trace does not show what it says",
        "The trace is a run of the model, but its end does not break the property that it names (or does not reach the "
        "cover): the property has changed since the trace was written.",
        "counterpoint replay trace.json jobs.cpt",
        "counterpoint check jobs.cpt",
        is_model=False,
    ),
    Code(
        "E409",
        "the output cannot be written",
        "The folder does not exist, or the file belongs to somebody else.",
        "counterpoint trace jobs.cpt --to itf -o nowhere/jobs.itf.json",
        "counterpoint trace jobs.cpt --to itf -o jobs.itf.json",
        is_model=False,
    ),
    Code(
        "E410",
        "the model has too many states to be looked at",
        "A graph is made of all states, and a model of more than a few thousand has no picture that anybody could "
        "read. `--around PROPERTY` shows the part near a counterexample, `--depth N` what is near the initial state, "
        "and `--states N` looks at more. Nothing is left out without a word.",
        "counterpoint graph conductor/04_syntax_error --variant v5_5_0",
        "counterpoint graph conductor/04_syntax_error --variant v5_5_0 --around no_backend_error",
        is_model=False,
    ),
    Code(
        "E411",
        "the graph has too many nodes to be drawn",
        "`--show EXPR` makes one node of all states in which the expression has the same value; it may be given "
        "several times. What is left out is what the expressions do not tell apart.",
        "counterpoint graph conductor/05_abandoned --variant v5_3_2 -o graph.svg",
        "counterpoint graph conductor/05_abandoned --variant v5_3_2 --show postgres.workflow -o graph.svg",
        is_model=False,
    ),
    Code(
        "E412",
        "a graph cannot be written as such a file",
        "The ending of the file's name says what to write: `.dot` (or `.gv`) for the text, `.svg`, `.png` or `.pdf` "
        "for a picture.",
        "counterpoint graph jobs.cpt -o jobs.jpg",
        "counterpoint graph jobs.cpt -o jobs.png",
        is_model=False,
    ),
    Code(
        "E413",
        "the program that draws graphs is missing, or has failed",
        "Pictures of graphs are drawn by the program `dot` of Graphviz, which comes with most systems as the package "
        "`graphviz`. Without it, `-o FILE.dot` writes the text, which other tools and web pages draw as well. Checks, "
        "traces and all other formats need no such program.",
        "counterpoint graph jobs.cpt -o jobs.svg",
        "counterpoint graph jobs.cpt -o jobs.dot",
        is_model=False,
    ),
    Code(
        "E451",
        "what is compared is no path, and there is no git repository",
        "`counterpoint diff` takes folders, files and git revisions. A revision is one of the repository that the "
        "current folder is in, and it is read with the program `git`.",
        "cd /tmp && counterpoint diff main models",
        "counterpoint diff main models",
        is_model=False,
    ),
    Code(
        "E452",
        "there is no such git revision, or nothing at that path in it",
        "What is compared is neither a path nor a revision that git knows: a branch, a tag, a commit, `HEAD~1`. In a "
        "clone that was made with a limited depth, old revisions are missing until they are fetched.",
        "counterpoint diff mian .",
        "counterpoint diff main .",
        is_model=False,
    ),
    Code(
        "E453",
        "a file of a git revision is refused",
        "Model files of a revision are written to a temporary folder to be checked. Symbolic links, paths that would "
        "lead out of that folder, and files that are too large are refused.",
        "counterpoint diff v1 v2:linked.cpt",
        "counterpoint diff v1 v2:models/jobs.cpt",
        is_model=False,
    ),
    Code(
        "E421",
        "the picture's format is not known",
        "The end of the file's name says what is drawn: `.svg`, `.png` or `.pdf`.",
        "counterpoint draw jobs.cpt -o jobs.gif",
        "counterpoint draw jobs.cpt -o jobs.png",
        is_model=False,
    ),
    Code(
        "E422",
        "a package for pictures is missing",
        "PNG and PDF are made by the package vl-convert-python, which is large and not installed with the tool: get it "
        "by `pip install vl-convert-python`, or install the tool with its extra `pictures`. SVG needs nothing: "
        "browsers show it, print it and save it as PDF.",
        "counterpoint draw jobs.cpt -o jobs.pdf",
        "counterpoint draw jobs.cpt -o jobs.svg",
        is_model=False,
    ),
    Code(
        "E430",
        "the configuration file cannot be read",
        "`counterpoint.toml`, or a `pyproject.toml` that speaks of counterpoint, is no TOML, no ordinary file, or "
        "larger than a megabyte. `--no-config` checks without it.",
        "counterpoint check jobs.cpt",
        "counterpoint check jobs.cpt --no-config",
        is_model=False,
    ),
    Code(
        "E431",
        "two configuration files in one folder",
        "A folder has a `counterpoint.toml` and a `pyproject.toml` with the table `[tool.counterpoint]`, and which of "
        "the two should count is anybody's guess. Keep one.",
        "counterpoint check jobs.cpt",
        "counterpoint check jobs.cpt --no-config",
        is_model=False,
    ),
    Code(
        "E432",
        "the configuration file sets an option that does not exist",
        "The keys of the file are the options of `counterpoint check` without the dashes at the beginning: `timeout`, "
        "`max-faults`, `D`. What nobody knows would be ignored in silence, so it is an error.",
        "echo 'time-out = 60' > counterpoint.toml",
        "echo 'timeout = 60' > counterpoint.toml",
        is_model=False,
    ),
    Code(
        "E433",
        "the configuration file sets an option to what it cannot be",
        "Options without a value are `true` or `false`, numbers are numbers, and options that may be given several "
        "times take a text or a list of texts; `D` and `with` take a table as well. Files to be written lie below the "
        "folder of the configuration file.",
        "echo 'timeout = \"60\"' > counterpoint.toml",
        "echo 'timeout = 60' > counterpoint.toml",
        is_model=False,
    ),
    Code(
        "E441",
        "a file that would be written is there already",
        "`counterpoint init` overwrites nothing, and writes all of its files or none. Where a repository has some of "
        "them, write them into an empty folder, and take over what is missing.",
        "counterpoint init .",
        "counterpoint init elsewhere",
        is_model=False,
    ),
    Code(
        "E470",
        "an axis of a sweep that cannot be read",
        "An axis is a name and its values: a range of whole numbers (`N=1..4`), values with commas between them "
        "(`N=1,2,8`, `order=FIFO,LIFO`), or both. Each name is given once. `--faults` and `--variant` are given once "
        "for each value.",
        "counterpoint sweep jobs.cpt -D N=1-4",
        "counterpoint sweep jobs.cpt -D N=1..4",
        is_model=False,
    ),
    Code(
        "E471",
        "a range that runs backwards",
        "A range goes from the lower number to the higher one, both included. One that runs backwards has no values, "
        "and a sweep over none would check nothing.",
        "counterpoint sweep jobs.cpt -D N=4..1",
        "counterpoint sweep jobs.cpt -D N=1..4",
        is_model=False,
    ),
    Code(
        "E472",
        "a sweep of too many points",
        "Every combination of values is a check of its own, and their number is the product of the numbers of values. "
        "`--points N` allows more than are allowed by default.",
        "counterpoint sweep jobs.cpt -D N=1..1000",
        "counterpoint sweep jobs.cpt -D N=1,10,100,1000",
        is_model=False,
    ),
    Code(
        "E473",
        "a sweep cannot be written as such a file",
        "The end of the file's name says what to write: `.svg`, `.png` or `.pdf` for the picture, `.html` for a page, "
        "`.csv` for a table, `.json` for all of it as data.",
        "counterpoint sweep jobs.cpt -D N=1..4 -o sweep.xlsx",
        "counterpoint sweep jobs.cpt -D N=1..4 -o sweep.csv",
        is_model=False,
    ),
    Code(
        "E480",
        "the package for clusters is missing",
        "Checks on a Dask cluster take the package `distributed`, which is not installed with everything else.",
        "counterpoint check protocols --scheduler tcp://head:8786",
        "pip install 'counterpoint[cluster]'",
        is_model=False,
    ),
    Code(
        "E481",
        "no scheduler answers",
        "Nothing that speaks the protocol of Dask listens at the address, or not within ten seconds. It has the form "
        "`tcp://HOST:PORT`, as `dask scheduler` prints it, or `tls://HOST:PORT`.",
        "counterpoint check protocols --scheduler tcp://head:80",
        "counterpoint check protocols --scheduler tcp://head:8786",
        is_model=False,
    ),
    Code(
        "E482",
        "the cluster has no workers",
        "The scheduler answers, but nobody works for it. Workers are started with `dask worker ADDRESS`.",
        "counterpoint check protocols --scheduler tcp://head:8786",
        "dask worker tcp://head:8786 --nworkers 8 --nthreads 1",
        is_model=False,
    ),
    Code(
        "E483",
        "a worker of the cluster has not the same counterpoint",
        "Every worker needs counterpoint in the version of the command, with the same versions of Python and of the "
        "libraries that decide: else what is proved would depend on who proves it. Models need not be there.",
        "counterpoint check protocols --scheduler tcp://head:8786",
        "pip install 'counterpoint[cluster]'",
        is_model=False,
    ),
)

CODES: Mapping[str, Code] = table(MODEL_CODES.values(), TOOL_CODES)
"""All codes, which `counterpoint explain CODE` shows."""
