"""Whose instances are these: this job's own, or those of a sibling in a matrix?

All jobs of a matrix share run, attempt and job key. What tells them apart is the name that GitHub
shows: `Run Matrix Test (g4dn.xlarge) / stop` for a job of a called workflow, `stop (g4dn.xlarge)`
for one of a matrix. Jobs whose names have the same calls and the same entry make one leg.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runner_fleet.github_runs import Job


class Leg(NamedTuple):
    """Which part of a workflow a job belongs to."""

    call: str  # the names of the calling jobs, entry included; empty outside of called workflows
    entry: str  # the job's own matrix values; empty without a matrix

    @classmethod
    def of(cls, job: str) -> Leg:
        call, _, own = job.rpartition(" / ")
        _, _, rest = own.partition(" (")
        return cls(call, rest[:-1] if rest.endswith(")") else "")

    def is_another(self, other: Leg) -> bool:
        """Whether they surely are two legs: not when only one of them has a matrix."""
        if self.call != other.call:
            return True
        return bool(self.entry and other.entry) and self.entry != other.entry


@dataclass(frozen=True)
class Verdict:
    """The ids of instances, by whose they are."""

    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    why: str = ""  # the doubt
    passing: bool = False  # the doubt may be gone in a moment: GitHub's list lags behind


def whose(started_by: Mapping[str, str], jobs: Sequence[Job], runner: str) -> Verdict:
    """Tell apart the living instances of one attempt of a run.

    `started_by` gives for each the runner of the job that started it, `jobs` are all of the
    attempt, and `runner` is the one of the job that asks. An instance is ours when only jobs of our
    leg had the runner that started it. On any doubt it is not.
    """
    everything = tuple(started_by)
    mine = [job for job in jobs if job.runner_name == runner and job.status == "in_progress"]
    if not runner or len(mine) != 1:
        why = f"GitHub's list of this run's jobs does not show this one (runner {runner!r})"
        return Verdict(doubtful=everything, why=why, passing=True)
    leg = Leg.of(mine[0].name)
    verdict = _by_leg(started_by, jobs, leg)
    if not verdict.ours:
        return verdict
    others = [job for job in jobs if Leg.of(job.name) == leg and job is not mine[0]]
    doubt = _doubt_about(leg, mine[0], others, {started_by[key] for key in verdict.ours})
    running = [job.name for job in others if not job.completed]
    if not doubt and running:
        doubt = f"the job {running[0]!r} is not over and may use them"
    if not doubt:
        return verdict
    return Verdict(
        theirs=verdict.theirs,
        doubtful=(*verdict.ours, *verdict.doubtful),
        why=doubt,
        passing=bool(running),
    )


def _by_leg(started_by: Mapping[str, str], jobs: Sequence[Job], leg: Leg) -> Verdict:
    ours, theirs, doubtful, why = [], [], [], ""
    for key, starter in started_by.items():
        legs = {Leg.of(job.name) for job in jobs if starter and job.runner_name == starter}
        if legs == {leg}:
            ours.append(key)
        elif legs and all(leg.is_another(other) for other in legs):
            theirs.append(key)
        else:
            doubtful.append(key)
            why = f"jobs of several matrix entries, or none, ran on the runner {starter!r}"
    return Verdict(tuple(ours), tuple(theirs), tuple(doubtful), why)


def _doubt_about(leg: Leg, mine: Job, others: Sequence[Job], starters: set[str]) -> str:
    """Why the leg may be more than one; empty when it is not."""
    names = Counter(job.name for job in (mine, *others))
    if max(names.values()) > 1:
        return f"several jobs are named {names.most_common(1)[0][0]!r}"
    if "..." in leg.call or "..." in leg.entry:
        return f"GitHub shows the name {mine.name!r} shortened"
    if len(starters) > 1:
        return f"several jobs beside {mine.name!r} started instances"
    return ""
