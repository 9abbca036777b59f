"""The way into a world that may be reset: no call of before acts on what comes after."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Door:
    """Calls go in and out side by side; a reset has the place to itself.

    `age` counts the resets: a call that arrived at another one is not let in any more.
    """

    def __init__(self) -> None:
        self.age = 0
        self._condition = threading.Condition()
        self._inside = 0
        self._is_shut = False

    @contextmanager
    def inside(self, age: int) -> Iterator[bool]:
        """Whether the call may act, which arrived at that age; a reset waits for its end."""
        with self._condition:
            self._condition.wait_for(lambda: not self._is_shut)
            admitted = age == self.age
            self._inside += admitted
        try:
            yield admitted
        finally:
            with self._condition:
                self._inside -= admitted
                self._condition.notify_all()

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Nobody is inside any more, and those who come wait."""
        with self._condition:
            self.age += 1
            self._is_shut = True
            self._condition.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._condition:
                self._is_shut = False
                self._condition.notify_all()
