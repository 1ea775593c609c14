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
from typing import TYPE_CHECKING, NoReturn

from checker.arguments import COMMANDS, parse
from checker.console import Console
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
    signal.signal(signal.SIGTERM, _interrupt)
    deliver_again(signal.SIGINT)
    code = execute(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()
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
        _discard_stdout()
        return BROKEN_PIPE
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


def _discard_stdout() -> None:
    """Lets Python's own flush at exit succeed after the reader of a pipe has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
