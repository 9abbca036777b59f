"""What RunInstances is asked for."""

from __future__ import annotations

from dataclasses import replace

from runner_fleet.ec2_model import Image, Launch

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


def test_all_instances_or_none_are_asked_for_once() -> None:
    request = LAUNCH.request()
    assert (request["MinCount"], request["MaxCount"]) == (3, 3)
    assert request["ClientToken"] == "t" * 64


def test_an_instance_that_powers_off_is_terminated_not_stopped() -> None:
    assert LAUNCH.request()["InstanceInitiatedShutdownBehavior"] == "terminate"


def test_all_volumes_go_with_the_instance_whatever_the_image_says() -> None:
    assert replace(LAUNCH, root_size=20).request()["BlockDeviceMappings"] == [
        {"DeviceName": "/dev/sda1", "Ebs": {"DeleteOnTermination": True, "VolumeSize": 20}},
        {"DeviceName": "/dev/sdf", "Ebs": {"DeleteOnTermination": True}},
    ]


def test_instances_and_volumes_are_tagged_as_they_are_launched() -> None:
    tags = [{"Key": "runner-fleet:fleet-id", "Value": "77-1-start-x"}]
    assert LAUNCH.request()["TagSpecifications"] == [
        {"ResourceType": "instance", "Tags": tags},
        {"ResourceType": "volume", "Tags": tags},
    ]


def test_metadata_is_only_given_to_those_who_hold_a_session_token() -> None:
    assert LAUNCH.request()["MetadataOptions"]["HttpTokens"] == "required"


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
