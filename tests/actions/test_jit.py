"""Runners that are registered before their instances are launched: all of them, or none."""

from __future__ import annotations

import json
import signal

import pytest
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, World

from tests.actions.harness import Actions, until
from tests.actions.test_start import INPUTS, assert_nothing_left, live

JIT = INPUTS | {"registration": "jit"}
THREE = JIT | {"instance_count": "3", "extra_gh_labels": "gpu"}


def test_each_instance_is_the_one_runner_it_was_launched_for(
    actions: Actions, world: World
) -> None:
    result = actions.run("start-runner", THREE)
    assert result.status == 0, result.log
    mapping = json.loads(result.outputs["mapping"])
    assert list(mapping) == live(world)
    assert json.loads(result.outputs["instances"]) == list(mapping.values())
    (shared,) = json.loads(result.outputs["runs_on"])
    mark = f"runner-{result.outputs['fleet_id'][-8:]}"
    runners = {runner.labels[0].name: runner for runner in world.github.runners()}
    assert sorted(runners) == sorted(mapping.values())
    for label, runner in runners.items():
        assert (runner.jit, runner.status) == (True, "online")
        assert runner.name == f"{label}-jit-77-1"
        assert runner.label_names == [label, shared, mark, "gpu"]
        assert runner.name in result.summary
    tags = {instance.id: instance.tags["runner-fleet:label"] for instance in world.ec2.instances()}
    assert tags == mapping
    assert world.calls.count(f"POST /repos/{REPOSITORY}/actions/runners/registration-token") == 0
    configs = [line for line in result.log.splitlines() if line.startswith("::add-mask::ey")]
    assert len(configs) == 3


def test_a_job_runs_on_it_and_stop_takes_the_others_back(actions: Actions, world: World) -> None:
    started = actions.run("start-runner", JIT | {"instance_count": "2"})
    assert started.status == 0, started.log
    first, _ = json.loads(started.outputs["instances"])
    world.github.queue_job(REPOSITORY, None, "test", [first])
    until(lambda: world.github.jobs()[0].runner_name == f"{first}-jit-77-1", "the job runs on it")
    stopped = actions.run("stop-runner", {"instance_mapping": started.outputs["mapping"]})
    assert stopped.status == 0, stopped.log
    assert live(world) == []


@pytest.mark.parametrize("skip", [0, 2])
def test_when_one_cannot_be_registered_none_is_and_nothing_is_launched(
    actions: Actions, world: World, skip: int
) -> None:
    path = f"POST /repos/{REPOSITORY}/actions/runners/generate-jitconfig$"
    message = "Validation Failed"
    world.faults.add(Fault(path, status=422, message=message, skip=skip, times=None))
    result = actions.run("start-runner", THREE)
    assert result.status == 1
    assert result.errors[0].startswith("GitHub does not register the runner: 422")
    assert world.ec2.instances() == []
    assert_nothing_left(world)


def test_when_one_cannot_be_launched_all_are_taken_back(actions: Actions, world: World) -> None:
    world.ec2.rules.capacity(2, instance_type="g4dn.xlarge")
    result = actions.run("start-runner", THREE)
    assert result.status == 1
    assert_nothing_left(world)


def test_with_min_count_registrations_without_a_machine_are_removed(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.capacity(2, instance_type="g4dn.xlarge")
    result = actions.run("start-runner", THREE | {"min_count": "2"})
    assert result.status == 0, result.log
    assert len(live(world)) == len(world.github.runners()) == 2
    assert len(json.loads(result.outputs["mapping"])) == 2


def test_registrations_that_cannot_be_removed_do_not_end_a_fleet_that_is_large_enough(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.capacity(2, instance_type="g4dn.xlarge")
    path = rf"DELETE /repos/{REPOSITORY}/actions/runners/\d+$"
    world.faults.add(Fault(path, status=403, message="Forbidden", times=None))
    result = actions.run("start-runner", THREE | {"instance_count": "4", "min_count": "2"})
    assert result.status == 0, result.log
    assert "::warning::2 registrations left for stop-runner to remove: " in result.log
    assert world.calls.count(f"DELETE /repos/{REPOSITORY}/actions/runners/") == 1
    assert len(live(world)) == 2
    world.faults.clear()
    stopped = actions.run("stop-runner", {"fleet_id": result.outputs["fleet_id"]})
    assert stopped.status == 0, stopped.log
    assert_nothing_left(world)


def test_a_start_killed_between_registration_and_launch_is_cleaned_up_by_its_id(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("RunInstances", delay=600))
    running = actions.begin("start-runner", THREE)
    until(lambda: len(world.github.runners()) == 3, "three registrations")
    running.signal(signal.SIGKILL)
    killed = running.result()
    sibling = world.github.add_runner(REPOSITORY, "runner-zzzzzzz9-jit-77-1", ["runner-zzzzzzz9"])
    stopped = actions.run("stop-runner", {"fleet_id": killed.outputs["fleet_id"]})
    assert stopped.status == 0, stopped.log
    assert [runner.id for runner in world.github.runners()] == [sibling.id]
