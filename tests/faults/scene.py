"""The fleet that is struck, and the siblings that nobody may touch."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner_fleet.provisioning.identity import Caller, Fleet, runner_name
from sandbox.world import REPOSITORY, World

from tests.actions.leftovers import workflow_run

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

ELSEWHERE = "octo-org/other-project"
JOB, STOP_JOB = "start-aws-runner", "stop-aws-runner"
COUNT = 3  # instances of each fleet that is struck
OUR_RUNNER, TWINS_RUNNER, STOPS_RUNNER = (f"GitHub Actions {number}" for number in (1, 2, 3))
OUR_CALL, TWINS_CALL = "Run Matrix Test (g4dn.xlarge)", "Run Matrix Test (g4dn.2xlarge)"
JOBS = [
    (f"{OUR_CALL} / {JOB}", OUR_RUNNER, "completed"),
    (f"{OUR_CALL} / {STOP_JOB}", STOPS_RUNNER, "in_progress"),
    (f"{TWINS_CALL} / {JOB}", TWINS_RUNNER, "completed"),
    (f"{TWINS_CALL} / test", "the twin's", "in_progress"),
]
"""Of our run, as GitHub lists them when its stop job runs: name, runner, status."""

OWN_SERVER = "build-server-1"
"""A runner of somebody's own: registered, switched off, and no instance at all."""


@dataclass(frozen=True)
class Machines:
    """A fleet that runs: the ids of its instances, the names of its runners."""

    fleet: Fleet
    mapping: dict[str, str]  # instance id to label
    runners: tuple[str, ...]


@dataclass
class Scene:
    """A world with a run of ours under way, and others beside it."""

    world: World
    ec2: EC2Client
    run_id: int = 0
    twin: Machines = field(init=False)  # another matrix entry of our run
    strangers: list[Machines] = field(default_factory=list)  # of another run, another repository
    _labels: Callable[[], str] = field(init=False)

    def __post_init__(self) -> None:
        numbers = itertools.count()
        self._labels = lambda: f"runner-zz{next(numbers):06}"
        self.world.reset()
        github = self.world.github
        github.add_repository(ELSEWHERE)
        self.run_id = int(workflow_run(self.world, *JOBS))
        other = github.add_run(REPOSITORY, status="in_progress").id
        elsewhere = github.add_run(ELSEWHERE, status="in_progress").id
        github.add_runner(REPOSITORY, OWN_SERVER, ["self-hosted"], status="offline")
        self.twin = self.fleet(REPOSITORY, self.run_id, 1, TWINS_RUNNER)
        (test,) = (job for job in github.jobs(REPOSITORY) if job.runner_name == JOBS[-1][1])
        github.set_job(test.id, runner_name=self.twin.runners[0])
        self.strangers = [self.fleet(REPOSITORY, other, 1), self.fleet(ELSEWHERE, elsewhere, 1)]
        self.world.calls.clear()

    def fleet(
        self, repository: str, run_id: int, count: int, starter: str = OUR_RUNNER
    ) -> Machines:
        """A fleet as start-runner leaves it, its runners online."""
        caller = Caller(repository, str(run_id), "1", JOB, starter)
        fleet = Fleet.create(caller, repository, count, self._labels)
        self.world.ec2.rules.boot(never=True, times=count)
        tags = [{"Key": key, "Value": value} for key, value in fleet.tags().items()]
        image = self.ec2.describe_images(
            Owners=["amazon"], Filters=[{"Name": "architecture", "Values": ["x86_64"]}]
        )["Images"][0]["ImageId"]
        reply = self.ec2.run_instances(
            ImageId=image,
            InstanceType="g4dn.xlarge",
            MinCount=count,
            MaxCount=count,
            InstanceInitiatedShutdownBehavior="terminate",
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],  # type: ignore[misc, list-item]
        )
        ids = [item["InstanceId"] for item in reply["Instances"]]
        mapping = dict(zip(ids, fleet.labels, strict=True))
        names = tuple(runner_name(label, key) for key, label in mapping.items())
        for name, label in zip(names, fleet.labels, strict=True):
            self.world.github.add_runner(repository, name, [label], ephemeral=True)
        return Machines(fleet, mapping, names)

    def end_run(self) -> None:
        """Our run is over: what it left is an orphan."""
        github = self.world.github
        for job in github.jobs(REPOSITORY):
            if job.run_id == self.run_id:
                github.set_job(job.id, status="completed", conclusion="failure")
        github.close_run(self.run_id)

    def lose_connections(self) -> None:
        """Time passes: GitHub notices which runners' instances have ended."""
        self.world.ec2.settle()
        live = self._live()
        for runner in self.world.github.runners():
            if runner.name != OWN_SERVER and not runner.name.endswith(tuple(live)):
                self.world.github.set_runner(runner.id, status="offline")

    def environment(self, action: str) -> dict[str, str]:
        """Of a step of our run; each of its jobs has a runner of its own."""
        starts = action == "start-runner"
        return {
            "GITHUB_RUN_ID": str(self.run_id),
            "GITHUB_JOB": JOB if starts else STOP_JOB,
            "RUNNER_NAME": OUR_RUNNER if starts else STOPS_RUNNER,
        }

    def our_instances(self) -> list[str]:
        """Those that live."""
        siblings = [self.twin, *self.strangers]
        theirs = {key for machines in siblings for key in machines.mapping}
        return [key for key in self._live() if key not in theirs]

    def left(self) -> list[str]:
        """Our instances and registrations that are still there."""
        self.world.ec2.settle()
        siblings = [self.twin, *self.strangers]
        runners = {name for machines in siblings for name in machines.runners} | {OWN_SERVER}
        return [
            *(f"instance {key}" for key in self.our_instances()),
            *(f"runner {name}" for name in self._registered() if name not in runners),
        ]

    def harmed(self, *, run_is_over: bool) -> list[str]:
        """What is missing of the siblings. The twin's run is ours: when it is over, it may go."""
        siblings = self.strangers if run_is_over else [self.twin, *self.strangers]
        live, registered = set(self._live()), set(self._registered())
        return [
            *_missing((key for one in siblings for key in one.mapping), live),
            *_missing((name for one in siblings for name in one.runners), registered),
            *_missing([OWN_SERVER], registered),
        ]

    def _live(self) -> list[str]:
        ended = ("shutting-down", "terminated")
        return [one.id for one in self.world.ec2.instances() if one.state not in ended]

    def _registered(self) -> list[str]:
        return [runner.name for runner in self.world.github.runners()]


def stop_inputs(outputs: Mapping[str, str]) -> dict[str, str]:
    """What a stop job gets of a start's outputs, whatever there is of them."""
    inputs = {
        "instance_mapping": outputs.get("mapping", ""),
        "fleet_id": outputs.get("fleet_id", ""),
        "aws_region_name": outputs.get("region", ""),
    }
    return {name: value for name, value in inputs.items() if value}


def outputs_of(machines: Machines) -> dict[str, str]:
    """The outputs of the start that would have launched them."""
    return {
        "mapping": json.dumps(machines.mapping),
        "fleet_id": machines.fleet.id,
        "region": "us-east-1",
    }


def _missing(wanted: Iterable[str], there: set[str]) -> list[str]:
    return [f"{name} of a sibling" for name in wanted if name not in there]
