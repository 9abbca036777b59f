"""What was asked of the simulated services, in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Call:
    """One API call as the service saw it.

    `operation` is an EC2 action (`RunInstances`) or a GitHub method and path
    (`GET /repos/octo-org/gpu-tests/actions/runners`), without the query.
    """

    service: str  # "github" or "ec2" (also "ssm", "sts": whatever moto was asked for)
    operation: str
    status: int  # the HTTP status sent; 0 when the reply was withheld by a fault
    at: float  # seconds since the epoch, when the request arrived
    seconds: float  # until the reply was ready
    query: str = ""
    client: str = ""  # the User-Agent
    fields: dict[str, str] = field(default_factory=dict)


class CallLog:
    """An append-only, thread-safe list of calls.

    `age` counts how often it was cleared: a call that arrived before that is not added after it.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.age = 0
        self._lock = threading.Lock()
        self._calls: list[Call] = []

    def add(self, call: Call, age: int) -> None:
        """Add a call that arrived when the log had this age."""
        with self._lock:
            if age == self.age:
                self._calls.append(call)

    def all(self, service: str | None = None) -> list[Call]:
        with self._lock:
            return [call for call in self._calls if service in (None, call.service)]

    def count(self, prefix: str) -> int:
        """How many calls have an operation that begins with `prefix`."""
        return sum(call.operation.startswith(prefix) for call in self.all())

    def clear(self) -> None:
        with self._lock:
            self.age += 1
            self._calls.clear()
