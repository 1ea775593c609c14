"""Interrupts that Python itself would lose.

An interrupt is an exception that may come between any two instructions.  Where one comes into a function that Python
calls on its own account, such as when an object is freed, it is printed and forgotten, and the program goes on.
"""

from __future__ import annotations

import _thread
import sys
import threading

from spec.alarm import is_stop

_MOMENT = 0.02
"""Seconds until an interrupt that was lost comes again."""


def deliver_again(number: int) -> None:
    """From now on an interrupt that was lost comes again in a moment, as this signal (whose handler raises
    KeyboardInterrupt), and nothing is printed of it."""

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, KeyboardInterrupt):
            timer = threading.Timer(_MOMENT, _thread.interrupt_main, (number,))
            timer.daemon = True
            timer.start()
        elif not is_stop(lost.exc_value):  # an alarm rings again by itself
            sys.__unraisablehook__(lost)

    sys.unraisablehook = hook


__all__ = ["deliver_again"]
