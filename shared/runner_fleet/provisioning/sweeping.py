"""What a sweep may end: instances that no run needs any more, registrations without an instance.

Nothing here asks anybody: what is not known for certain is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from runner_fleet.ec2_model import Instance
from runner_fleet.github import Runner
from runner_fleet.github_access import REPOSITORY_NAME
from runner_fleet.github_runs import WorkflowRun
from runner_fleet.provisioning.identity import (
    ATTEMPT_TAG,
    FLEET_TAG,
    LABEL_TAG,
    RUN_REPOSITORY_TAG,
    RUN_TAG,
    jit_run_of,
    own_instance_of,
)


class RunKey(NamedTuple):
    """A workflow run; the id is 0 for what was started by hand."""

    repository: str
    id: str


Runs = Mapping[RunKey, WorkflowRun | None]
"""What GitHub says of runs. None: the run is gone. Absent: nobody can tell."""


@dataclass(frozen=True)
class Opinion:
    """Whether something is an orphan, and why (not). `said` when whoever sweeps must know."""

    orphan: bool
    why: str
    said: bool = True


NEEDED = Opinion(orphan=False, why="it is in use", said=False)


def run_of(instance: Instance) -> RunKey:
    """The run that started an instance, as its tags say."""
    tags = instance.tags
    return RunKey(tags.get(RUN_REPOSITORY_TAG, ""), tags.get(RUN_TAG, "0"))


def is_tagged(instance: Instance) -> bool:
    """Whether all tags are there, and of the form, that start-runner gives an instance."""
    tags = instance.tags
    forms = {
        FLEET_TAG: r".+",
        RUN_REPOSITORY_TAG: rf"({REPOSITORY_NAME})?",
        RUN_TAG: r"[0-9]+",
        ATTEMPT_TAG: r"[0-9]+",
    }
    return all(re.fullmatch(form, tags.get(tag, "")) for tag, form in forms.items())


def is_old(instance: Instance, now: float, min_age: float) -> bool:
    """Whether an instance has lived for `min_age` seconds; not when EC2 does not say."""
    return instance.launched_at > 0 and now - instance.launched_at >= min_age


def about_instance(instance: Instance, runs: Runs, *, busy: bool | None) -> Opinion:
    """Of a living instance that is old enough; `busy`: its runner has a job now. None: nobody can
    tell."""
    if not is_tagged(instance):
        return Opinion(orphan=False, why="its tags are not those of start-runner")
    key = run_of(instance)
    if not key.repository or key.id == "0":
        return Opinion(orphan=False, why="it was started by hand")
    if key not in runs:
        return Opinion(orphan=False, why="its run cannot be read")
    run = runs[key]
    why = "its run is gone" if run is None else _why_over(run, instance.tags.get(ATTEMPT_TAG, ""))
    if not why:
        return NEEDED
    if busy is None:
        return Opinion(orphan=False, why=f"{why}, but its runner may have a job")
    if busy:
        return Opinion(orphan=False, why=f"{why}, but its runner has a job")
    return Opinion(orphan=True, why=why)


def _why_over(run: WorkflowRun, attempt: str) -> str:
    """Why an attempt of a run needs nothing any more; empty when it may."""
    if run.run_attempt < int(attempt):
        return ""
    if run.run_attempt > int(attempt):
        return f"its run is at attempt {run.run_attempt}"
    return "its run is completed" if run.completed else ""


@dataclass(frozen=True)
class Known:
    """What is known of instances when registrations are judged."""

    instances: Mapping[str, Instance]  # by id, in any state, of all regions
    complete: bool  # all regions have answered
    exclusive: bool  # the runners are those of one repository

    @property
    def living_labels(self) -> set[str]:
        return {
            one.tags.get(LABEL_TAG, "").lower() for one in self.instances.values() if not one.ended
        }


def may_be_orphan(runner: Runner) -> bool:
    """Whether a registration has a name of ours, and nobody uses it."""
    ours = own_instance_of(runner.name) is not None or jit_run_of(runner.name) is not None
    return ours and not runner.online and not runner.busy


def about_runner(
    runner: Runner, known: Known, runs: Runs, repositories: Collection[str]
) -> Opinion:
    """Of a registration that may be an orphan. `repositories` are those its run may be of."""
    instance_id = own_instance_of(runner.name)
    if instance_id is not None:
        return _about_named(instance_id, known)
    run = jit_run_of(runner.name)
    if run is None or run[0] in known.living_labels:
        return NEEDED
    if not known.complete:
        return Opinion(orphan=False, why="a region that may have its instance cannot be read")
    found = [runs.get(RunKey(repository, run[1])) for repository in repositories]
    for one in found:
        if one is not None:
            why = _why_over(one, run[2])
            return Opinion(orphan=True, why=why) if why else NEEDED
    return Opinion(orphan=False, why="its run cannot be read, or is gone")


def _about_named(instance_id: str, known: Known) -> Opinion:
    instance = known.instances.get(instance_id)
    if instance is not None:
        return Opinion(orphan=True, why="its instance has ended") if instance.ended else NEEDED
    if not known.complete:
        return Opinion(orphan=False, why="a region that may have its instance cannot be read")
    if not known.exclusive:
        return Opinion(orphan=False, why="its instance is unknown, and may be another repository's")
    return Opinion(orphan=True, why="its instance is gone")
