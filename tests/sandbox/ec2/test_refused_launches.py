"""What EC2 does not launch, and what it says."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"ImageId": "ami-xyz"}, "InvalidAMIID.Malformed", 'Invalid id: "ami-xyz"'),
        ({"ImageId": "latest"}, "InvalidAMIID.Malformed", 'Invalid id: "latest"'),
        (
            {"ImageId": "ami-0123456789abcdef0"},
            "InvalidAMIID.NotFound",
            "The image id '[ami-0123456789abcdef0]' does not exist",
        ),
        (
            {"InstanceType": "g6.huge"},
            "InvalidParameterValue",
            "Invalid value 'g6.huge' for InstanceType.",
        ),
        (
            {"InstanceType": "g5g.xlarge"},
            "InvalidParameterValue",
            (
                "The architecture 'arm64' of the specified instance type does not match the "
                "architecture 'x86_64' of the specified AMI."
            ),
        ),
        ({"UserData": "x" * 16385}, "InvalidParameterValue", "User data is limited to 16384 bytes"),
        (
            {"SubnetId": "subnet-0123456789abcdef0"},
            "InvalidSubnetID.NotFound",
            "The subnet ID 'subnet-0123456789abcdef0' does not exist",
        ),
        (
            {"SecurityGroupIds": ["sg-0123456789abcdef0"]},
            "InvalidGroup.NotFound",
            "The security group 'sg-0123456789abcdef0' does not exist",
        ),
        (
            {"IamInstanceProfile": {"Name": "nobody"}},
            "InvalidParameterValue",
            (
                "Value (nobody) for parameter iamInstanceProfile.name is invalid. "
                "Invalid IAM Instance Profile name"
            ),
        ),
        (
            {
                "ImageId": "ami-0d1a0000000000003",
                "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 20}}],
            },
            "InvalidBlockDeviceMapping",
            "Volume of size 20GB is smaller than snapshot",
        ),
        (
            {
                "TagSpecifications": [
                    {"ResourceType": "instance", "Tags": [{"Key": "aws:x", "Value": "1"}]}
                ]
            },
            "InvalidParameterValue",
            "Tag keys starting with 'aws:' are reserved for internal use",
        ),
        (
            {"Placement": {"AvailabilityZone": "us-east-1e"}, "InstanceType": "g6.xlarge"},
            "Unsupported",
            (
                "Your requested instance type (g6.xlarge) is not supported in your requested "
                "Availability Zone (us-east-1e)."
            ),
        ),
    ],
)
def test_a_launch_that_is_not_in_order_is_refused(
    cloud: Any, refusal: Any, changes: dict[str, Any], code: str, message: str
) -> None:
    status, its_code, its_message = refusal(cloud.run, **changes)

    assert (status, its_code) == (400, code)
    assert its_message.startswith(message)
    assert cloud.ec2.instances() == []


def test_user_data_of_16_kib_is_taken(cloud: Any) -> None:
    assert len(cloud.launch(UserData="x" * 16384)) == 1


def test_group_and_subnet_must_be_of_one_network(cloud: Any, refusal: Any) -> None:
    vpc = cloud.client.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    group = cloud.client.create_security_group(VpcId=vpc, GroupName="g", Description="g")["GroupId"]
    subnet = cloud.client.describe_subnets()["Subnets"][0]["SubnetId"]

    refused = refusal(cloud.run, SecurityGroupIds=[group], SubnetId=subnet)

    assert refused == (
        400,
        "InvalidParameter",
        f"Security group {group} and subnet {subnet} belong to different networks.",
    )


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("InsufficientInstanceCapacity", 500),
        ("VcpuLimitExceeded", 400),
        ("Unsupported", 400),
        ("RequestLimitExceeded", 503),
    ],
)
def test_a_rule_refuses_launches_of_a_type(
    cloud: Any, refusal: Any, code: str, status: int
) -> None:
    cloud.ec2.rules.refuse(instance_type="g6.xlarge", code=code)

    assert refusal(cloud.run)[:2] == (status, code)
    assert len(cloud.launch(InstanceType="g6.2xlarge")) == 1


def test_a_rule_refuses_launches_in_a_subnet(cloud: Any, refusal: Any) -> None:
    first, second = [s["SubnetId"] for s in cloud.client.describe_subnets()["Subnets"][:2]]
    cloud.ec2.rules.refuse(subnet=first)

    assert refusal(cloud.run, SubnetId=first)[1] == "InsufficientInstanceCapacity"
    assert len(cloud.launch(SubnetId=second)) == 1


def test_a_rule_refuses_so_many_times(cloud: Any, refusal: Any) -> None:
    cloud.ec2.rules.refuse(zone="us-east-1a", times=2)
    place = {"AvailabilityZone": "us-east-1a"}

    codes = [refusal(cloud.run, Placement=place)[1] for _ in range(2)]

    assert codes == ["InsufficientInstanceCapacity"] * 2
    assert len(cloud.launch(Placement=place)) == 1


def test_without_a_zone_ec2_takes_one_that_has_room(cloud: Any) -> None:
    cloud.ec2.rules.refuse(zone="us-east-1a")

    [instance] = cloud.launch()

    assert instance["Placement"]["AvailabilityZone"] == "us-east-1b"
