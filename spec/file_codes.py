"""Codes of errors in reading files and in imports."""

from __future__ import annotations

from spec.diagnostic import Code

_CORRECT = """\
store postgres {
  durable rows: 0..1 -> bool
}
process Server {
  on start(k: 0..1) {
    postgres.rows[k] := true
  }
}
cover written: postgres.rows[0]
"""

FILE_CODES: tuple[Code, ...] = (
    Code(
        "E001",
        "the file does not exist",
        "There is no file of this name. A model is named by its path, relative to the folder in which the "
        "command runs.",
        "counterpoint check modle.cpt",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E002",
        "the file cannot be read",
        "The file is there, but reading it failed: it may belong to somebody else, or be no ordinary file (a "
        "device, a pipe).",
        "counterpoint check /dev/null",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E003",
        "a folder in place of a model file",
        "A folder was named where a model file is needed. Name one of the `.cpt` files in it.",
        "counterpoint check models/lib",
        "counterpoint check models/lib/anomalies.cpt",
        is_model=False,
    ),
    Code(
        "E004",
        "the file is too large",
        "Model files of more than five million bytes are not read: that is hardly a model, and most likely the "
        "wrong file.",
        "counterpoint check server.log",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E005",
        "the file is not UTF-8",
        "Model files are text in UTF-8. A byte order mark at the beginning, and line ends of any system, are fine.",
        "counterpoint check saved-as-utf16.cpt",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E006",
        "the file is not text",
        "The file holds NUL bytes, as programs, pictures and archives do, and text does not.",
        "counterpoint check model.zip",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E007",
        "the file declares nothing",
        "The file is empty, or has only comments. A model has at least a process or store, and a property to check.",
        "// to be written\n",
        _CORRECT,
    ),
    Code(
        "E008",
        "the file has too many words",
        "A model file has at most 300,000 words, numbers and symbols. A model that is written by hand has a few "
        "thousand.",
        "counterpoint check generated.cpt",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E010",
        "an imported file does not exist",
        "An import names a file relative to the file that it stands in; if there is none, relative to the "
        "library that comes "
        "with the tool.",
        'import "nowhere.cpt"\n' + _CORRECT,
        _CORRECT,
    ),
    Code(
        "E011",
        "imports go in a circle",
        "A file imports itself, directly or through other files. Move what both sides need to a file that "
        "imports neither. "
        "(In the example, the file is called `model.cpt`.)",
        'import "model.cpt"\n' + _CORRECT,
        _CORRECT,
    ),
    Code(
        "E012",
        "an import is not a relative path",
        "Imports are relative paths with `/` between folders, so that a model means the same on every machine.",
        'import "/opt/models/tables.cpt"\n' + _CORRECT,
        _CORRECT,
    ),
    Code(
        "E013",
        "a chain of imports is too long",
        "A file imports a file that imports a file, and so on, more than fifty times. Import the files that are "
        "needed directly.",
        "counterpoint check chain.cpt",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E014",
        "a path leads out of the project",
        "A model may import files of its project and of the library that comes with the tool. The project is the "
        "nearest folder above the model that has `.git`, `counterpoint.toml`, or a `pyproject.toml` with the table "
        "`[tool.counterpoint]`; where there is none, the folder that was named on the command line, or the model's "
        "own folder if the file was named. Symbolic links are followed before this is looked at, and what they lead "
        "to is neither read nor told. For the same reason a model that is found in a folder must not be a link that "
        "leads out. A file that the command line names may be anywhere.\n\n"
        "Put the file where the model is, or an empty `counterpoint.toml` into the folder that holds both.",
        'import "../../elsewhere/tables.cpt"\n' + _CORRECT,
        _CORRECT,
    ),
    Code(
        "E015",
        "a model of too many files, or too large in all",
        "A model has at most 200 files, those that it imports included, of at most ten million bytes in all.",
        "counterpoint check imports-everything.cpt",
        "counterpoint check model.cpt",
        is_model=False,
    ),
    Code(
        "E016",
        "reading the model, or checking its types, took too long",
        "Reading a model with its imports, and checking the types of all its variants, each have as long as "
        "`--timeout` gives to the check of a variant, and at least a second. A model that needs more is too large.",
        "counterpoint check huge.cpt --timeout 5",
        "counterpoint check huge.cpt --timeout 60",
        is_model=False,
    ),
)
