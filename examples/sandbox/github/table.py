"""A table of records that can also be read as it was a while ago."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar

K = TypeVar("K", int, tuple[str, str])
T = TypeVar("T")

_DEPTH = 20_000  # changes that can be undone; older states read as the oldest one kept


class Table(Generic[K, T]):
    """Records by key. A write is cheap; `as_of` undoes what was written since, on a copy."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.rows: dict[K, T] = {}
        self._undo: deque[tuple[datetime, K, T | None]] = deque(maxlen=_DEPTH)

    def get(self, key: K) -> T | None:
        return self.rows.get(key)

    def put(self, key: K, row: T) -> T:
        self._undo.append((self._now(), key, self.rows.get(key)))
        self.rows[key] = row
        return row

    def remove(self, key: K) -> None:
        self._undo.append((self._now(), key, self.rows.pop(key)))

    def clear(self) -> None:
        self.rows.clear()
        self._undo.clear()

    def as_of(self, at: datetime) -> dict[K, T]:
        """The records as they were at `at`, in the order of their keys."""
        rows: dict[Any, T] = dict(self.rows)
        for changed, key, before in reversed(self._undo):
            if changed <= at:
                break
            if before is None:
                rows.pop(key, None)
            else:
                rows[key] = before
        return {key: rows[key] for key in sorted(rows)}
