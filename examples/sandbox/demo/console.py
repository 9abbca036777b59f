"""Progress on a terminal or in a log: one line an event, with the seconds since the beginning."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TextIO

_RESET = "\x1b[0m"
_STYLES = {"good": "\x1b[32m", "bad": "\x1b[31m", "dim": "\x1b[2m", "bold": "\x1b[1m"}
_LEG_COLOURS = ("\x1b[36m", "\x1b[35m", "\x1b[33m", "\x1b[34m")


class Console:
    """Writes lines at once; in colour on a terminal only, and never when NO_COLOR is set.

    `began` is the moment (seconds since the epoch) from which the elapsed time counts.
    """

    def __init__(self, titles: Sequence[str], stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._colour = self._stream.isatty() and not os.environ.get("NO_COLOR")
        self._colours = {
            title: _LEG_COLOURS[i % len(_LEG_COLOURS)] for i, title in enumerate(titles)
        }
        self._width = max([len(title) for title in titles], default=0)
        self.began = time.time()

    def event(self, text: str, leg: str = "", style: str = "", at: float | None = None) -> None:
        """One line of progress; `at` is when it happened (default: now)."""
        elapsed = (time.time() if at is None else at) - self.began
        name = self._paint(leg.ljust(self._width), self._colours.get(leg, ""))
        self.print(f"{max(elapsed, 0.0):6.2f} s  {name}  {self.styled(text, style)}")

    def print(self, text: str = "") -> None:
        """A line as it is."""
        self._stream.write(text + "\n")
        self._stream.flush()

    def styled(self, text: str, style: str) -> str:
        """`text` in a style (`good`, `bad`, `dim`, `bold`), where styles can be seen."""
        return self._paint(text, _STYLES.get(style, ""))

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_RESET}" if self._colour and colour else text
