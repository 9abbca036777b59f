"""Ctrl-C, SIGTERM and a closed terminal: noted at once, acted on where nothing is half done."""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """The user wants the run to end; `number` is the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Signals:
    """Remembers the first signal and says so; `check` raises it. A second one changes nothing."""

    def __init__(self) -> None:
        self.received = 0

    def install(self) -> Signals:
        for number in _SIGNALS:
            signal.signal(number, self._note)
        return self

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if not self.received:
            self.received = number
            # Not print: the signal may have come in the middle of one.
            said = f"\n{signal.Signals(number).name}: taking everything down …\n"
            with contextlib.suppress(OSError):  # the terminal is gone
                os.write(2, said.encode())

    def check(self) -> None:
        """Raise Interrupted if a signal has come."""
        if self.received:
            raise Interrupted(self.received)
