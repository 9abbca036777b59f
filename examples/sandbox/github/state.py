"""The one state of the simulated GitHub: tables, clock, timers, history, and the lock over all."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from sandbox.github.knobs import Knobs
from sandbox.github.records import (
    Commit,
    Event,
    Identity,
    Job,
    Repository,
    Run,
    Runner,
    ScopeToken,
    Variable,
)
from sandbox.github.table import Table

if TYPE_CHECKING:
    from sandbox.github.apps import App, Installation
    from sandbox.github.groups import RunnerGroup

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


class State:
    """Every function that reads or writes it holds `lock`, which may be taken twice."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.age = 0  # how often it was reset: a call of before has no effect after it
        self.lock = threading.RLock()
        self.knobs = Knobs()
        self.random = random.Random(0)  # noqa: S311 - a repeatable order, not a secret
        self._effective: datetime | None = None
        self._timers: list[tuple[datetime, int, Callable[[], None]]] = []
        self._timer_numbers = itertools.count()
        self._waiting: dict[tuple[str, int], threading.Condition] = {}

        self.repositories: dict[str, Repository] = {}  # by lower-case full name
        self.repository_ids: dict[int, Repository] = {}
        self.organizations: dict[str, tuple[int, str]] = {}  # lower case -> id, spelling
        self.identities: dict[str, Identity] = {}
        self.apps: dict[str, App] = {}
        self.installations: dict[int, Installation] = {}
        self.groups: dict[int, RunnerGroup] = {}
        self.runners: Table[int, Runner] = Table(self.now)
        self.jobs: Table[int, Job] = Table(self.now)
        self.jobs_of_run: dict[int, list[int]] = {}
        self.runs: Table[int, Run] = Table(self.now)
        self.variables: Table[tuple[str, str], Variable] = Table(self.now)
        self.refs: Table[tuple[str, str], str] = Table(self.now)
        self.commits: dict[str, Commit] = {}
        self.workflows: dict[tuple[str, str], int] = {}  # repository, path -> id
        self.scope_tokens: dict[str, ScopeToken] = {}
        self.jit_configs: list[str] = []  # as they were given out, encoded
        self.credentials: dict[str, int] = {}  # of a runner process -> runner id, for ever
        self.queued: dict[int, None] = {}  # job ids that wait, in order
        self.calls_under_way: dict[int, int] = {}  # runner id -> its requests being served
        self.history: list[Event] = []
        self._count_anew()

    def _count_anew(self) -> None:
        self.runner_ids = itertools.count(25640001)
        self.job_ids = itertools.count(12877621001)
        self.run_ids = itertools.count(4747967001)
        self.run_numbers: dict[str, int] = {}

    def reset(self) -> None:
        """Forget everything but the repositories (their refs, too) and who may do what."""
        with self.lock:
            self.age += 1
            for table in (self.runners, self.jobs, self.runs, self.variables, self.refs):
                table.clear()
            self.commits.clear()
            self.scope_tokens.clear()
            self.groups.clear()
            self.jit_configs.clear()
            self.credentials.clear()
            self.queued.clear()
            self.jobs_of_run.clear()
            self.history.clear()
            self._timers.clear()
            self.knobs = Knobs()
            self.random.seed(0)
            self._count_anew()
            for condition in self._waiting.values():
                condition.notify_all()

    def forget(self) -> None:
        """Forget the repositories and who may do what."""
        with self.lock:
            self.repositories.clear()
            self.repository_ids.clear()
            self.organizations.clear()
            self.identities.clear()
            self.apps.clear()
            self.installations.clear()

    # Time -------------------------------------------------------------------------------------

    def now(self) -> datetime:
        """The clock; or, while a timer runs, the moment it was due."""
        return self._effective or self.clock()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Have `tick` call `action` when the time has come; it checks that it still applies."""
        due = self.now() + timedelta(seconds=seconds)
        heapq.heappush(self._timers, (due, next(self._timer_numbers), action))

    def tick(self) -> None:
        """Let everything happen that time alone brings about. Called at every request."""
        with self.lock:
            if self._effective is not None:
                return
            now = self.clock()
            try:
                while self._timers and self._timers[0][0] <= now:
                    self._effective, _, action = heapq.heappop(self._timers)
                    action()
            finally:
                self._effective = None

    def seconds_to_next_timer(self) -> float | None:
        if not self._timers:
            return None
        return max(0.0, (self._timers[0][0] - self.now()).total_seconds())

    # Waiting ----------------------------------------------------------------------------------

    def _condition(self, kind: str, number: int) -> threading.Condition:
        return self._waiting.setdefault((kind, number), threading.Condition(self.lock))

    def wake(self, kind: str, number: int) -> None:
        """Wake whoever waits for news of this runner or job."""
        condition = self._waiting.get((kind, number))
        if condition is not None:
            condition.notify_all()

    def wait(self, kind: str, number: int, seconds: float) -> None:
        """Give up the lock until woken, a timer is due, or `seconds` have passed."""
        until_timer = self.seconds_to_next_timer()
        if until_timer is not None:
            # A virtual clock may stand still: never less than a moment.
            seconds = min(seconds, max(until_timer, 0.01))
        self._condition(kind, number).wait(max(seconds, 0.0))

    # Lookups ----------------------------------------------------------------------------------

    def repository(self, full_name: str) -> Repository | None:
        return self.repositories.get(full_name.lower())

    def find_runner(self, scope: str, name: str) -> Runner | None:
        for runner in self.runners.rows.values():
            if runner.name == name and runner.scope == scope:
                return runner
        return None

    # History ----------------------------------------------------------------------------------

    def record(self, kind: str, **fields: Any) -> None:
        self.history.append(Event(len(self.history) + 1, self.now(), kind, fields))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """The lock, with time's own effects applied first."""
        with self.lock:
            self.tick()
            yield


def number_of(name: str) -> int:
    """A stable numeric id for a name, of the size of GitHub's."""
    return int(hashlib.sha256(name.lower().encode()).hexdigest()[:7], 16) + 10_000_000
