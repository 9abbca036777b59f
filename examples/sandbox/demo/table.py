"""The closing table: what was launched, where the test ran, what was stopped, times and calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sandbox.demo.calls import Count
from sandbox.demo.legs import BY_STOP, PHASES, Leg

WIDTH = 80  # of a terminal nobody has made wider

_NAME = 18  # columns of the first column
_CELL = 30
_SIDE_BY_SIDE = 2  # legs beside each other
_COUNT = 8
_ACTIONS = ("start", "stop", "both")


def table(legs: Sequence[Leg], counts: Sequence[Count], instances_left: int, left: int) -> str:
    """The whole table as text; no line is longer than `WIDTH` columns.

    `instances_left` are instances that are not terminated, `left` runners still registered.
    """
    lines: list[str] = []
    for first in range(0, len(legs), _SIDE_BY_SIDE):
        lines += [*_legs(legs[first : first + _SIDE_BY_SIDE]), ""]
    lines += [*_calls(counts), ""]
    lines.append(f"instances left: {instances_left}, registrations left: {left}")
    return "\n".join(line.rstrip() for line in lines)


def _legs(legs: Sequence[Leg]) -> Iterator[str]:
    yield _row("", [leg.title for leg in legs])
    yield _rule(legs)
    yield _row("launched", [" ".join(leg.instances) or "nothing" for leg in legs])
    yield _row("  type, zone", [" ".join(dict.fromkeys(leg.instances.values())) for leg in legs])
    yield _row("test ran on", [" ".join(map(_instance, leg.ran_on)) or "no runner" for leg in legs])
    yield _row("  its runner", [" ".join(map(_label, leg.ran_on)) for leg in legs])
    yield _row("test result", [leg.results.get("test", "never ran") for leg in legs])
    yield _row("runner left", [_how(leg, leg.runners) for leg in legs])
    yield _row("instance ended", [_how(leg, leg.instances) for leg in legs])
    yield _row("  stop-runner", [_stopped(leg) for leg in legs])
    yield _rule(legs)
    yield _row("seconds", ["  took   total" for _ in legs])
    for phase in PHASES[1:]:
        yield _row(f"  {phase}", [_seconds(leg, phase) for leg in legs])


def _instance(runner: str) -> str:
    """The instance in a runner's name (`<label>-<instance id>`); else the name."""
    label, mark, number = runner.rpartition("-i-")
    return f"i-{number}" if label and mark else runner


def _label(runner: str) -> str:
    return runner.rpartition("-i-")[0]


def _how(leg: Leg, names: Sequence[str] | dict[str, str]) -> str:
    return ", ".join(dict.fromkeys(leg.left_by.get(name, "still there") for name in names)) or "-"


def _stopped(leg: Leg) -> str:
    """What stop-runner had to do."""
    if "stop returned" not in leg.at:
        return "never ran"
    if BY_STOP in leg.left_by.values():
        return "ended what was left"
    return "found nothing left to end" if len(leg.left_by) else "found nothing to end"


def _seconds(leg: Leg, phase: str) -> str:
    """Since the phase before it that this leg went through, and since its first job began."""
    order = sorted(leg.at.items(), key=lambda item: item[1])
    for (_, before), (name, at) in pairwise(order):
        if name == phase:
            return f"{at - before:6.2f}  {at - order[0][1]:6.2f}"
    return "     -"


def _calls(counts: Sequence[Count]) -> Iterator[str]:
    width = WIDTH - 3 * _COUNT
    yield f"{'API calls':<{width}}" + "".join(f"{name:>{_COUNT}}" for name in _ACTIONS)
    yield "-" * WIDTH
    for service in dict.fromkeys(count.service for count in counts):
        mine = [count for count in counts if count.service == service]
        for count in mine:
            yield _counts(f"  {service}  {count.operation}", count.start, count.stop, width)
        start, stop = sum(c.start for c in mine), sum(c.stop for c in mine)
        yield _counts(f"{service}, all", start, stop, width)
    yield _counts("total", sum(c.start for c in counts), sum(c.stop for c in counts), width)


def _counts(name: str, start: int, stop: int, width: int) -> str:
    cells = (start or "-", stop or "-", start + stop)
    return f"{name[: width - 1]:<{width}}" + "".join(f"{cell:>{_COUNT}}" for cell in cells)


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<{_NAME}}" + "  ".join(f"{cell[:_CELL]:<{_CELL}}" for cell in cells)


def _rule(legs: Sequence[Leg]) -> str:
    return "-" * (_NAME + len(legs) * (_CELL + 2) - 2)
