"""Ending instances: one that cannot be ended saves no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from runner_fleet.ec2 import Ec2
from runner_fleet.provisioning.take_back import Taken, end_instances
from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import aws
from tests.actions.leftovers import launch
from tests.actions.test_start import live


@pytest.fixture
def ec2(world: World, monkeypatch: pytest.MonkeyPatch) -> Ec2:
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    return Ec2("us-east-1")


def end(ec2: Ec2, *ids: str, sleep: Callable[[float], None] = lambda _seconds: None) -> Taken:
    taken = Taken()
    end_instances(ids, ec2, taken, sleep)
    return taken


def shut_down_slowly(world: World) -> None:
    """As EC2 does: a second look within a minute finds the instances on their way."""
    world.ec2.rules.termination_delay = 60.0


def protect(world: World, instance_id: str) -> None:
    client = aws(world, "ec2")
    client.modify_instance_attribute(InstanceId=instance_id, DisableApiTermination={"Value": True})
    client.close()


def test_protected_instances_save_none_of_their_zone(world: World, ec2: Ec2) -> None:
    """EC2 ends those of other zones, and fails the call all the same."""
    zones = ["us-east-1a", "us-east-1a", "us-east-1a", "us-east-1b"]
    protected, other, ours, elsewhere = (launch(world, zone=zone) for zone in zones)
    for one in (protected, other):
        protect(world, one)
    shut_down_slowly(world)
    taken = end(ec2, protected, ours, other, elsewhere)
    assert sorted(taken.terminated) == sorted([ours, elsewhere])
    assert (taken.ended_before, taken.unknown) == ([], [])
    assert sorted(taken.left) == sorted(live(world)) == sorted([protected, other])
    assert ["OperationNotPermitted" in line for line in taken.problems] == [True, True]
    assert protected in taken.problems[0]


def as_user_of_repository(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on with a right to end only what carries the tag of the repository."""
    statements: list[dict[str, Any]] = [
        {"Effect": "Allow", "Action": "ec2:DescribeInstances", "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": "ec2:TerminateInstances",
            "Resource": "*",
            "Condition": {
                "StringEquals": {"aws:ResourceTag/runner-fleet:repository": "octo-org/gpu-tests"}
            },
        },
    ]
    iam = boto3.Session().client("iam", endpoint_url=world.ec2_url, region_name="us-east-1")
    iam.create_user(UserName="stopper")
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName="stopper", PolicyName="policy", PolicyDocument=policy)
    key = iam.create_access_key(UserName="stopper")["AccessKey"]
    iam.close()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    world.ec2.enforce_iam()


def test_instances_that_a_policy_denies_save_no_others(
    world: World, ec2: Ec2, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = [launch(world, repository="octo-org/other") for _ in range(2)]
    ours = [launch(world) for _ in range(2)]
    as_user_of_repository(world, monkeypatch)
    taken = end(ec2, foreign[0], ours[0], "i-0123456789abcdef0", foreign[1], ours[1])
    assert sorted(taken.terminated) == sorted(ours)
    assert taken.unknown == ["i-0123456789abcdef0"]
    assert sorted(taken.left) == sorted(live(world)) == sorted(foreign)
    assert len(taken.problems) == 2
    assert all("AWS refused TerminateInstances" in line for line in taken.problems)


def test_a_denial_that_names_nobody_is_narrowed_down(world: World, ec2: Ec2) -> None:
    ours = [launch(world) for _ in range(3)]
    denied = Fault("TerminateInstances", status=403, code="UnauthorizedOperation", message="no")
    denied.times = 3
    world.faults.add(denied)
    taken = end(ec2, *ours)
    assert len(taken.terminated) == 2
    assert taken.left == live(world)
    (line,) = taken.problems
    assert "lacks the permission ec2:TerminateInstances" in line


def test_a_right_that_is_missing_altogether_costs_few_calls(world: World, ec2: Ec2) -> None:
    ids = [launch(world)]
    ids += [f"i-{number:017x}" for number in range(300)]
    denied = Fault("TerminateInstances", status=403, code="UnauthorizedOperation", message="no")
    denied.times = None
    world.faults.add(denied)
    world.faults.add(Fault("DescribeInstances$", status=403, code="UnauthorizedOperation"))
    taken = end(ec2, *ids)
    assert (taken.left, len(taken.problems)) == (ids, 1)
    assert world.calls.count("TerminateInstances") <= 25


def test_any_number_of_instances_is_ended_and_described(world: World, ec2: Ec2) -> None:
    """EC2 takes 1,000 ids a call, and 200 values a filter."""
    strangers = [f"i-{number:017x}" for number in range(1200)]
    ours = launch(world)
    assert list(ec2.instances([*strangers, ours])) == [ours]
    lived: list[list[str]] = []
    taken = end(ec2, *strangers, ours, sleep=lambda _seconds: lived.append(live(world)))
    assert (taken.terminated, sorted(taken.unknown)) == ([ours], strangers)
    # None waits until another turned out to be unknown.
    assert lived == [[], [], []]
    assert taken.problems == []


def test_what_a_lost_reply_has_ended_was_ended_by_us(world: World, ec2: Ec2) -> None:
    ours = launch(world)
    world.faults.add(Fault("TerminateInstances", status=200, when="after", body="<?xml"))
    shut_down_slowly(world)
    taken = end(ec2, ours)
    assert (taken.terminated, taken.problems) == ([ours], [])


def test_waiting_outlasts_an_answer_that_does_not_know_the_instance_yet(
    world: World, ec2: Ec2
) -> None:
    ours = launch(world)
    stale = Fault("DescribeInstances$", when="stale", stale_seconds=60.0)
    world.faults.add(stale)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        world.ec2.end(ours)
        world.ec2.settle()

    ec2.wait_terminated([ours], 60.0, sleep=sleep)
    assert pauses == [5.0]
    ec2.wait_terminated([ours, "i-0123456789abcdef0"], 60.0, sleep=pauses.append)
    assert pauses == [5.0, 5.0]


def test_waiting_ends(world: World, ec2: Ec2) -> None:
    ours = launch(world)
    seconds = iter(range(0, 100, 10))
    with pytest.raises(Exception, match=f"wait: {ours} did not terminate in time"):
        ec2.wait_terminated([ours], 20.0, lambda: next(seconds), lambda _seconds: None)
