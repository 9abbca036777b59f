"""`dry_run`: everything is checked, everything wrong is named, nothing is launched."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import Actions, Result, aws
from tests.actions.test_start import INPUTS
from tests.noise import noise

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

DRY = INPUTS | {"dry_run": "true"}


def dry_run(actions: Actions, world: World, **inputs: str) -> Result:
    """A dry run, which must have left nothing behind but what says so."""
    result = actions.run("start-runner", DRY | inputs)
    assert "Traceback" not in result.log
    assert result.outputs.keys() == {"fleet_id", "region"}
    assert world.ec2.instances() == []
    assert world.github.runners() == []
    return result


def test_a_start_that_would_work_is_green_and_says_what_was_checked(
    actions: Actions, world: World
) -> None:
    result = dry_run(actions, world)
    assert result.status == 0, result.log
    assert "### Dry run: nothing was launched" in result.summary
    attempt = "| ok | dry run of RunInstances, on-demand g4dn.xlarge | us-east-1 | EC2 would launch"
    assert attempt in result.summary
    assert "ok: GitHub, octo-org/gpu-tests: the token may register runners" in result.log
    assert "with a public address" in result.log
    assert "::warning" not in result.log
    assert "not checked: ec2:TerminateInstances" in result.log
    assert result.log.rstrip().endswith("Nothing was launched")


def test_everything_wrong_is_named_at_once(actions: Actions, world: World, ec2: EC2Client) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    place = {"VpcId": vpc, "CidrBlock": "10.9.0.0/28", "AvailabilityZone": "us-east-1e"}
    subnet = ec2.create_subnet(**place)["Subnet"]["SubnetId"]  # type: ignore[arg-type]
    named = [{"Name": "group-name", "Values": ["default"]}]
    group = ec2.describe_security_groups(Filters=named)["SecurityGroups"][0]["GroupId"]  # type: ignore[arg-type]
    result = dry_run(
        actions,
        world,
        aws_subnet_id=subnet,
        aws_security_group_id=group,
        aws_iam_role="no-such-profile",
        instance_count="20",
    )
    assert result.status == 1
    text = "\n".join(result.errors)
    assert f"aws_subnet_id: {subnet} has 11 free addresses, and 20 instances need one each" in text
    assert f"aws_security_group_id: {group} is of " in text
    assert "aws_subnet_id: us-east-1e does not offer g4dn.xlarge; us-east-1a" in text
    assert "there is no such instance profile in this account" in text
    assert f"::warning::{subnet} has no default route: runners reach GitHub only" in result.log
    assert "| **problem** |" in result.summary


def test_a_token_that_is_refused_keeps_nothing_else_from_being_checked(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("POST .*/registration-token", status=401))
    result = dry_run(actions, world, aws_subnet_id="subnet-0123456789abcdef0")
    assert result.status == 1
    assert len(result.errors) == 2
    assert result.errors[0].startswith("GitHub does not accept the token in GH_PAT (401)")
    assert result.errors[1] == (
        "aws_subnet_id: there is no subnet subnet-0123456789abcdef0 in this region"
    )
    assert "not checked: dry run of RunInstances: the launch could not be prepared" in result.log


def test_the_right_to_register_is_checked_for_jit_runners_too(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("POST .*/registration-token", status=401))
    result = dry_run(actions, world, registration="jit")
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("GitHub does not accept the token")


def test_what_may_not_be_asked_is_not_checked_and_no_error(actions: Actions, world: World) -> None:
    optional = "DescribeSubnets|DescribeSecurityGroups|DescribeRouteTables|GetInstanceProfile"
    denied = Fault(optional, status=403, code="UnauthorizedOperation", times=None)
    world.faults.add(denied)
    result = dry_run(actions, world)
    assert result.status == 0, result.log
    assert "not checked: subnets: needs ec2:DescribeSubnets" in result.log


def test_every_place_is_tried_and_a_problem_says_where_it_is(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("DescribeInstances$", status=403, code="UnauthorizedOperation"))
    result = dry_run(
        actions, world, aws_region_name="us-east-1 us-west-2", market="spot-then-on-demand"
    )
    assert result.status == 1
    for region in ("us-east-1", "us-west-2"):
        for market in ("spot", "on-demand"):
            attempt = f"| ok | dry run of RunInstances, {market} g4dn.xlarge | {region} |"
            assert attempt in result.summary
    (line,) = result.errors
    assert line.partition(":")[0] in ("us-east-1", "us-west-2")
    assert "lacks the permission ec2:DescribeInstances" in line


def test_a_launch_that_is_not_permitted_is_a_problem(actions: Actions, world: World) -> None:
    world.faults.add(Fault("RunInstances", status=403, code="UnauthorizedOperation"))
    result = dry_run(actions, world)
    assert result.status == 1
    (line,) = result.errors
    assert "lacks the permission ec2:RunInstances" in line


def test_a_fault_that_several_checks_come_upon_is_told_once(actions: Actions, world: World) -> None:
    group = "sg-0123456789abcdef0"
    result = dry_run(
        actions,
        world,
        aws_security_group_id=group,
        aws_iam_role="gone",
        market="spot-then-on-demand",
    )
    assert result.errors == [
        f"aws_security_group_id: there is no group {group} in this region",
        (
            "aws_iam_role gone: AWS refused GetInstanceProfile with NoSuchEntity: Instance profile "
            "gone not found; there is no such instance profile in this account"
        ),
    ]
    refused = "not checked: dry run of RunInstances, spot g4dn.xlarge: EC2 refuses it"
    assert f"{refused}, for the same reason as: security group {group}" in result.log


def test_subnets_that_do_not_exist_are_told_once_each_with_their_region(
    actions: Actions, world: World
) -> None:
    one, other = "subnet-0123456789abcdef0", "subnet-0123456789abcdef1"
    found = aws(world, "ec2", "us-west-2").describe_subnets()["Subnets"]
    subnets = {"us-east-1": [one, other], "us-west-2": [found[0]["SubnetId"]]}
    result = dry_run(
        actions, world, aws_region_name="us-east-1 us-west-2", aws_subnet_id=json.dumps(subnets)
    )
    assert result.errors == [
        f"us-east-1: aws_subnet_id: there is no subnet {name} in this region"
        for name in (one, other)
    ]
    assert f"problem: us-east-1: subnet {one}: aws_subnet_id: there is no" in result.log
    row = rf"| **problem** | subnet {one} | us-east-1 | aws\_subnet\_id: there is no subnet"
    assert row in result.summary
    assert r"| aws\_subnet\_id |" not in result.summary


def test_a_wrong_type_hides_no_wrong_image_and_a_row_says_which_input_it_is(
    actions: Actions, world: World
) -> None:
    result = dry_run(actions, world, aws_instance_type="g4dn.huge", aws_image_name="Ubunut")
    assert [line.partition(":")[0] for line in result.errors] == [
        "aws_image_name",
        "aws_instance_type",
    ]
    assert r"| **problem** | aws\_image\_name | us-east-1 | " in result.summary
    assert "preparation" not in result.log


def test_what_is_found_in_two_regions_says_so_in_each_line(actions: Actions, world: World) -> None:
    old = {"runner_version": "2.300.0", "pre_runner_script": noise(9000)}
    result = dry_run(actions, world, aws_region_name="us-east-1 us-west-2", **old)
    assert result.status == 0, result.log
    for region in ("us-east-1", "us-west-2"):
        assert f"ok: {region}: image for g4dn.xlarge: ami-" in result.log
        # The subnets of the default VPC are alike.
        assert result.summary.count(f"| default VPC: way out | {region} |") == 1
    assert "way out of" not in result.summary
    assert result.log.count("::warning::runner_version: 2.300.0 is older than") == 1
    assert r"| warning | runner\_version | - | runner\_version: 2.300.0 is older" in result.summary
    assert re.search(
        r"ok: user data: [0-9]+,[0-9]{3} bytes compressed of at most 16,384", result.log
    )
