"""start-runner where EC2 has no room everywhere: which places it tries, and what it says."""

from __future__ import annotations

import json
import re
import signal

import pytest
from sandbox.calls import Call
from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import Actions, aws, until
from tests.actions.test_start import INPUTS, assert_nothing_left, live
from tests.faults.gate import Gate


def subnets(world: World, region: str = "us-east-1") -> dict[str, str]:
    """The default subnets of a region by the letter of their zone."""
    found = aws(world, "ec2", region).describe_subnets()["Subnets"]
    return {item["AvailabilityZone"][-1]: item["SubnetId"] for item in found}


def launches(world: World) -> list[Call]:
    return [call for call in world.calls.all() if call.operation == "RunInstances"]


def tried(world: World) -> list[tuple[str, str, str]]:
    """Market, type and subnet of each launch that was asked for."""
    return [
        (
            call.fields.get("InstanceMarketOptions.MarketType", "on-demand"),
            call.fields["InstanceType"],
            call.fields.get("SubnetId", ""),
        )
        for call in launches(world)
    ]


def test_another_subnet_is_tried_and_a_zone_without_the_type_is_not(
    actions: Actions, world: World
) -> None:
    zones = subnets(world)
    world.ec2.rules.refuse(zone="us-east-1a")
    world.calls.clear()
    inputs = {"aws_subnet_id": f"{zones['e']}, {zones['a']} {zones['b']}", "instance_count": "2"}
    result = actions.run("start-runner", INPUTS | inputs)
    assert result.status == 0, result.log
    assert {one.zone for one in world.ec2.instances()} == {"us-east-1b"}
    assert tried(world) == [
        ("on-demand", "g4dn.xlarge", zones["a"]),
        ("on-demand", "g4dn.xlarge", zones["b"]),
    ]
    assert f"Skipped: on-demand g4dn.xlarge in us-east-1e ({zones['e']})" in result.log
    assert re.search(
        rf"Pass 1: on-demand g4dn.xlarge in us-east-1a \({zones['a']}\): "
        r"InsufficientInstanceCapacity \([0-9.]+ s\)",
        result.log,
    )
    assert "### Attempts to launch" in result.summary
    skipped = f"- Skipped: on-demand g4dn.xlarge in us-east-1e ({zones['e']}): the zone does not"
    assert skipped in result.summary.partition("### Attempts to launch")[2]
    assert (
        f"| 1 | on-demand | g4dn.xlarge | us-east-1b | {zones['b']} | launched 2 |"
        in result.summary
    )
    assert world.calls.count("DescribeSubnets") == 1
    assert world.calls.count("DescribeInstanceTypeOfferings") == 1


def test_another_type_is_tried_with_an_image_of_its_own(actions: Actions, world: World) -> None:
    world.ec2.rules.refuse(instance_type="g5g.xlarge")
    inputs = {"aws_instance_type": '["g5g.xlarge", "t3.small"]', "aws_image_name": "al2023-ami"}
    result = actions.run("start-runner", INPUTS | inputs | {"aws_home_dir": ""})
    assert result.status == 0, result.log
    images = [(call.fields["InstanceType"], call.fields["ImageId"]) for call in launches(world)]
    assert images == [
        ("g5g.xlarge", "ami-0a120000000000003"),
        ("t3.small", "ami-0a120000000000002"),
    ]
    assert world.calls.count("DescribeImages") == 1
    assert world.calls.count("DescribeInstanceTypes") == 1


def test_another_region_is_tried_and_the_output_names_it(actions: Actions, world: World) -> None:
    world.ec2.rules.refuse(region="us-east-1")
    inputs = {"aws_region_name": "us-east-1 us-west-2", "instance_count": "2"}
    result = actions.run("start-runner", INPUTS | inputs)
    assert result.status == 0, result.log
    assert {one.region for one in world.ec2.instances()} == {"us-west-2"}
    assert result.outputs["region"] == "us-west-2"
    assert "### Started 2 runners in us-west-2" in result.summary
    stopped = actions.run(
        "stop-runner",
        {"fleet_id": result.outputs["fleet_id"], "aws_region_name": result.outputs["region"]},
    )
    assert stopped.status == 0, stopped.log
    assert_nothing_left(world)


def test_all_regions_are_in_the_output_before_the_launch(actions: Actions, world: World) -> None:
    world.ec2.rules.refuse()
    result = actions.run("start-runner", INPUTS | {"aws_region_name": "us-east-1, us-west-2"})
    assert result.status == 1
    assert result.outputs["region"] == "us-east-1,us-west-2"


def test_what_is_wrong_in_any_region_is_said_before_the_first_launch(
    actions: Actions, world: World
) -> None:
    images = '{"us-east-1": "ami-0d1a0000000000003", "us-west-2": "ami-0123456789abcdef0"}'
    inputs = {
        "aws_image_id": images,
        "aws_image_name": "",
        "aws_region_name": "us-east-1,us-west-2,us-esat-1",
    }
    lines = actions.run("start-runner", INPUTS | inputs).errors
    assert lines == ["aws_image_id: has no value for us-esat-1, which aws_region_name lists"]
    inputs["aws_image_id"] = images.replace("}", ', "us-esat-1": "ami-0123456789abcdef0"}')
    lines = actions.run("start-runner", INPUTS | inputs).errors
    assert len(lines) == 2
    assert lines[0].startswith("us-west-2: aws_image_id ami-0123456789abcdef0: AWS refused")
    assert lines[1].startswith("us-esat-1: aws_region_name: there is no region 'us-esat-1'")
    assert launches(world) == []


def test_spot_comes_first_and_on_demand_where_there_is_none(actions: Actions, world: World) -> None:
    world.ec2.rules.refuse(market="spot", instance_type="g4dn.xlarge")
    inputs = INPUTS | {"market": "spot-then-on-demand"}
    result = actions.run("start-runner", inputs | {"aws_instance_type": "g4dn.xlarge,g5.xlarge"})
    assert result.status == 0, result.log
    assert world.calls.count("POST /repos/octo-org/gpu-tests/actions/runners/remove-token") == 1
    (instance,) = live(world)
    assert f"| `{instance}` | g5.xlarge | us-east-1" in result.summary
    assert "| spot | `runner-" in result.summary
    second = actions.run("start-runner", inputs)
    assert second.status == 0, second.log
    assert [one.market for one in world.ec2.instances()] == ["spot", "on-demand"]
    assert tried(world) == [
        ("spot", "g4dn.xlarge", ""),
        ("spot", "g5.xlarge", ""),
        ("spot", "g4dn.xlarge", ""),
        ("on-demand", "g4dn.xlarge", ""),
    ]
    options = launches(world)[1].fields
    assert options["InstanceMarketOptions.SpotOptions.SpotInstanceType"] == "one-time"
    assert options["InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior"] == "terminate"


@pytest.mark.parametrize(
    ("code", "market", "quota"),
    [
        ("VcpuLimitExceeded", "on-demand", "'Running On-Demand G and VT instances' of us-east-1"),
        ("MaxSpotInstanceCountExceeded", "spot", "'All G and VT Spot Instance Requests' of us-eas"),
    ],
)
def test_a_quota_ends_at_once_and_is_named(
    actions: Actions, world: World, code: str, market: str, quota: str
) -> None:
    world.ec2.rules.refuse(code=code)
    inputs = {"aws_instance_type": "g4dn.xlarge,g5.xlarge", "capacity_timeout": "600"}
    result = actions.run("start-runner", INPUTS | inputs | {"market": market})
    assert result.status == 1
    (line,) = result.errors
    assert code in line
    assert f"This launch counts against the quota {quota}" in line
    assert len(launches(world)) == 1
    assert f"| {code} |" in result.summary


def test_all_places_are_tried_again_after_a_pause(actions: Actions, world: World) -> None:
    world.ec2.rules.refuse(times=1, instance_type="g4dn.xlarge")
    world.ec2.rules.refuse(times=1, instance_type="g5.xlarge", code="UnfulfillableCapacity")
    inputs = {"aws_instance_type": "g4dn.xlarge,g5.xlarge", "aws_subnet_id": subnets(world)["a"]}
    result = actions.run("start-runner", INPUTS | inputs | {"capacity_timeout": "60"})
    assert result.status == 0, result.log
    assert [place[1] for place in tried(world)] == ["g4dn.xlarge", "g5.xlarge", "g4dn.xlarge"]
    assert "No room yet in any of 2 places; again in " in result.log
    tokens = [call.fields["ClientToken"] for call in launches(world)]
    assert len(set(tokens)) == 3


def test_after_capacity_timeout_one_line_says_what_was_tried(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.refuse(instance_type="g4dn.xlarge")
    world.ec2.rules.refuse(code="Unsupported", instance_type="g5.xlarge")
    inputs = {"aws_instance_type": "g4dn.xlarge,g5.xlarge", "capacity_timeout": "1"}
    result = actions.run("start-runner", INPUTS | inputs | {"instance_count": "2"})
    assert result.status == 1
    (line,) = result.errors
    found = re.match(
        r"no room for 2 instances after [0-9]+ seconds and (?P<passes>[0-9]+) pass(?:es)?: "
        r"on-demand g4dn.xlarge in us-east-1: InsufficientInstanceCapacity( \(([0-9]+) times\))?, "
        r"on-demand g5.xlarge in us-east-1: Unsupported\. Try later, ",
        line,
    )
    assert found  # as many passes as this machine makes in a second
    assert result.summary.count("| InsufficientInstanceCapacity |") == int(found["passes"])
    assert_nothing_left(world)


def test_a_signal_between_two_passes_ends_the_search_for_room(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.refuse()
    running = actions.begin("start-runner", INPUTS | {"capacity_timeout": "3600"})
    until(lambda: len(launches(world)) == 2, "the second pass")
    running.signal(signal.SIGINT)
    result = running.result()
    assert result.status == 130
    assert "| InsufficientInstanceCapacity |" in result.summary
    assert world.ec2.instances() == []


def test_a_signal_during_a_launch_that_is_refused_ends_the_search_for_room(
    actions: Actions, world: World, gate: Gate
) -> None:
    world.ec2.rules.refuse()
    gate.close_at("RunInstances", 0, "before")
    inputs = {"aws_instance_type": "g4dn.xlarge,g5.xlarge", "capacity_timeout": "3600"}
    running = actions.begin("start-runner", INPUTS | inputs)
    assert gate.signal(running, signal.SIGINT)
    result = running.result()
    assert result.status == 130
    assert result.summary.startswith("### Start cancelled\n\n")
    assert len(launches(world)) == 1


def test_fewer_are_accepted_when_min_count_says_so(actions: Actions, world: World) -> None:
    world.ec2.rules.capacity(2)
    result = actions.run("start-runner", INPUTS | {"instance_count": "3", "min_count": "2"})
    assert result.status == 0, result.log
    mapping = json.loads(result.outputs["mapping"])
    assert sorted(mapping) == sorted(live(world))
    assert len(mapping) == 2
    assert json.loads(result.outputs["instances"]) == list(mapping.values())
    assert {runner.name for runner in world.github.runners()} == {
        f"{label}-{instance}" for instance, label in mapping.items()
    }
    assert "launched 2 of 3" in result.log
    assert "### Started 2 of 3 runners (min_count 2) in us-east-1" in result.summary
    assert "::warning::2 of 3 runners (min_count 2) started, as there was no room" in result.log


def test_too_few_are_not_accepted(actions: Actions, world: World) -> None:
    world.ec2.rules.capacity(1)
    result = actions.run("start-runner", INPUTS | {"instance_count": "3", "min_count": "2"})
    assert result.status == 1
    assert result.errors[0].startswith("no room for 2 to 3 instances after ")
    assert result.summary.startswith("### Start failed\n\n- no room for 2 to 3 instances after ")
    assert "\n\nNothing was launched.\n\n### Attempts to launch\n" in result.summary
    assert world.ec2.instances() == []


def test_the_estimate_adds_up_what_each_costs(actions: Actions, world: World) -> None:
    world.ec2.rules.capacity(2, market="spot")
    world.ec2.rules.price(0.25, market="spot")
    inputs = {
        "market": "spot-then-on-demand",
        "placement_strategy": "cheapest-first",
        "aws_prices": '{"g4dn.xlarge": 1}',
        "instance_count": "3",
        "registration": "jit",
    }
    result = actions.run("start-runner", INPUTS | inputs)
    assert result.status == 0, result.log
    assert "About $1.5 an hour for all, at most $9 until" in result.summary


def test_the_cheapest_place_comes_first_and_the_estimate_is_shown(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.price(0.25, instance_type="g4dn.xlarge", market="spot")
    world.ec2.rules.price(0.125, instance_type="g5.xlarge", market="spot")
    world.ec2.rules.price(0.2, instance_type="g6.xlarge", market="on-demand")
    world.ec2.rules.price(None, instance_type="g6.xlarge", market="spot")
    world.ec2.rules.refuse(market="spot", instance_type="g5.xlarge")
    inputs = {
        "aws_instance_type": "g4dn.xlarge,g5.xlarge,g6.xlarge",
        "placement_strategy": "cheapest-first",
        "market": "spot-then-on-demand",
        "instance_count": "2",
    }
    result = actions.run("start-runner", INPUTS | inputs)
    assert result.status == 0, result.log
    assert [place[:2] for place in tried(world)] == [("spot", "g5.xlarge"), ("spot", "g6.xlarge")]
    assert {one.tags["runner-fleet:usd-per-hour"] for one in world.ec2.instances()} == {"0.2"}
    assert "About $0.4 an hour for all, at most $2.4 until `max_lifetime_minutes`" in result.summary
    assert world.calls.count("DescribeSpotPriceHistory") == 1
    assert world.calls.count("GetProducts") == 3


def test_an_account_that_never_used_spot_is_told_how_to_begin(
    actions: Actions, world: World
) -> None:
    code = "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
    world.faults.add(Fault("RunInstances", status=403, code=code, message="no role"))
    result = actions.run("start-runner", INPUTS | {"market": "spot"})
    (line,) = result.errors
    assert "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com" in line


def test_a_throttled_launch_is_repeated_in_the_same_place(actions: Actions, world: World) -> None:
    world.faults.add(Fault("RunInstances", status=503, code="RequestLimitExceeded"))
    result = actions.run("start-runner", INPUTS | {"aws_instance_type": "g4dn.xlarge,g5.xlarge"})
    assert result.status == 0, result.log
    assert [place[1] for place in tried(world)] == ["g4dn.xlarge", "g4dn.xlarge"]
