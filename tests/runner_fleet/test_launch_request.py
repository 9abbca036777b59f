"""What RunInstances is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from runner_fleet.ec2_model import Image, Launch
from runner_fleet.ec2_template import LaunchTemplate
from runner_fleet.ec2_volumes import Volumes
from runner_fleet.errors import InputError

IMAGE = Image(
    id="ami-0123456789abcdef0",
    name="two volumes",
    architecture="x86_64",
    root_device="/dev/sda1",
    devices=("/dev/sda1", "/dev/sdf"),
    root_size=8,
    created="2026-01-01T00:00:00.000Z",
    windows=False,
)
LAUNCH = Launch(
    image=IMAGE,
    instance_type="g4dn.xlarge",
    count=3,
    user_data="#!/bin/bash\n",
    client_token="t" * 64,
    tags={"runner-fleet:fleet-id": "77-1-start-x"},
)


def volumes(asked: Volumes | None = None, template: LaunchTemplate | None = None) -> list[Any]:
    launch = replace(LAUNCH, volumes=asked or Volumes(), template=template)
    return list(launch.request()["BlockDeviceMappings"])


def test_all_instances_or_none_are_asked_for_once() -> None:
    request = LAUNCH.request()
    assert (request["MinCount"], request["MaxCount"]) == (3, 3)
    assert request["ClientToken"] == "t" * 64


def test_an_instance_that_powers_off_is_terminated_not_stopped() -> None:
    assert LAUNCH.request()["InstanceInitiatedShutdownBehavior"] == "terminate"


def test_all_volumes_are_encrypted_and_go_with_the_instance_whatever_the_image_says() -> None:
    assert volumes() == [
        {
            "DeviceName": "/dev/sda1",
            "Ebs": {"DeleteOnTermination": True, "Encrypted": True, "VolumeType": "gp3"},
        },
        {"DeviceName": "/dev/sdf", "Ebs": {"DeleteOnTermination": True, "Encrypted": True}},
    ]


def test_the_root_volume_is_what_was_asked_for() -> None:
    asked = Volumes(size=20, type="io2", iops=4000, kms_key="alias/runners")
    assert volumes(asked) == [
        {
            "DeviceName": "/dev/sda1",
            "Ebs": {
                "DeleteOnTermination": True,
                "Encrypted": True,
                "Iops": 4000,
                "KmsKeyId": "alias/runners",
                "VolumeSize": 20,
                "VolumeType": "io2",
            },
        },
        {
            "DeviceName": "/dev/sdf",
            "Ebs": {"DeleteOnTermination": True, "Encrypted": True, "KmsKeyId": "alias/runners"},
        },
    ]


def test_throughput_is_asked_of_the_root_volume_only() -> None:
    asked = Volumes(size=100, iops=6000, throughput=500)
    fixed = {"DeleteOnTermination": True, "Encrypted": True}
    assert [item["Ebs"] for item in volumes(asked)] == [
        {**fixed, "VolumeSize": 100, "VolumeType": "gp3", "Iops": 6000, "Throughput": 500},
        fixed,
    ]


def test_encryption_can_be_left_to_image_and_account_but_a_key_encrypts() -> None:
    assert not [item for item in volumes(Volumes(encrypted=False)) if "Encrypted" in item["Ebs"]]
    with_key = volumes(Volumes(encrypted=False, kms_key="alias/runners"))
    assert [item["Ebs"]["Encrypted"] for item in with_key] == [True, True]


def test_a_public_address_is_asked_of_the_network_interface_which_then_has_subnet_and_groups() -> (
    None
):
    placed = replace(LAUNCH, subnet_id="subnet-11111111", security_group_ids=("sg-11111111",))
    assert replace(placed, public_ip=False).request()["NetworkInterfaces"] == [
        {
            "DeviceIndex": 0,
            "DeleteOnTermination": True,
            "AssociatePublicIpAddress": False,
            "SubnetId": "subnet-11111111",
            "Groups": ["sg-11111111"],
        }
    ]
    assert not {"SubnetId", "SecurityGroupIds"} & set(replace(placed, public_ip=True).request())
    assert "NetworkInterfaces" not in placed.request()
    assert replace(LAUNCH, public_ip=True).request()["NetworkInterfaces"] == [
        {"DeviceIndex": 0, "DeleteOnTermination": True, "AssociatePublicIpAddress": True}
    ]


def test_instances_and_volumes_are_tagged_as_they_are_launched() -> None:
    tags = [{"Key": "runner-fleet:fleet-id", "Value": "77-1-start-x"}]
    assert LAUNCH.request()["TagSpecifications"] == [
        {"ResourceType": "instance", "Tags": tags},
        {"ResourceType": "volume", "Tags": tags},
    ]


def test_metadata_is_only_given_to_those_who_hold_a_session_token_and_no_hop_further() -> None:
    assert LAUNCH.request()["MetadataOptions"] == {
        "HttpTokens": "required",
        "HttpEndpoint": "enabled",
        "HttpPutResponseHopLimit": 1,
    }
    further = replace(LAUNCH, hop_limit=2).request()["MetadataOptions"]
    assert further["HttpPutResponseHopLimit"] == 2


def test_what_was_not_asked_for_is_left_to_ec2() -> None:
    request = LAUNCH.request()
    assert not {"SubnetId", "SecurityGroupIds", "IamInstanceProfile"} & set(request)


def test_an_instance_profile_is_a_name_or_an_arn() -> None:
    arn = "arn:aws:iam::123456789012:instance-profile/builder"
    named = replace(LAUNCH, instance_profile="builder").request()
    assert named["IamInstanceProfile"] == {"Name": "builder"}
    assert replace(LAUNCH, instance_profile=arn).request()["IamInstanceProfile"] == {"Arn": arn}


def test_the_registration_token_is_not_part_of_what_a_launch_shows() -> None:
    assert "#!/bin/bash" not in repr(LAUNCH)


def templated(**data: Any) -> LaunchTemplate:
    return LaunchTemplate("lt-0123456789abcdef0", 3, data)


def test_a_template_is_launched_from_by_id_and_the_version_that_was_read() -> None:
    request = replace(LAUNCH, template=templated(KeyName="ssh")).request()
    assert request["LaunchTemplate"] == {
        "LaunchTemplateId": "lt-0123456789abcdef0",
        "Version": "3",
    }
    assert request["ImageId"] == "ami-0123456789abcdef0"


def test_what_makes_an_instance_end_and_safe_is_never_the_templates() -> None:
    template = templated(
        InstanceInitiatedShutdownBehavior="stop",
        MetadataOptions={"HttpTokens": "optional", "HttpPutResponseHopLimit": 3},
        DisableApiTermination=True,
        InstanceMarketOptions={"MarketType": "spot"},
        UserData="IyEvYmluL3No",
        BlockDeviceMappings=[
            {"DeviceName": "/dev/sdg", "Ebs": {"VolumeSize": 5, "DeleteOnTermination": False}}
        ],
    )
    request = replace(LAUNCH, template=template).request()
    assert request["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert request["MetadataOptions"]["HttpTokens"] == "required"
    assert request["MetadataOptions"]["HttpPutResponseHopLimit"] == 1
    assert request["DisableApiTermination"] is False
    assert request["InstanceMarketOptions"] == {"MarketType": "on-demand"}
    assert request["UserData"] == "#!/bin/bash\n"
    extra = request["BlockDeviceMappings"][2]
    assert extra == {
        "DeviceName": "/dev/sdg",
        "Ebs": {"VolumeSize": 5, "DeleteOnTermination": True, "Encrypted": True},
    }


def test_the_templates_root_volume_counts_where_nothing_else_was_asked_for() -> None:
    root = {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 50, "VolumeType": "io2", "Iops": 900}}
    template = templated(BlockDeviceMappings=[root])
    fixed = {"DeleteOnTermination": True, "Encrypted": True}
    assert volumes(template=template)[0]["Ebs"] == root["Ebs"] | fixed  # type: ignore[operator]
    other = volumes(Volumes(type="gp3"), template)[0]["Ebs"]
    assert other == {"VolumeSize": 50, "VolumeType": "gp3"} | fixed


def test_a_device_that_the_template_takes_away_stays_away() -> None:
    gone = {"DeviceName": "/dev/sdf", "NoDevice": ""}
    assert volumes(template=templated(BlockDeviceMappings=[gone]))[1] == gone


def test_tags_of_the_template_are_kept_beside_ours() -> None:
    tags = [{"Key": "team", "Value": "vision"}, {"Key": "runner-fleet:fleet-id", "Value": "other"}]
    template = templated(TagSpecifications=[{"ResourceType": "instance", "Tags": tags}])
    instance, volume = replace(LAUNCH, template=template).request()["TagSpecifications"]
    assert instance["Tags"] == [
        {"Key": "team", "Value": "vision"},
        {"Key": "runner-fleet:fleet-id", "Value": "77-1-start-x"},
    ]
    assert volume["Tags"] == [{"Key": "runner-fleet:fleet-id", "Value": "77-1-start-x"}]


def test_subnet_and_groups_go_into_the_network_interface_of_the_template() -> None:
    template = templated(
        NetworkInterfaces=[
            {"DeviceIndex": 0, "SubnetId": "subnet-22222222", "Groups": ["sg-22222222"]},
            {"DeviceIndex": 1, "SubnetId": "subnet-33333333"},
        ]
    )
    assert "NetworkInterfaces" not in replace(LAUNCH, template=template).request()
    placed = replace(LAUNCH, template=template, subnet_id="subnet-11111111").request()
    assert "SubnetId" not in placed
    assert placed["NetworkInterfaces"] == [
        {
            "DeviceIndex": 0,
            "SubnetId": "subnet-11111111",
            "Groups": ["sg-22222222"],
            "DeleteOnTermination": True,
        },
        {"DeviceIndex": 1, "SubnetId": "subnet-33333333"},
    ]


def test_a_public_address_beside_groups_of_the_template_is_refused() -> None:
    template = templated(SecurityGroupIds=["sg-22222222"])
    template.check(public_ip=None)
    with pytest.raises(InputError, match=r"^associate_public_ip: launch template lt-0"):
        template.check(public_ip=True)
