"""What strikes, and where: signals and faults at each call."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

SIGNALS = {name: signal.Signals[name] for name in ("SIGKILL", "SIGTERM", "SIGINT")}
MOMENTS = ("before", "after")
SIGNALS_A_CALL, FAULTS_A_CALL = 3, 2
"""How many of the calls of one name (polls, a DELETE for each runner) are struck."""


@dataclass(frozen=True)
class Kind:
    """A fault of the sandbox. `fields` are those of `sandbox.faults.Fault`."""

    name: str
    fields: dict[str, Any]
    services: tuple[str, ...] = ("github", "ec2")
    calls: tuple[str, ...] = ()  # empty: all of the services


_HTML = "<html><body>Bad gateway</body></html>"
_NOT_KNOWN = "The instance IDs '{InstanceId}' do not exist"
_CAPACITY = "InsufficientInstanceCapacity"
_LIMIT_OVER = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}
_EC2, _GITHUB = ("ec2",), ("github",)
_SLOW = 3.0  # seconds
_A_MINUTE = 60.0  # seconds: before anything of a point

KINDS = [
    Kind("500", {"status": 500}),
    Kind("500 after", {"status": 500, "when": "after"}),
    Kind("502", {"status": 502}, _GITHUB),
    Kind("503", {"status": 503}),
    Kind("500 for good", {"status": 500, "times": None}),
    Kind("dropped reply", {"when": "drop"}),
    Kind("dropped replies for good", {"when": "drop", "times": None}),
    Kind("slow", {"delay": _SLOW}),
    Kind("401", {"status": 401}),
    Kind("403", {"status": 403}),
    Kind("404", {"status": 404}, _GITHUB),
    Kind("403 Retry-After", {"status": 403, "headers": {"Retry-After": "1"}}, _GITHUB),
    Kind("403 limit over", {"status": 403, "headers": _LIMIT_OVER}, _GITHUB),
    Kind("429 Retry-After", {"status": 429, "headers": {"Retry-After": "1"}}, _GITHUB),
    Kind("429", {"status": 429}, _GITHUB),
    Kind("HTML", {"status": 200, "body": _HTML}),
    Kind("HTML after", {"status": 200, "body": _HTML, "when": "after"}),
    Kind("cut JSON after", {"status": 200, "body": '{"runners": [', "when": "after"}, _GITHUB),
    Kind("cut XML after", {"status": 200, "body": "<?xml", "when": "after"}, _EC2),
    Kind(
        "stale list",
        {"when": "stale", "stale_seconds": _A_MINUTE},
        calls=("GET runners", "GET runs", "GET runs/{id}", "DescribeInstances"),
    ),
    Kind(
        "stale list for good",
        {"when": "stale", "stale_seconds": _A_MINUTE, "times": 4},
        calls=("GET runners", "DescribeInstances"),
    ),
    Kind("throttled", {"status": 503, "code": "RequestLimitExceeded"}, _EC2),
    Kind("no capacity", {"status": 500, "code": _CAPACITY}, calls=("RunInstances",)),
    Kind(
        "no capacity for good",
        {"status": 500, "code": _CAPACITY, "times": None},
        calls=("RunInstances",),
    ),
    Kind("quota", {"status": 400, "code": "VcpuLimitExceeded"}, calls=("RunInstances",)),
    Kind(
        "not known yet",
        {"status": 400, "code": "InvalidInstanceID.NotFound", "message": _NOT_KNOWN},
        calls=("TerminateInstances",),
    ),
]


_NAME = re.compile(
    r"(?P<row>\S+) ((?P<signal>SIG\w+) (?P<moment>before|after)|(?P<fault>.+) at)"
    r" (?P<call>.+) (?P<number>\d+)"
)


@dataclass(frozen=True)
class Point:
    """One run: `what` strikes the action of a row at a call, the `number`th of that name (from 1).

    `moment` is for signals only: a fault says itself where it strikes.
    """

    row: str
    what: str
    moment: str
    call: str
    number: int

    def __str__(self) -> str:
        return f"{self.row} {self.what} {self.moment or 'at'} {self.call} {self.number}"

    @classmethod
    def named(cls, name: str) -> Point:
        """The point of that name, as `str` makes it."""
        found = _NAME.fullmatch(name)
        assert found is not None, name
        what, moment = found["signal"] or found["fault"], found["moment"] or ""
        return cls(found["row"], what, moment, found["call"], int(found["number"]))


def points(row: str, calls: Iterable[str]) -> Iterator[Point]:
    """Every point of an action that makes these calls."""
    for call, made in Counter(calls).items():
        for number in range(1, min(made, SIGNALS_A_CALL) + 1):
            for name in SIGNALS:
                for moment in MOMENTS:
                    yield Point(row, name, moment, call, number)
        for number in range(1, min(made, FAULTS_A_CALL) + 1):
            for kind in KINDS:
                if call in kind.calls if kind.calls else _service_of(call) in kind.services:
                    yield Point(row, kind.name, "", call, number)


def kind_of(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


def _service_of(call: str) -> str:
    return "github" if " " in call else "ec2"
