"""`counterpoint init`: a first model, a CI workflow and a pre-commit hook for a repository."""

from __future__ import annotations

import argparse
from pathlib import Path

from checker.console import Console
from checker.exitcode import ExitCode
from checker.options import UsageError
from checker.starter import FILES


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Writes all files or, where one of them is there already, none.  Raises UsageError (E409, E441)."""
    folder = Path(arguments.folder)
    # Also a link that leads nowhere, or out of the folder, is there.
    there = [name for name in FILES if (folder / name).exists() or (folder / name).is_symlink()]
    if there:
        message = (
            f"{', '.join(str(folder / name) for name in there)} {'is' if len(there) == 1 else 'are'} there already"
        )
        hint = "nothing was written; init writes into another folder with: counterpoint init FOLDER"
        raise UsageError(message, hint, "E441")
    astray = next((name for name in FILES if _leads_out(folder / name, folder)), None)
    if astray is not None:
        message = f"{folder / astray} cannot be written: a link leads out of {folder}"
        raise UsageError(message, "nothing was written", "E409")
    for name, text in FILES.items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise UsageError(f"{folder / name} cannot be written: {reason}", code="E409") from None
        console.show(f"{folder / name}\n")
    model = folder / next(iter(FILES))
    console.show(f"written; next: counterpoint check {model}, and docs/ci.md of counterpoint for other CI systems\n")
    return ExitCode.MET


def _leads_out(file: Path, folder: Path) -> bool:
    """Whether links on the way to a file lead elsewhere than into the folder."""
    return not file.parent.resolve().is_relative_to(folder.resolve())
