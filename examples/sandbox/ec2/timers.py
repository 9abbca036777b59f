"""Things that happen later, in one thread, on a clock that a test can push forward."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(order=True)
class _Entry:
    due: float
    number: int
    key: str = field(compare=False)
    action: Callable[[], None] = field(compare=False)


class Timers:
    """Actions by key; a key's second action replaces its first."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._entries: list[_Entry] = []
        self._numbers = itertools.count()
        self._skipped = 0.0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ec2-timers", daemon=True)
        self._thread.start()

    def _now(self) -> float:
        return time.monotonic() + self._skipped

    def after(self, seconds: float, key: str, action: Callable[[], None]) -> None:
        """Do `action` in `seconds`, instead of what `key` was waiting to do."""
        with self._condition:
            self._entries = [entry for entry in self._entries if entry.key != key]
            self._entries.append(_Entry(self._now() + seconds, next(self._numbers), key, action))
            heapq.heapify(self._entries)
            self._condition.notify()

    def cancel(self, prefix: str) -> bool:
        """Forget the actions whose key begins with `prefix`; whether there were any."""
        with self._condition:
            kept = [entry for entry in self._entries if not entry.key.startswith(prefix)]
            found = len(kept) < len(self._entries)
            self._entries = kept
            heapq.heapify(self._entries)
            return found

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once; what falls due is done soon after, in order."""
        with self._condition:
            self._skipped += seconds
            self._condition.notify()

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._entries = []
            self._condition.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=60)

    def _next(self) -> Callable[[], None] | None:
        with self._condition:
            while not self._closed:
                if not self._entries:
                    self._condition.wait()
                    continue
                wait = self._entries[0].due - self._now()
                if wait <= 0:
                    return heapq.heappop(self._entries).action
                self._condition.wait(wait)
        return None

    def _run(self) -> None:
        while (action := self._next()) is not None:
            try:
                action()
            except Exception:  # one action's fault must not stop the others
                traceback.print_exc()
