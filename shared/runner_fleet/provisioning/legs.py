"""Whose instances are these: this job's own, or those of a sibling in a matrix?

All jobs of a matrix share run, attempt and job key. What tells them apart is the name that GitHub
shows: `Run Matrix Test (g4dn.xlarge) / stop` for a job of a called workflow, `stop (g4dn.xlarge)`
for one of a matrix. Jobs whose names have the same calls and the same entry make one leg. A job
that was given a `name:` need not tell any of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runner_fleet.github_runs import Job
from runner_fleet.provisioning.identity import is_runner_of, plain_job


class Leg(NamedTuple):
    """Which part of a workflow a job belongs to."""

    call: str  # the names of the calling jobs, entry included; empty outside of called workflows
    entry: str  # the job's own matrix values; empty without a matrix

    @classmethod
    def of(cls, job: str) -> Leg:
        call, _, own = job.rpartition(" / ")
        rest = own[len(_own_name(job)) + 2 :]
        return cls(call, rest[:-1] if rest.endswith(")") else "")

    def is_another(self, other: Leg) -> bool:
        """Whether they surely are two legs: not when only one of them has a matrix."""
        if self.call != other.call:
            return True
        return bool(self.entry and other.entry) and self.entry != other.entry


class Starter(NamedTuple):
    """Who started an instance, or who asks: a job, by its runner and its key in the workflow."""

    runner: str
    job: str

    def is_named_by_key(self, job: Job) -> bool:
        """Whether the job shows the name that GitHub makes of its key, so that it has no other."""
        return plain_job(_own_name(job.name)) == self.job


@dataclass(frozen=True)
class Verdict:
    """The ids of instances, by whose they are."""

    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    why: str = ""  # the doubt
    passing: bool = False  # the doubt may be gone in a moment: GitHub's list lags behind


def whose(
    started_by: Mapping[str, Starter],
    labels: Mapping[str, str],
    jobs: Sequence[Job],
    me: Starter,
) -> Verdict:
    """Tell apart the living instances of one attempt of a run.

    `started_by` gives for each the job that started it, `labels` the label of its runner, where it
    is known. `jobs` are all of the attempt, and `me` is the job that asks. An instance is ours when
    only jobs of our leg had the runner that started it, and no job that may use it is under way. On
    any doubt it is not.
    """
    everything = tuple(started_by)
    mine = [job for job in jobs if job.runner_name == me.runner and job.status == "in_progress"]
    if not me.runner or len(mine) != 1:
        why = f"GitHub's list of this run's jobs does not show this one (runner {me.runner!r})"
        return Verdict(doubtful=everything, why=why, passing=True)
    leg = Leg.of(mine[0].name)
    verdict = _by_leg({key: starter.runner for key, starter in started_by.items()}, jobs, leg)
    if not verdict.ours:
        return verdict
    starters = {started_by[key] for key in verdict.ours}
    others = [job for job in jobs if Leg.of(job.name) == leg and job is not mine[0]]
    doubt = _doubt_about(leg, mine[0], others, {starter.runner for starter in starters})
    users = [job for job in jobs if job is not mine[0] and not job.completed]
    if _all_named_by_key(jobs, mine[0], me, starters):
        legs = _certain_legs(jobs, {me.job, *(starter.job for starter in started_by.values())})
        users = [
            job
            for job in users
            if any(is_runner_of(job.runner_name, key, labels.get(key, "")) for key in verdict.ours)
            or not _is_elsewhere(Leg.of(job.name), leg, legs)
        ]
    if not doubt and users:
        doubt = f"the job {users[0].name!r} is not over and may use them"
    if not doubt:
        return verdict
    return Verdict(
        theirs=verdict.theirs,
        doubtful=(*verdict.ours, *verdict.doubtful),
        why=doubt,
        passing=bool(users),
    )


def _own_name(job: str) -> str:
    """A job's name without calls and matrix values: its key, unless it was given another."""
    return job.rpartition(" / ")[2].partition(" (")[0]


def _all_named_by_key(
    jobs: Sequence[Job], mine: Job, me: Starter, starters: Collection[Starter]
) -> bool:
    """Whether the names of this job and of those that started something tell their legs."""
    return me.is_named_by_key(mine) and all(
        starter.is_named_by_key(job)
        for starter in starters
        for job in jobs
        if job.runner_name == starter.runner
    )


def _certain_legs(jobs: Sequence[Job], keys: Collection[str]) -> set[Leg]:
    """The legs of jobs that show their keys, of which these are known."""
    return {Leg.of(job.name) for job in jobs if plain_job(_own_name(job.name)) in keys}


def _is_elsewhere(leg: Leg, ours: Leg, certain: Collection[Leg]) -> bool:
    """Whether a job surely is of another leg: what looks like an entry may be part of a name."""
    return leg.is_another(ours) and (leg.call != ours.call or leg in certain)


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
    if "..." in leg.call or "..." in leg.entry or mine.name.endswith("..."):
        return f"GitHub shows the name {mine.name!r} shortened"
    if len(starters) > 1:
        return f"several jobs beside {mine.name!r} started instances"
    return ""
