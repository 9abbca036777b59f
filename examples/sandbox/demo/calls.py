"""API calls counted by service, operation, and the action that made them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox.calls import Call
from sandbox.demo.legs import Leg

_REPOSITORY = re.compile(r"^(\w+) (?:/api/v3)?/repos/[^/]+/[^/]+")
_ID = re.compile(r"/\d+(?=/|$)")


@dataclass(frozen=True)
class Count:
    """How often each action called one operation."""

    service: str
    operation: str
    start: int
    stop: int


def counted(calls: Iterable[Call], legs: Sequence[Leg]) -> list[Count]:
    """The actions' calls; what machines and the simulator's own control ask for is left out."""
    counts: dict[tuple[str, str], list[int]] = {}
    for call in calls:
        operation = _operation(call)
        if operation is None:
            continue
        row = counts.setdefault((call.service, operation), [0, 0])
        row[_made_by_stop(call, legs)] += 1
    return [Count(*key, *numbers) for key, numbers in sorted(counts.items())]


def _operation(call: Call) -> str | None:
    if call.service not in ("github", "runner"):
        return call.operation
    match = _REPOSITORY.match(call.operation)
    if match is None or call.service == "runner":
        return None
    return _ID.sub("/{id}", f"{match[1]} {call.operation[match.end() :]}")


def _made_by_stop(call: Call, legs: Sequence[Leg]) -> bool:
    """Whether stop-runner made the call.

    The client says so in its User-Agent; if it does not, a call made while some leg's start was
    still under way is taken for start's, but for those only stop makes.
    """
    if "start-runner" in call.client or "stop-runner" in call.client:
        return "stop-runner" in call.client
    if call.operation.startswith(("DELETE ", "TerminateInstances")):
        return True
    return all(call.at > leg.at.get("start returned", float("inf")) for leg in legs)
