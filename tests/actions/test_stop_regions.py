"""stop-runner in several regions."""

from __future__ import annotations

import json

from runner_fleet.ec2 import Ec2
from runner_fleet.provisioning.options.stop import stop_options
from runner_fleet.provisioning.own import Own
from runner_fleet.provisioning.report import stopped
from runner_fleet.provisioning.stop import Stop
from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import Actions, hanging
from tests.actions.leftovers import launch
from tests.actions.test_start import live

REGIONS = "us-east-1, eu-west-1"
FLEET = "77-1-start-ab12cd34"


def test_each_instance_ends_where_it_is(actions: Actions, world: World) -> None:
    mapping = {launch(world, region): "runner-ab12cd34" for region in ("us-east-1", "eu-west-1")}
    sibling = launch(world, "eu-west-1")
    world.calls.clear()
    inputs = {"instance_mapping": json.dumps(mapping), "aws_region_name": REGIONS, "wait": "true"}
    result = actions.run("stop-runner", inputs)
    assert result.status == 0, result.log
    assert live(world) == [sibling]
    assert world.calls.count("TerminateInstances") == 2


def test_a_fleet_is_looked_for_in_each(actions: Actions, world: World) -> None:
    launch(world, "eu-west-1", fleet_id=FLEET, usd_per_hour="0.526")
    result = actions.run("stop-runner", {"fleet_id": FLEET, "aws_region_name": REGIONS})
    assert result.status == 0, result.log
    assert live(world) == []
    assert "| Seconds lived | Cost (estimate) |" in result.summary
    assert "| $0.00 |" in result.summary


def test_an_instance_that_no_region_shows_yet_is_looked_for_again(
    actions: Actions, world: World
) -> None:
    instance = launch(world, "eu-west-1")
    stale = Fault("DescribeInstances$", when="stale", stale_seconds=60.0, times=2)
    world.faults.add(stale)
    inputs = {"instance_mapping": json.dumps({instance: "a"}), "aws_region_name": REGIONS}
    result = actions.run("stop-runner", inputs)
    assert result.status == 0, result.log
    assert live(world) == []


def test_a_slow_region_keeps_no_other_waiting(inside: World) -> None:
    """In this process: it decides itself when the time of a region is over."""
    here = launch(inside, "us-east-1", fleet_id=FLEET)
    there = launch(inside, "eu-west-1", fleet_id=FLEET)
    inside.faults.add(Fault("DescribeInstances", region="eu-west-1", delay=600.0, times=None))
    inputs = {
        "instance_mapping": json.dumps({here: "a", there: "b"}),
        "aws_region_name": REGIONS,
        "region_timeout": "60",
    }
    options = stop_options(inputs, inside.environment())
    ec2 = {region: Ec2(region) for region in options.regions}
    with hanging("eu-west-1") as join:
        stop = Stop(options, None, ec2, print, sleep=lambda _seconds: None, join=join)
        taken = stop.take_back()
        inside.faults.clear()
    assert taken.problems == ["eu-west-1: no answer within 60 seconds (region_timeout)"]
    assert (taken.terminated, taken.left) == ([here], [there])
    assert f"| `{there}` | instance | **NOT terminated** |" in stopped(taken, 0.0, ec2, Own())


def test_a_region_that_does_not_answer_is_an_error_after_its_time(
    actions: Actions, world: World
) -> None:
    instance = launch(world, "us-east-1", fleet_id=FLEET)
    world.faults.add(Fault("DescribeInstances", delay=600.0, times=None))
    inputs = {"fleet_id": FLEET, "aws_region_name": REGIONS, "region_timeout": "2"}
    result = actions.run("stop-runner", inputs)
    assert result.status == 1
    assert result.errors == [
        f"{region}: no answer within 2 seconds (region_timeout)"
        for region in ("us-east-1", "eu-west-1")
    ]
    assert live(world) == [instance]


def test_a_region_that_refuses_keeps_no_other_from_being_cleaned(
    actions: Actions, world: World
) -> None:
    launch(world, "us-east-1", fleet_id=FLEET)
    fault = Fault("DescribeInstances", status=403, code="UnauthorizedOperation", times=None)
    fault.region = "eu-west-1"
    world.faults.add(fault)
    result = actions.run("stop-runner", {"fleet_id": FLEET, "aws_region_name": REGIONS})
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("eu-west-1: instances: AWS refused DescribeInstances")
    assert live(world) == []
