"""Take machines back: deregister their runners and terminate them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import ENDED_STATES, Termination
from runner_fleet.errors import CloudError, GitHubError, gathered
from runner_fleet.github import GitHub, Runner
from runner_fleet.provisioning.identity import OWN_LABEL, instance_of

SECOND_LOOK = 3.0
"""Seconds: within them an instance that is told to shut down ends its programs."""

UNKNOWN_PAUSES = (1.0, 2.0, 4.0)
"""Seconds between tries to terminate an instance that EC2 does not know: a new one may take a
moment to be known everywhere (EC2 developer guide, eventual consistency)."""

_BUSY = 422  # GitHub's status when a runner with a job is to be deleted


@dataclass
class Taken:
    """What was taken back, and what could not be."""

    terminated: list[str] = field(default_factory=list)  # ids of instances that we ended
    ended_before: list[str] = field(default_factory=list)  # ids of instances that had ended already
    unknown: list[str] = field(default_factory=list)  # instance ids EC2 does not know
    left: list[str] = field(default_factory=list)  # ids of instances that may still run
    removed: list[str] = field(default_factory=list)  # names of runners
    busy: list[str] = field(default_factory=list)  # names of runners that still had a job
    problems: list[str] = field(default_factory=list)  # one line each


def take_back(
    ids: Iterable[str],
    labels: Iterable[str],
    ec2: Ec2,
    github: GitHub | None,
    sleep: Callable[[float], None],
) -> Taken:
    """Terminate the instances and remove the registrations of their runners.

    One TerminateInstances for all, one runner listing, one DELETE for each runner that is still
    registered. Instances go first: they cost money. Trouble with one service does not keep the
    other from being cleaned up; without `github` only the instances are.

    An instance that lived until now and has no online runner may be about to register one: then
    the runners are listed once more, when it has shut down that far.
    """
    wanted = list(dict.fromkeys(ids))
    taken = Taken()
    with gathered(taken.problems):
        _terminate(wanted, ec2, taken, sleep)
    done = {*taken.terminated, *taken.ended_before, *taken.unknown}
    taken.left = [key for key in wanted if key not in done]
    if github is None:
        return taken
    names = {label.lower() for label in labels if re.fullmatch(OWN_LABEL, label.lower())}
    with gathered(taken.problems):
        seen = _deregister(set(wanted), names, github, taken)
        if not seen.issuperset(taken.terminated):
            sleep(SECOND_LOOK)
            _deregister(set(wanted), names, github, taken)
    return taken


def _terminate(
    wanted: Sequence[str], ec2: Ec2, taken: Taken, sleep: Callable[[float], None]
) -> None:
    left = list(wanted)
    for pause in (*UNKNOWN_PAUSES, None):
        done = _terminate_surely(left, ec2, sleep)
        for key, state in done.before.items():
            (taken.ended_before if state in ENDED_STATES else taken.terminated).append(key)
        left = done.unknown
        if not left or pause is None:
            break
        sleep(pause)
    taken.unknown = left


def _terminate_surely(ids: Sequence[str], ec2: Ec2, sleep: Callable[[float], None]) -> Termination:
    """Once more when the answer was none: botocore does not repeat what it could not read."""
    try:
        return ec2.terminate(ids)
    except CloudError as error:
        if not error.transient:
            raise
    sleep(UNKNOWN_PAUSES[0])
    return ec2.terminate(ids)


def _deregister(ids: set[str], labels: set[str], github: GitHub, taken: Taken) -> set[str | None]:
    """Remove what is registered now; returns the instances whose runner was there and online."""
    ours = [runner for runner in github.runners() if _is_ours(runner, ids, labels)]
    for runner in ours:
        if runner.name in taken.busy:
            continue
        try:
            if github.delete_runner(runner.id) and runner.name not in taken.removed:
                taken.removed.append(runner.name)
        except GitHubError as error:
            if error.status != _BUSY:
                taken.problems.extend(error.lines)
            else:
                taken.busy.append(runner.name)
    return {instance_of(runner.name) for runner in ours if runner.online}


def _is_ours(runner: Runner, ids: set[str], labels: set[str]) -> bool:
    return instance_of(runner.name) in ids or not labels.isdisjoint(runner.labels)
