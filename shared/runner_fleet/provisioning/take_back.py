"""Take machines back: deregister their runners and terminate them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from runner_fleet.ec2 import ENDED_STATES, Ec2
from runner_fleet.errors import FleetError, GitHubError
from runner_fleet.github import GitHub, Runner
from runner_fleet.provisioning.identity import instance_of

SECOND_LOOK = 3.0
"""Seconds: within them an instance that is told to shut down ends its programs."""

_BUSY = 422  # GitHub's status when a runner with a job is to be deleted


@dataclass
class Taken:
    """What was taken back, and what could not be."""

    terminated: list[str] = field(default_factory=list)  # ids of instances that we ended
    ended_before: list[str] = field(default_factory=list)  # ids of instances that had ended already
    unknown: list[str] = field(default_factory=list)  # instance ids EC2 does not know
    removed: list[str] = field(default_factory=list)  # names of runners
    busy: list[str] = field(default_factory=list)  # names of runners that still had a job
    problems: list[str] = field(default_factory=list)  # one line each


def take_back(
    ids: Iterable[str],
    labels: Iterable[str],
    ec2: Ec2,
    github: GitHub,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> Taken:
    """Terminate the instances and remove the registrations of their runners.

    One TerminateInstances for all, one runner listing, one DELETE for each runner that is still
    registered. Instances go first: they cost money. Trouble with one service does not keep the
    other from being cleaned up.

    An instance that lived until now and has no registration may be about to get one: then the
    runners are listed once more, when it has shut down that far.
    """
    wanted = list(dict.fromkeys(ids))
    taken = Taken()
    try:
        for key, state in ec2.terminate(wanted, taken.unknown.append).items():
            (taken.ended_before if state in ENDED_STATES else taken.terminated).append(key)
    except FleetError as error:
        taken.problems.extend(error.lines)
    for name in taken.unknown:
        say(f"{name}: EC2 does not know this instance, or it has ended")
    known, names = set(wanted), {label.lower() for label in labels}
    try:
        seen = _deregister(known, names, github, taken)
        if not seen.issuperset(taken.terminated):
            sleep(SECOND_LOOK)
            _deregister(known, names, github, taken)
    except GitHubError as error:
        taken.problems.extend(error.lines)
    return taken


def _deregister(ids: set[str], labels: set[str], github: GitHub, taken: Taken) -> set[str | None]:
    """Remove what is registered now; returns the instances whose runner it was."""
    ours = [runner for runner in github.runners() if _is_ours(runner, ids, labels)]
    for runner in ours:
        if runner.name in taken.removed or runner.name in taken.busy:
            continue  # a list may be a moment old
        try:
            github.delete_runner(runner.id)
        except GitHubError as error:
            if error.status != _BUSY:
                taken.problems.extend(error.lines)
            else:
                taken.busy.append(runner.name)
        else:
            taken.removed.append(runner.name)
    return {instance_of(runner.name) for runner in ours}


def _is_ours(runner: Runner, ids: set[str], labels: set[str]) -> bool:
    return instance_of(runner.name) in ids or not labels.isdisjoint(runner.labels)
