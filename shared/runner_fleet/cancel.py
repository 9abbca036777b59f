"""Turn SIGINT and SIGTERM into `Cancelled`, but never in the middle of a step that must finish.

GitHub cancels a step with SIGINT, SIGTERM 7.5 s later, and kills it 2.5 s after that
(actions/runner, src/Runner.Sdk/ProcessInvoker.cs).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from runner_fleet.errors import Cancelled

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def ignore() -> None:
    """Let signals change nothing any more: the work is done, and the process ends by itself."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


class Cancellation:
    """The first signal raises `Cancelled` in the main thread; later ones change nothing.

    While a `shield` is open the signal waits until it closes: a launch whose reply we would
    otherwise lose, the way back that must not be cut short by the second signal.
    """

    def __init__(self) -> None:
        self._received = 0
        self._raised = False
        self._shields = 0

    def install(self) -> None:
        """Handle the signals from now on; `launch` has held SIGINT back until now."""
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def is_requested(self) -> bool:
        """Whether a signal came, be it held back or not."""
        return self._received != 0

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._received == 0:
            self._received = number
        self.raise_if_due()

    def raise_if_due(self) -> None:
        """Raise for a signal that a shield held back whose block then failed; not inside one."""
        if self._received and not self._raised and self._shields == 0:
            self._raised = True
            raise Cancelled(self._received)

    def finish(self) -> None:
        """Nothing is left to cancel: from now on signals change nothing."""
        self._raised = True

    @contextmanager
    def shield(self) -> Iterator[None]:
        """Hold signals back inside the block; one that came raises when the block has ended well.

        When the block fails, its own error stands: the way back runs either way.
        """
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
        self.raise_if_due()
