"""Take machines back: deregister their runners and terminate them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_ending import IDS_A_TERMINATION
from runner_fleet.ec2_model import ENDED_STATES, Instance, Termination
from runner_fleet.errors import CloudError, GitHubError, gathered
from runner_fleet.github import GitHub, Runner
from runner_fleet.provisioning.identity import LABEL_TAG, OWN_LABEL, instance_of, is_jit

SECOND_LOOK = 3.0
"""Seconds: within them an instance that is told to shut down ends its programs."""

UNKNOWN_PAUSES = (1.0, 2.0, 4.0)
"""Seconds between tries to terminate an instance that EC2 does not know: a new one may take a
moment to be known everywhere (EC2 developer guide, eventual consistency)."""

MOST_FAILURES = 3
"""Removals that fail in a row, after which no other is tried."""

_BUSY = 422  # GitHub's status when a runner with a job is to be deleted


@dataclass
class Taken:
    """What was taken back, and what could not be."""

    terminated: list[str] = field(default_factory=list)  # ids of instances that we ended
    ended_before: list[str] = field(default_factory=list)  # ids of instances that had ended already
    unknown: list[str] = field(default_factory=list)  # instance ids EC2 does not know
    left: list[str] = field(default_factory=list)  # ids of instances that may still run
    removed: list[str] = field(default_factory=list)  # names of runners
    gone: list[str] = field(default_factory=list)  # names of runners that went before we came
    busy: list[str] = field(default_factory=list)  # names of runners that still had a job
    problems: list[str] = field(default_factory=list)  # one line each
    seen: dict[str, Instance] = field(default_factory=dict)  # as they were before, where EC2 said
    region_of: dict[str, str] = field(default_factory=dict)  # by instance id, where it is known

    @property
    def accounted(self) -> set[str]:
        """Ids of all instances of which it is known what became."""
        return {*self.terminated, *self.ended_before, *self.unknown, *self.left}

    def add(self, other: Taken) -> None:
        """Take over what was done elsewhere."""
        self.terminated += other.terminated
        self.ended_before += other.ended_before
        self.unknown += other.unknown
        self.left += other.left
        self.removed += other.removed
        self.gone += other.gone
        self.busy += other.busy
        self.problems += other.problems
        self.seen |= other.seen
        self.region_of |= other.region_of


def take_back(
    ids: Iterable[str],
    labels: Iterable[str],
    ec2: Ec2,
    github: GitHub,
    sleep: Callable[[float], None],
) -> Taken:
    """Terminate the instances and remove the registrations of their runners.

    One TerminateInstances for all, one runner listing, one DELETE for each runner that is still
    registered. Instances go first: they cost money. Trouble with one service does not keep the
    other from being cleaned up.

    An instance that lived until now and has no online runner may be about to register one: then
    the runners are listed once more, when it has shut down that far.
    """
    taken = Taken()
    end_instances(ids, ec2, taken, sleep)
    remove_runners(dict.fromkeys(taken.accounted, ""), labels, github, taken, sleep)
    return taken


def end_instances(
    ids: Iterable[str], ec2: Ec2, taken: Taken, sleep: Callable[[float], None]
) -> None:
    """Terminate instances of one region, and note what became of each."""
    wanted = left = list(dict.fromkeys(ids))
    for pause in (*UNKNOWN_PAUSES, None):
        unknown: list[str] = []
        for first in range(0, len(left), IDS_A_TERMINATION):
            some = left[first : first + IDS_A_TERMINATION]
            with gathered(taken.problems):
                unknown += _terminate(some, ec2, taken, sleep)
        left = unknown
        if not left or pause is None:
            break
        sleep(pause)
    taken.unknown += left
    taken.problems[:] = dict.fromkeys(taken.problems)
    known = taken.accounted
    taken.left += [key for key in wanted if key not in known]


def remove_runners(
    mapping: Mapping[str, str],
    labels: Iterable[str],
    github: GitHub,
    taken: Taken,
    sleep: Callable[[float], None],
) -> None:
    """Remove the registrations of instances, which have been told to end.

    `mapping` is instance id to own label, empty where it is not known; `labels` are further ones.
    A runner is known by the instance id in its name or by its label. One that came of a
    just-in-time configuration cannot come back once it is removed; any other may yet register.
    """
    own = {label.lower() for label in (*mapping.values(), *labels)}
    names = {label for label in own if re.fullmatch(OWN_LABEL, label)}
    settled: set[str] = set()
    with gathered(taken.problems):
        for pause in (0.0, SECOND_LOOK):
            sleep(pause)
            ours = [one for one in github.runners() if _is_ours(one, mapping, names)]
            delete_runners(ours, github, taken)
            _look_for_strays(ours, mapping, taken)
            _look_for_lost(ours, taken)
            settled |= {key for one in ours if one.online for key in _instances(one, mapping)}
            settled |= {key for one in ours if is_jit(one.name) for key in _instances(one, mapping)}
            if settled.issuperset(taken.terminated):
                break


def _terminate(
    ids: Sequence[str], ec2: Ec2, taken: Taken, sleep: Callable[[float], None]
) -> list[str]:
    """Note what became of them; those that EC2 does not know."""
    done = _terminate_surely(ids, ec2, sleep)
    for key, state in done.before.items():
        (taken.ended_before if state in ENDED_STATES else taken.terminated).append(key)
    taken.problems += [line for error in done.refused for line in error.lines]
    return done.unknown


def _terminate_surely(ids: Sequence[str], ec2: Ec2, sleep: Callable[[float], None]) -> Termination:
    """Once more when the answer was none: botocore does not repeat what it could not read."""
    try:
        return ec2.terminate(ids)
    except CloudError as error:
        if not error.transient:
            raise
    sleep(UNKNOWN_PAUSES[0])
    return ec2.terminate(ids, again=True)


def delete_runners(runners: Iterable[Runner], github: GitHub, taken: Taken) -> None:
    """Remove registrations, and note what became of each.

    After some failures in a row the rest is left: each costs several tries.
    """
    failures = 0
    for runner in runners:
        if runner.name in taken.busy:
            continue
        if failures == MOST_FAILURES:
            line = (
                "GitHub refuses one removal after another: registrations that are left over go by "
                "themselves when their runners have been offline for a day"
            )
            taken.problems += [line] if line not in taken.problems else []
            return
        try:
            there = github.delete_runner(runner.id)
        except GitHubError as error:
            if error.status != _BUSY:
                failures += 1
                taken.problems.extend(error.lines)
            else:
                taken.busy.append(runner.name)
            continue
        failures = 0
        known = taken.removed if there else taken.gone
        if runner.name not in taken.removed:
            known.append(runner.name)


def _look_for_strays(runners: Iterable[Runner], mapping: Mapping[str, str], taken: Taken) -> None:
    """EC2 forgets an instance an hour after its end: what is online must be somewhere else."""
    for runner in runners:
        strays = sorted(_instances(runner, mapping).intersection(taken.unknown))
        if runner.online and strays:
            line = (
                f"{strays[0]}: EC2 does not know this instance, but its runner {runner.name} is "
                "online: it runs in another region or account. Give the credentials and "
                "aws_region_name that started it"
            )
            if line not in taken.problems:
                taken.problems.append(line)


def _look_for_lost(runners: Iterable[Runner], taken: Taken) -> None:
    """A runner is online though all regions were asked, and none has an instance of its fleet."""
    online = [runner.name for runner in runners if runner.online]
    if online and not taken.accounted and not taken.problems:
        line = (
            f"no instance of this fleet was found, but its runner {online[0]} is online: it runs "
            "in another region or account. Give the credentials and aws_region_name that started it"
        )
        taken.problems.append(line)


def _is_ours(runner: Runner, ids: Collection[str], labels: set[str]) -> bool:
    return instance_of(runner.name) in ids or not labels.isdisjoint(runner.labels)


def _instances(runner: Runner, mapping: Mapping[str, str]) -> set[str]:
    """The instances that a runner may be of: the one it is named after, or those of its label."""
    named = instance_of(runner.name)
    if named is not None:
        return {named}
    return {key for key, label in mapping.items() if label.lower() in runner.labels}


def own_label(instance: Instance) -> str:
    """The label of an instance's runner, where its tags tell; empty otherwise."""
    return instance.tags.get(LABEL_TAG, "")
