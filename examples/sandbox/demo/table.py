"""The closing table: what was launched, where the test ran, what was stopped, times and calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sandbox.demo.calls import Count
from sandbox.demo.legs import PHASES, Leg

_NAME = 20  # columns of the first column
_CELL = 38
_SIDE_BY_SIDE = 2  # legs beside each other in 100 columns


def table(legs: Sequence[Leg], counts: Sequence[Count], instances_left: int, left: int) -> str:
    """The whole table as text; no line is longer than 100 columns.

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
    yield _row("test ran on", [" ".join(leg.ran_on) or "no runner" for leg in legs])
    yield _row("test result", [leg.results.get("test", "never ran") for leg in legs])
    yield _row("instance stopped", [_how(leg, leg.instances) for leg in legs])
    yield _row("runner stopped", [_how(leg, leg.runners) for leg in legs])
    yield _rule(legs)
    yield _row("seconds", ["phase   since the leg began" for _ in legs])
    for phase in PHASES[1:]:
        yield _row(f"  {phase}", [_seconds(leg, phase) for leg in legs])


def _how(leg: Leg, names: Sequence[str] | dict[str, str]) -> str:
    return ", ".join(dict.fromkeys(leg.left_by.get(name, "still there") for name in names)) or "-"


def _seconds(leg: Leg, phase: str) -> str:
    """Since the phase before it that this leg went through, and since the leg began."""
    order = sorted(leg.at.items(), key=lambda item: item[1])
    for (_, before), (name, at) in pairwise(order):
        if name == phase:
            return f"{at - before:5.2f}   {at - order[0][1]:5.2f}"
    return "    -"


def _calls(counts: Sequence[Count]) -> Iterator[str]:
    width = 62
    yield f"{'API calls':<{width}}{'start':>8}{'stop':>8}{'both':>8}"
    yield "-" * (width + 24)
    for service in dict.fromkeys(count.service for count in counts):
        mine = [count for count in counts if count.service == service]
        for count in mine:
            yield _counts(f"  {service}  {count.operation}", count.start, count.stop, width)
        start, stop = sum(c.start for c in mine), sum(c.stop for c in mine)
        yield _counts(f"{service}, all", start, stop, width)
    yield _counts("total", sum(c.start for c in counts), sum(c.stop for c in counts), width)


def _counts(name: str, start: int, stop: int, width: int) -> str:
    return f"{name[: width - 1]:<{width}}{start or '-':>8}{stop or '-':>8}{start + stop:>8}"


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<{_NAME}}" + "  ".join(f"{cell[:_CELL]:<{_CELL}}" for cell in cells)


def _rule(legs: Sequence[Leg]) -> str:
    return "-" * (_NAME + len(legs) * (_CELL + 2) - 2)
