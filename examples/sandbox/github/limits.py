"""Rate limits: the hourly budget of a token, and the secondary limits.

docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox.github.errors import RATE_LIMIT_DOCS, ApiError
from sandbox.github.records import Identity

HOURLY = {
    "classic": 5000,
    "fine-grained": 5000,
    "installation": 5000,
    "github-token": 1000,
    "app": 5000,
    "anonymous": 60,
}
REGISTRATIONS = 10_000


@dataclass
class Secondary:
    """Off unless a number is given. `status` 403 or 429; `retry_after` in seconds or None."""

    concurrent: int | None = None  # GitHub: 100
    points_per_minute: int | None = None  # GitHub: 900; a read costs 1, a write 5
    status: int = 403
    retry_after: int | None = 60


@dataclass
class Budget:
    limit: int
    used: int
    reset: datetime

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    def body(self) -> dict[str, int]:
        return {
            "limit": self.limit,
            "used": self.used,
            "remaining": self.remaining,
            "reset": int(self.reset.timestamp()),
        }


class Limits:
    """Counts by token. Its own lock: it is asked before and after the state is."""

    def __init__(self) -> None:
        self.secondary = Secondary()
        self._lock = threading.Lock()
        self._budgets: dict[str, Budget] = {}
        self._points: dict[str, deque[tuple[datetime, int]]] = {}
        self._under_way = 0

    def reset(self) -> None:
        with self._lock:
            self.secondary = Secondary()
            self._budgets.clear()
            self._points.clear()

    def budget(self, identity: Identity, now: datetime) -> Budget:
        """A copy of the token's budget in the hour that now runs."""
        with self._lock:
            found = self._current(identity, now)
            return Budget(found.limit, found.used, found.reset)

    def _current(self, identity: Identity, now: datetime) -> Budget:
        found = self._budgets.get(identity.token)
        if found is None or now >= found.reset:
            found = Budget(identity.limit, 0, now + timedelta(hours=1))
            self._budgets[identity.token] = found
        return found

    def set_used(self, identity: Identity, used: int, now: datetime) -> None:
        with self._lock:
            self._current(identity, now).used = used

    def charge(self, identity: Identity, now: datetime) -> None:
        with self._lock:
            self._current(identity, now).used += 1

    def check_primary(self, identity: Identity, now: datetime) -> None:
        if self.budget(identity, now).remaining > 0:
            return
        who = {
            "installation": f"installation ID {identity.id}",
            "github-token": f"installation ID {identity.id}",
            "anonymous": "127.0.0.1",
        }.get(identity.kind, f"user ID {identity.id}")
        msg = (
            f"API rate limit exceeded for {who}. If you reach out to GitHub Support for help, "
            "please include the request ID and timestamp."
        )
        raise ApiError(403, msg, documentation=RATE_LIMIT_DOCS)

    # Secondary --------------------------------------------------------------------------------

    def enter(self) -> None:
        with self._lock:
            self._under_way += 1

    def leave(self) -> None:
        with self._lock:
            self._under_way -= 1

    def check_secondary(self, identity: Identity, method: str, now: datetime) -> None:
        rules = self.secondary
        with self._lock:
            exceeded = rules.concurrent is not None and self._under_way > rules.concurrent
            if rules.points_per_minute is not None:
                spent = self._points.setdefault(identity.token, deque())
                while spent and spent[0][0] <= now - timedelta(minutes=1):
                    spent.popleft()
                cost = 1 if method in ("GET", "HEAD", "OPTIONS") else 5
                if sum(points for _, points in spent) + cost > rules.points_per_minute:
                    exceeded = True
                else:
                    spent.append((now, cost))
        if exceeded:
            raise self.secondary_error()

    def secondary_error(self) -> ApiError:
        msg = (
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try "
            "again. If you reach out to GitHub Support for help, please include the request ID."
        )
        wait = self.secondary.retry_after
        return ApiError(
            self.secondary.status,
            msg,
            documentation=f"{RATE_LIMIT_DOCS}#about-secondary-rate-limits",
            headers={} if wait is None else {"Retry-After": str(wait)},
        )
