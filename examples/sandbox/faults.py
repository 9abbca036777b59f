"""Faults by rule: what goes wrong, at which call, how often."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field, replace
from typing import Literal


@dataclass
class Fault:
    """One rule. It applies to calls whose operation matches, after `skip` of them, `times` times.

    `when` says where the fault strikes:
    - `before`: the call has no effect and gets `status`, `headers` and `body`;
    - `after`: the call takes effect, and then its reply is replaced by them (a lost reply);
    - `drop`: as `after`, but the connection is closed without any reply;
    - `stale`: the call answers from the state of `stale_seconds` ago, where the service can.
    `delay` (seconds) is added in every case; with `status` 0 the delay is all that happens.
    """

    operation: str  # regular expression, matched from the start, as in Call.operation
    status: int = 0
    when: Literal["before", "after", "drop", "stale"] = "before"
    times: int | None = 1  # None: for ever
    skip: int = 0
    delay: float = 0.0
    stale_seconds: float = 0.0
    code: str = ""  # EC2 error code; EC2's XML error body is made from code and message
    message: str = ""  # of EC2; {InstanceId} in it stands for the ids that the call names
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None  # None: the service's own error body for the status
    region: str = ""  # of EC2, when only calls there are struck

    def __post_init__(self) -> None:
        self._pattern = re.compile(self.operation)

    def matches(self, operation: str, region: str = "") -> bool:
        return self.region in ("", region) and self._pattern.match(operation) is not None


class Faults:
    """The rules in force; the first that matches a call is taken and counted down."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Fault] = []
        self._cleared = threading.Event()

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._rules.append(fault)

    def all(self) -> list[Fault]:
        """The rules in force, as they are now."""
        with self._lock:
            return [replace(rule) for rule in self._rules if rule.times != 0]

    def clear(self) -> None:
        """No rule is in force any more; the calls that one delays go on at once."""
        with self._lock:
            self._rules.clear()
            self._cleared.set()
            self._cleared = threading.Event()

    def pause(self, seconds: float) -> None:
        """A delay: it ends when all rules are cleared, too."""
        with self._lock:
            cleared = self._cleared
        cleared.wait(seconds)

    def take(self, operation: str, region: str = "") -> Fault | None:
        """The fault that strikes this call, if any."""
        with self._lock:
            for rule in self._rules:
                if not rule.matches(operation, region):
                    continue
                if rule.skip > 0:
                    rule.skip -= 1
                    continue
                if rule.times is not None:
                    if rule.times <= 0:
                        continue
                    rule.times -= 1
                return rule
        return None
