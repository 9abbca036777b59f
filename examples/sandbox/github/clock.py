"""A clock that only moves when told to."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

EPOCH = datetime(2026, 11, 2, 9, 0, tzinfo=timezone.utc)


class VirtualClock:
    """Call it for the time. What is due happens at the next request or `tick`, not by itself."""

    def __init__(self, start: datetime = EPOCH) -> None:
        self.time = start

    def __call__(self) -> datetime:
        return self.time

    def advance(self, seconds: float = 0.0, *, hours: float = 0.0, days: float = 0.0) -> None:
        self.time += timedelta(seconds=seconds, hours=hours, days=days)
