"""A shortage of memory that somebody outside has noticed: the engine at work in this process is to give up.

It is an engine's last chance.  Where it makes no room the process is killed, with all that it has decided.
"""

from __future__ import annotations

import signal

RAN_OUT = "memory ran out"
SOON = 0.8
"""At this part of the bound the search in the item's own process is told to give up, so that the rest can go on."""

ENGINE_SIGNAL = getattr(signal, "SIGUSR2", signal.SIGTERM)
"""What ends an engine's process that takes too much memory: another signal would not say why."""


class Shortage:
    """noticed: since an engine last gave up."""

    def __init__(self) -> None:
        self.noticed = False

    def heed(self) -> None:
        """Raises MemoryError in place of an allocation that would not have been possible soon."""
        if self.noticed:
            self.noticed = False
            raise MemoryError(RAN_OUT)


SHORTAGE = Shortage()
"""That of this process."""

__all__ = ["ENGINE_SIGNAL", "RAN_OUT", "SHORTAGE", "SOON", "Shortage"]
