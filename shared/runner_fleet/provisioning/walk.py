"""The walk over the candidates: which one to try next, and when. Pure; placing.py does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from runner_fleet.provisioning.candidates import Candidate

FIRST_PAUSE = 2.0
LONGEST_PAUSE = 60.0
"""Seconds between two passes, at most: doubled after each pass, and cut by chance to between half
and all of it, so that starts that failed together do not come back together."""


@dataclass(frozen=True)
class Pause:
    seconds: float
    throttled: bool = False  # in every region


class Walk:
    """Passes over all candidates until `timeout` seconds are over; a pass begun is finished.

    The last pass begins when the time is over, so that none of it is wasted.
    """

    def __init__(
        self, candidates: Iterable[Candidate], timeout: float, chance: Callable[[], float]
    ) -> None:
        """`chance` gives numbers from 0 to 1."""
        self.candidates = list(candidates)  # those that may still be tried
        self.passes = 0
        self._timeout = timeout
        self._chance = chance
        self._left: list[Candidate] = []  # of this pass
        self._rested = False
        self._between_passes = FIRST_PAUSE
        self._throttled: set[str] = set()  # regions, in this pass

    def next(self, elapsed: float) -> Candidate | Pause | None:
        """The candidate to try `elapsed` seconds after the start; None: it is over."""
        if not self._left and (self.passes == 0 or self._rested):
            self.passes += 1
            self._rested = False
            self._left = list(self.candidates)
            self._throttled.clear()
        if self._left:
            return self._left.pop(0)
        if not self.candidates or elapsed >= self._timeout:
            return None
        self._rested = True
        pause = self._cut(self._between_passes)
        self._between_passes = min(2 * self._between_passes, LONGEST_PAUSE)
        throttled = all(each.region in self._throttled for each in self.candidates)
        return Pause(min(pause, self._timeout - elapsed), throttled)

    def rule_out(self, candidate: Candidate) -> None:
        """The candidate will never work."""
        self.candidates.remove(candidate)

    def throttled(self, candidate: Candidate) -> None:
        """EC2 does not want to be asked in its region: that has no room in this pass."""
        self._throttled.add(candidate.region)
        self._left = [each for each in self._left if each.region != candidate.region]

    def stay_in(self, region: str) -> None:
        """From now on only candidates of this region: a fleet is in one."""
        self.candidates = [each for each in self.candidates if each.region == region]

    def _cut(self, pause: float) -> float:
        return pause * (0.5 + self._chance() / 2)
