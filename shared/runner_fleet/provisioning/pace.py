"""When to look again while a fleet comes up: often where it matters, within GitHub's budget.

A look is one DescribeInstances and, once that can show something new, one listing of the runners.
Pauses grow with the time since the last milestone, so that the number of looks grows with the
logarithm of the wait, and what is lost at its end is a fraction of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner_fleet.github import Budget
from runner_fleet.provisioning.progress import BOOTING, ONLINE, REGISTERED, Progress

LONGEST_PAUSE = 10.0
"""Seconds between two looks, unless GitHub's budget asks for more."""

SHORTEST_BOOT = 0.5
"""Seconds from `running` to a registration, at least."""

LONGEST_GUESS = 20.0
"""Seconds after `running` in which we list no runners, at most, because the instance boots."""

SPARED_CALLS = 50
SPARED_SHARE = 0.1
"""Of a token's hourly calls as many are left to others: the larger of the two."""

RARELY = 60.0
"""Seconds between listings when only the calls of others are left."""


@dataclass(frozen=True)
class _Step:
    """Seconds of a pause: `growth` times those since the milestone, within limits."""

    shortest: float
    growth: float
    longest: float

    def pause(self, since: float) -> float:
        return min(max(self.shortest, self.growth * since), self.longest)


_NONE_REGISTERED = _Step(0.5, 0.25, LONGEST_PAUSE)
_SOME_REGISTERED = _Step(0.5, 0.5, 5.0)
_ALL_REGISTERED = _Step(0.3, 0.25, 3.0)  # a runner connects within seconds


def pause(progress: Progress, elapsed: float) -> float:
    """Seconds until the next look, `elapsed` seconds after the launch."""
    registered = progress.arrivals((REGISTERED, ONLINE))
    if not registered:
        return _NONE_REGISTERED.pause(elapsed)
    if len(registered) < len(progress.labels):
        return _SOME_REGISTERED.pause(elapsed - registered[0])
    return _ALL_REGISTERED.pause(elapsed - registered[-1])


def boots_until(progress: Progress) -> float | None:
    """Seconds after the launch before which no runner can be registered; None: not known yet.

    An instance that took long to start takes at least as long to boot: `running` comes before the
    firmware, the kernel and cloud-init, the download and the registration.
    """
    running = progress.arrivals((BOOTING, REGISTERED, ONLINE))
    if not running:
        return None
    return running[0] + min(max(SHORTEST_BOOT, running[0]), LONGEST_GUESS)


def pages(runners: int) -> int:
    """The calls of one listing of so many runners: GitHub gives 100 a page at most."""
    return max(1, -(-runners // 100))


def shortest_listing_pause(
    budget: Budget | None, pages: int, seconds_left: float, now: float
) -> float:
    """Seconds between two listings that the token's budget can bear, until the wait's end.

    `pages` is the calls of one listing, `now` seconds since the epoch. An unchanged page costs
    nothing, but nobody knows that beforehand.
    """
    if budget is None:
        return 0.0
    until_reset = max(0.0, budget.reset - now)
    spare = budget.remaining - max(SPARED_CALLS, int(SPARED_SHARE * budget.limit))
    if spare >= pages:
        return pages * min(until_reset, seconds_left) / spare
    if budget.remaining > pages:
        return min(RARELY, until_reset)
    return until_reset
