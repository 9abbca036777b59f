"""What kind of machine start-runner launches: volumes, network, launch template, architecture."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from sandbox.world import World

from tests.actions.harness import Actions
from tests.actions.test_start import INPUTS, assert_nothing_left, live

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

UBUNTU = "ami-0c240000000000002"
UBUNTU_ARM = "ami-0c240000000000003"


def shown(ec2: EC2Client) -> Any:
    (reservation,) = ec2.describe_instances()["Reservations"]
    (instance,) = reservation["Instances"]
    return instance


def template(ec2: EC2Client, **data: Any) -> str:
    made = ec2.create_launch_template(LaunchTemplateName="gpu", LaunchTemplateData=data)  # type: ignore[arg-type]
    return made["LaunchTemplate"]["LaunchTemplateId"]


def test_volumes_are_encrypted_and_addresses_and_hops_are_as_asked_for(
    actions: Actions, world: World, ec2: EC2Client
) -> None:
    result = actions.run("start-runner", INPUTS | {"associate_public_ip": "true"})
    assert result.status == 0, result.log
    assert shown(ec2)["PublicIpAddress"]
    (volume,) = ec2.describe_volumes()["Volumes"]
    assert (volume["Encrypted"], volume["VolumeType"]) == (True, "gp3")
    (launch,) = [call for call in world.calls.all() if call.operation == "RunInstances"]
    assert launch.fields["MetadataOptions.HttpPutResponseHopLimit"] == "1"


def test_a_launch_template_alone_says_what_to_launch(
    actions: Actions, world: World, ec2: EC2Client
) -> None:
    template(
        ec2,
        ImageId=UBUNTU,
        InstanceType="g4dn.xlarge",
        InstanceInitiatedShutdownBehavior="stop",
        UserData=base64.b64encode(b"#!/bin/bash\nexit 3\n").decode(),
        BlockDeviceMappings=[
            {"DeviceName": "/dev/sdf", "Ebs": {"VolumeSize": 5, "DeleteOnTermination": False}}
        ],
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "vision"}]}
        ],
    )
    inputs = {"aws_launch_template": "gpu:$Latest", "aws_home_dir": "/home/ubuntu"}
    started = actions.run("start-runner", inputs)
    assert started.status == 0, started.log
    ignored = "not taken over: user data, DeleteOnTermination false, shutdown behavior stop\n"
    assert started.log.count(ignored) == 1
    (instance,) = world.ec2.instances()
    assert (instance.type, instance.image) == ("g4dn.xlarge", UBUNTU)
    assert instance.tags["team"] == "vision"
    assert instance.tags["runner-fleet:fleet-id"] == started.outputs["fleet_id"]
    to_stop = {"instance_mapping": started.outputs["mapping"], "wait": "true"}
    stopped = actions.run("stop-runner", to_stop)
    assert stopped.status == 0, stopped.log
    assert_nothing_left(world)
    assert ec2.describe_volumes()["Volumes"] == []


def test_what_a_launch_template_leaves_open_must_be_given(
    actions: Actions, world: World, ec2: EC2Client
) -> None:
    name = template(ec2, KeyName="ssh")
    result = actions.run("start-runner", {"aws_launch_template": name})
    assert result.status == 1
    assert result.errors == [
        f"aws_image_id: is required, as launch template {name}:$Default names none",
        f"aws_instance_type: is required, as launch template {name}:$Default names none",
    ]
    assert live(world) == []


def test_a_launch_template_that_does_not_exist_is_one_line(actions: Actions) -> None:
    result = actions.run("start-runner", {"aws_launch_template": "gpu:7"})
    (line,) = result.errors
    assert line.startswith("aws_launch_template gpu:7: AWS refused DescribeLaunchTemplateVersions")
    assert line.endswith("; there is no such launch template in this region")


def test_an_arm64_image_gets_the_arm64_runner(actions: Actions, world: World) -> None:
    inputs = {"aws_image_id": UBUNTU_ARM, "aws_instance_type": "g5g.xlarge"}
    result = actions.run("start-runner", inputs)
    assert result.status == 0, result.log
    (instance,) = world.ec2.instances()
    (runner,) = world.github.runners()
    assert (instance.architecture, runner.arch) == ("arm64", "ARM64")
