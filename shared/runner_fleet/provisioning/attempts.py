"""What was tried to launch a fleet, and how it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from runner_fleet.ec2_model import Instance
from runner_fleet.provisioning.candidates import Candidate

_SHOWN = 12
"""Rows of a list of failures that still help; the summary has all of them."""


@dataclass(frozen=True)
class Attempt:
    """One RunInstances with its answer."""

    number: int  # of the pass
    candidate: Candidate
    code: str  # EC2's; empty when it launched
    launched: int  # instances
    asked: int  # instances
    began: float  # seconds since the first attempt
    seconds: float  # until the answer

    @property
    def outcome(self) -> str:
        if self.code:
            return self.code
        if not self.launched:
            return "no clear answer"
        of_all = f" of {self.asked}" if self.launched < self.asked else ""
        return f"launched {self.launched}{of_all}"

    def __str__(self) -> str:
        return f"Pass {self.number}: {self.candidate}: {self.outcome} ({self.seconds:.1f} s)"


@dataclass
class Trail:
    """What a start has launched so far, for the way back and for the summary."""

    instances: list[Instance] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)  # instance id to label
    registered: bool = False  # there may be runners that were registered before the launch
    region: str = ""  # of the instances, and of a launch under way
    doubtful: bool = False  # a launch in that region has no clear answer (yet)
    attempts: list[Attempt] = field(default_factory=list)
    skipped: Sequence[str] = ()  # places that cannot be, one line each
    back: str = ""  # what the way back came to, if there was something to take back
    left: list[str] = field(default_factory=list)  # what it could not take back, one line each


def tally(attempts: Sequence[Attempt]) -> str:
    """What was tried in vain, how often: `spot g5.xlarge in us-east-1a: Code (3 times)`."""
    counts = Counter((str(attempt.candidate), attempt.outcome) for attempt in attempts)
    items = [
        f"{candidate}: {outcome}{f' ({times} times)' if times > 1 else ''}"
        for (candidate, outcome), times in counts.items()
    ]
    more = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
