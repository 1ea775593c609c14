"""The command `counterpoint`: the only module that touches the real streams and exits."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TextIO

from checker.arguments import COMMANDS, parse
from checker.console import Console, OutputError
from checker.exitcode import ExitCode
from checker.interrupts import deliver_again
from checker.options import UsageError
from checker.terminal import never_fail_to_encode
from spec.diagnostic import visible
from spec.value import NumberLimit

if TYPE_CHECKING:
    from checker.configuration import Configured

BROKEN_PIPE = 128 + 13
"""The code of a program whose output nobody reads any more, as shells know it."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and exits with its code (see `checker.exitcode`)."""
    _open_streams()
    signal.signal(signal.SIGTERM, _interrupt)
    deliver_again(signal.SIGINT)
    try:
        code = execute(sys.argv[1:] if arguments is None else arguments)
    except SystemExit as ended:  # --help and --version
        code = ended.code if isinstance(ended.code, int) else 0
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            _discard(stream)
        except OSError:
            _discard(stream)
            code = code or ExitCode.MODEL
    sys.exit(code)


def execute(arguments: Sequence[str]) -> int:
    """Runs the command line and answers the exit code.  Whatever goes wrong is told in words, without a traceback
    unless `--debug` is given."""
    never_fail_to_encode(sys.stdout, sys.stderr)
    command_line = ("counterpoint", *arguments)
    configured: Configured | None = None
    console = Console(sys.stdout, sys.stderr, "auto", command_line, "--debug" in arguments)
    try:
        namespace = parse(arguments)
        assert namespace.command in COMMANDS
        if not getattr(namespace, "no_config", True):
            configured = _configured(arguments, namespace)
        if configured is not None:
            namespace = configured.arguments
            command_line = (*command_line, "--no-config", *configured.words)
        console = Console(sys.stdout, sys.stderr, namespace.color, command_line, namespace.debug, configured)
        command = importlib.import_module(f"checker.commands.{namespace.command}")
        code: int = command.run(namespace, console)
        return code
    except UsageError as error:
        console.tell(visible(f"counterpoint: {'' if error.code is None else f'{error.code}: '}{error.message}"))
        for line in (error.hint or "").splitlines():
            console.tell(f"  {visible(line)}")
        if configured is not None and configured.keys:
            console.tell(f"  {visible(configured.told)}")
        return ExitCode.MODEL
    except NumberLimit as limit:
        console.tell(f"counterpoint: the model cannot be followed: {limit}")
        return ExitCode.INCONCLUSIVE
    except BrokenPipeError:
        _discard(sys.stdout)
        return BROKEN_PIPE
    except OutputError as error:
        _discard(sys.stdout)
        console.tell(f"counterpoint: {error}")
        return ExitCode.MODEL
    except KeyboardInterrupt:
        console.tell("counterpoint: interrupted")
        return ExitCode.INCONCLUSIVE
    except Exception as error:
        return _own_error(error, console)


def _configured(words: Sequence[str], namespace: argparse.Namespace) -> Configured | None:
    from checker import configuration

    found = configuration.find(Path.cwd())
    return None if found is None else configuration.configure(words, namespace, found)


def _own_error(error: Exception, console: Console) -> int:
    from checker.bundle import Failure, OwnError

    if isinstance(error, OwnError):
        console.confess(error.failure)
    else:
        console.confess(Failure(f"{type(error).__name__}: {error}", detail=traceback.format_exc()))
    return ExitCode.OWN_ERROR


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _discard(stream: TextIO) -> None:
    """Lets Python's own flush at exit succeed after a stream can no longer be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_streams() -> None:
    """Has the streams that were closed lead nowhere.  Otherwise Python has none, and the next file that is opened would
    get their numbers, and whatever a library writes there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


if __name__ == "__main__":
    main()
