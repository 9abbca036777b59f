"""A client token makes a launch happen once (EC2 developer guide, "Ensuring idempotency")."""

from __future__ import annotations

from typing import Any


def _ids(reply: Any) -> list[str]:
    return [each["InstanceId"] for each in reply["Instances"]]


def test_the_same_launch_again_gives_the_same_instances(cloud: Any) -> None:
    first = cloud.run(ClientToken="t", MaxCount=2)
    second = cloud.run(ClientToken="t", MaxCount=2)

    assert second["ReservationId"] == first["ReservationId"]
    assert _ids(second) == _ids(first)
    assert len(cloud.ec2.instances()) == 2


def test_the_same_launch_again_tells_the_states_of_now(cloud: Any) -> None:
    instance_ids = _ids(cloud.run(ClientToken="t"))
    cloud.client.terminate_instances(InstanceIds=instance_ids)
    cloud.ec2.settle()

    assert cloud.run(ClientToken="t")["Instances"][0]["State"]["Name"] == "terminated"


def test_another_launch_with_the_token_is_refused(cloud: Any, refusal: Any) -> None:
    cloud.run(ClientToken="t")

    refused = refusal(cloud.run, ClientToken="t", InstanceType="g6.2xlarge")

    assert refused[:2] == (400, "IdempotentParameterMismatch")
    assert len(cloud.ec2.instances()) == 1


def test_a_refused_launch_does_not_use_its_token_up(cloud: Any, refusal: Any) -> None:
    cloud.ec2.rules.refuse(times=1, zone="us-east-1a")
    refusal(cloud.run, ClientToken="t", Placement={"AvailabilityZone": "us-east-1a"})

    cloud.run(ClientToken="t", Placement={"AvailabilityZone": "us-east-1a"})

    assert len(cloud.ec2.instances()) == 1


def test_in_another_zone_the_token_launches_again(cloud: Any) -> None:
    for zone in ("us-east-1a", "us-east-1b"):
        cloud.run(ClientToken="t", Placement={"AvailabilityZone": zone})

    assert [each.zone for each in cloud.ec2.instances()] == ["us-east-1a", "us-east-1b"]


def test_in_another_region_the_token_launches_again(cloud: Any) -> None:
    cloud.run(ClientToken="t")
    cloud.of("ec2", "us-west-2").run_instances(
        ClientToken="t", ImageId="ami-0c240000000000002", InstanceType="g6.xlarge",
        MinCount=1, MaxCount=1,
    )  # fmt: skip

    assert [each.region for each in cloud.ec2.instances()] == ["us-east-1", "us-west-2"]


def test_instances_are_found_by_the_token_that_launched_them(cloud: Any) -> None:
    cloud.run(ClientToken="other")
    wanted = _ids(cloud.run(ClientToken="t"))

    [found] = cloud.client.describe_instances(Filters=[{"Name": "client-token", "Values": ["t"]}])[
        "Reservations"
    ]
    assert _ids(found) == wanted
