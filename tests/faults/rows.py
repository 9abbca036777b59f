"""The actions that are struck: one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.world import REPOSITORY

from tests.faults.scene import COUNT, Scene, outputs_of, stop_inputs

START = {
    "aws_image_name": "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)",
    "aws_instance_type": "g4dn.xlarge",
    "aws_home_dir": "/home/ubuntu",
    "instance_count": str(COUNT),
    "gh_timeout": "20",
    "capacity_timeout": "5",
}
SWEEP = {
    "sweep": "orphans",
    "dry_run": "false",
    "min_age_minutes": "0",
    "aws_region_name": "us-east-1",
}


@dataclass(frozen=True)
class Row:
    """An action as it is struck. `prepare` makes what it works on, and gives its inputs.

    `only` names the calls by which it differs from the rows before; empty: all. `unheard`: its
    outputs do not reach the stop job.
    """

    name: str
    action: str
    prepare: Callable[[Scene], dict[str, str]]
    only: tuple[str, ...] = ()
    fails: bool = False  # also undisturbed
    unheard: bool = False


def _failing_start(scene: Scene) -> dict[str, str]:
    """One of its instances never boots, so that it takes back all."""
    scene.world.ec2.rules.boot(never=True, times=1)
    return START | {"gh_timeout": "4"}


def _stop(scene: Scene) -> dict[str, str]:
    return stop_inputs(outputs_of(scene.fleet(REPOSITORY, scene.run_id, COUNT)))


def _stop_by_id(scene: Scene) -> dict[str, str]:
    inputs = _stop(scene)
    del inputs["instance_mapping"]
    return inputs


def _sweep(scene: Scene) -> dict[str, str]:
    scene.fleet(REPOSITORY, scene.run_id, COUNT)
    scene.end_run()
    return SWEEP


_JIT = ("POST runners/generate-jitconfig", "RunInstances")
_TAKING_BACK = ("TerminateInstances", "GET runners", "DELETE runners/{id}")

ROWS = [
    Row("start", "start-runner", lambda _: START),
    Row("start-unheard", "start-runner", lambda _: START, ("RunInstances",), unheard=True),
    Row("start-jit", "start-runner", lambda _: START | {"registration": "jit"}, _JIT),
    Row("failing-start", "start-runner", _failing_start, _TAKING_BACK, fails=True),
    Row("stop", "stop-runner", _stop),
    Row("stop-by-id", "stop-runner", _stop_by_id, ("DescribeInstances",)),
    Row("sweep", "stop-runner", _sweep),
]
