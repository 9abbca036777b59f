"""start-runner and stop-runner killed at every API call; one stop later nothing is left."""

from __future__ import annotations

import signal

import pytest
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, World

from tests.actions.harness import Actions, Running, aws, until
from tests.actions.test_start import INPUTS, live

RUNNERS = f"/repos/{REPOSITORY}/actions/runners"
# Of the calls before the launch one stands for all: none leaves anything.
START_CALLS = [
    "DescribeImages",
    "RunInstances",
    "DescribeInstances$",
    f"GET {RUNNERS}$",
]
STOP_CALLS = ["DescribeInstances$", "TerminateInstances", f"GET {RUNNERS}$", f"DELETE {RUNNERS}/"]
IN_FLIGHT = 0.3  # seconds that a call takes until it has its effect


@pytest.fixture
def sibling(world: World) -> str:
    """An instance and a runner of another fleet, which nobody may touch."""
    ec2 = aws(world, "ec2")
    image = ec2.describe_images(
        Owners=["amazon"], Filters=[{"Name": "architecture", "Values": ["x86_64"]}]
    )["Images"][0]["ImageId"]
    tags = [{"Key": "runner-fleet:fleet-id", "Value": "77-1-start-aws-runner-sibling0"}]
    instance = ec2.run_instances(
        ImageId=image,
        InstanceType="g4dn.xlarge",
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],  # type: ignore[misc, list-item]
    )["Instances"][0]["InstanceId"]
    ec2.close()
    world.github.add_runner(REPOSITORY, f"runner-sibling0-{instance}", ["runner-sibling0"])
    world.calls.clear()
    return instance


def kill_at(world: World, running: Running, operation: str, moment: str) -> bool:
    """Kill the action during the call, or as soon as it has its reply; False if it ended first."""
    slow = Fault(operation, delay=IN_FLIGHT)
    world.faults.add(slow)

    def arrived() -> bool:
        return slow.times == 0 or running.process.poll() is not None

    until(arrived, f"{operation} is called")
    if moment == "after":
        replies = len(world.calls.all())
        until(
            lambda: len(world.calls.all()) > replies or running.process.poll() is not None,
            f"{operation} is answered",
        )
    killed = running.process.poll() is None
    running.signal(signal.SIGKILL)
    return killed


def assert_only_the_sibling_is_left(world: World, sibling: str) -> None:
    assert live(world) == [sibling]
    assert [runner.name for runner in world.github.runners()] == [f"runner-sibling0-{sibling}"]


@pytest.mark.parametrize("moment", ["during", "after"])
@pytest.mark.parametrize("operation", START_CALLS)
def test_a_start_killed_at_any_call_is_cleaned_up_by_stop(
    actions: Actions, world: World, sibling: str, operation: str, moment: str
) -> None:
    running = actions.begin("start-runner", INPUTS | {"instance_count": "2"})
    assert kill_at(world, running, operation, moment)
    left = running.result().outputs
    inputs = {"instance_mapping": left.get("mapping", ""), "fleet_id": left["fleet_id"]}
    result = actions.run("stop-runner", inputs)
    assert result.status == 0, result.log
    assert_only_the_sibling_is_left(world, sibling)


@pytest.mark.parametrize("moment", ["during", "after"])
@pytest.mark.parametrize("operation", STOP_CALLS)
def test_a_stop_killed_at_any_call_is_finished_by_the_next(
    actions: Actions, world: World, sibling: str, operation: str, moment: str
) -> None:
    outputs = actions.run("start-runner", INPUTS | {"instance_count": "2"}).outputs
    inputs = {"instance_mapping": outputs["mapping"], "fleet_id": outputs["fleet_id"]}
    running = actions.begin("stop-runner", inputs)
    assert kill_at(world, running, operation, moment)
    running.result()
    result = actions.run("stop-runner", inputs)
    assert result.status == 0, result.log
    assert_only_the_sibling_is_left(world, sibling)
