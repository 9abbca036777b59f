"""How many instances a launch gives, and what they are."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_launch_gives_as_many_instances_as_it_may(cloud: Any) -> None:
    assert len(cloud.run(MinCount=1, MaxCount=5)["Instances"]) == 5


def test_a_launch_gives_what_there_is_room_for(cloud: Any) -> None:
    cloud.ec2.rules.capacity(3, instance_type="g6.xlarge")

    assert len(cloud.run(MinCount=2, MaxCount=5)["Instances"]) == 3


def test_a_launch_gives_nothing_when_there_is_room_for_too_few(cloud: Any, refusal: Any) -> None:
    cloud.ec2.rules.capacity(3, instance_type="g6.xlarge")

    status, code, _ = refusal(cloud.run, MinCount=4, MaxCount=5)

    assert (status, code) == (500, "InsufficientInstanceCapacity")
    assert cloud.ec2.instances() == []


def test_terminated_instances_make_room(cloud: Any) -> None:
    cloud.ec2.rules.capacity(1, instance_type="g6.xlarge")
    [first] = cloud.launch()
    cloud.client.terminate_instances(InstanceIds=[first["InstanceId"]])

    assert len(cloud.launch()) == 1


def test_the_instances_of_a_launch_are_numbered_from_zero(cloud: Any) -> None:
    assert [each["AmiLaunchIndex"] for each in cloud.launch(4)] == [0, 1, 2, 3]


def test_a_launched_instance_is_pending_in_the_reply(cloud: Any) -> None:
    [instance] = cloud.launch()

    assert instance["State"] == {"Code": 0, "Name": "pending"}


def test_more_than_may_be_launched_cannot_be_needed(cloud: Any, refusal: Any) -> None:
    assert refusal(cloud.run, MinCount=2, MaxCount=1)[:2] == (400, "InvalidParameterCombination")


def test_tags_are_on_the_instance_and_its_volumes(cloud: Any) -> None:
    tags = [{"Key": "runner-fleet:fleet-id", "Value": "f1"}]
    specifications = [{"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume")]
    [instance] = cloud.launch(TagSpecifications=specifications)

    [volume] = cloud.client.describe_volumes(
        Filters=[{"Name": "attachment.instance-id", "Values": [instance["InstanceId"]]}]
    )["Volumes"]
    assert instance["Tags"] == tags
    assert volume["Tags"] == tags


def test_the_root_volume_is_the_image_s(cloud: Any) -> None:
    [instance] = cloud.launch(ImageId="ami-0a120000000000002")

    [volume] = cloud.client.describe_volumes()["Volumes"]
    assert instance["RootDeviceName"] == "/dev/xvda"
    assert [d["DeviceName"] for d in instance["BlockDeviceMappings"]] == ["/dev/xvda"]
    assert (volume["Size"], volume["VolumeType"]) == (8, "gp3")
    assert instance["BlockDeviceMappings"][0]["Ebs"]["DeleteOnTermination"] is True


def test_the_root_volume_has_the_size_asked_for(cloud: Any) -> None:
    cloud.launch(BlockDeviceMappings=[{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 100}}])

    assert [volume["Size"] for volume in cloud.client.describe_volumes()["Volumes"]] == [100]


def test_a_dry_run_launches_nothing(cloud: Any, refusal: Any) -> None:
    assert refusal(cloud.run, DryRun=True)[:2] == (412, "DryRunOperation")
    assert cloud.ec2.instances() == []


def test_a_dry_run_finds_what_is_wrong_with_the_request(cloud: Any, refusal: Any) -> None:
    code = refusal(cloud.run, DryRun=True, ImageId="ami-0123456789abcdef0")[1]

    assert code == "InvalidAMIID.NotFound"


def test_every_instance_has_the_instance_profile(cloud: Any) -> None:
    cloud.of("iam").create_instance_profile(InstanceProfileName="ci")
    ids = [each["InstanceId"] for each in cloud.launch(2, IamInstanceProfile={"Name": "ci"})]

    arns = [cloud.instance(instance_id)["IamInstanceProfile"]["Arn"] for instance_id in ids]
    assert arns == ["arn:aws:iam::123456789012:instance-profile/ci"] * 2


def test_an_instance_is_in_the_subnet_s_zone(cloud: Any) -> None:
    [subnet] = cloud.client.describe_subnets(
        Filters=[{"Name": "availability-zone", "Values": ["us-east-1b"]}]
    )["Subnets"]
    [instance] = cloud.launch(SubnetId=subnet["SubnetId"])

    assert instance["Placement"]["AvailabilityZone"] == "us-east-1b"
    assert instance["SubnetId"] == subnet["SubnetId"]


def test_instances_of_another_region_are_apart(cloud: Any) -> None:
    west = cloud.of("ec2", "us-west-2")
    west.run_instances(ImageId="ami-0c240000000000002", InstanceType="g6.xlarge", MinCount=1,
                       MaxCount=1)  # fmt: skip

    assert cloud.client.describe_instances()["Reservations"] == []
    assert [each.region for each in cloud.ec2.instances("us-west-2")] == ["us-west-2"]


def test_a_region_that_does_not_exist_does_not_answer(cloud: Any) -> None:
    from botocore.exceptions import ConnectionClosedError

    with pytest.raises(ConnectionClosedError):
        cloud.of("ec2", "us-nowhere-9").describe_instances()
