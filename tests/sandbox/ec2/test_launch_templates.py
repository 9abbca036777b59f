"""Launch templates as EC2 documents them: the request goes before the template."""

from __future__ import annotations

import base64
from typing import Any

import pytest

UBUNTU = "ami-0c240000000000002"
AMAZON_LINUX = "ami-0a120000000000002"
TEMPLATE = {"LaunchTemplateName": "gpu"}


def create(cloud: Any, **data: Any) -> str:
    made = cloud.client.create_launch_template(LaunchTemplateName="gpu", LaunchTemplateData=data)
    return str(made["LaunchTemplate"]["LaunchTemplateId"])


def run(cloud: Any, **changes: Any) -> Any:
    """The instance of a request that says little else."""
    asked = {"MinCount": 1, "MaxCount": 1, "LaunchTemplate": TEMPLATE} | changes
    (instance,) = cloud.client.run_instances(**asked)["Instances"]
    return instance


def test_a_template_gives_image_type_and_everything_else_the_request_does_not_say(
    cloud: Any,
) -> None:
    [subnet] = cloud.client.describe_subnets(
        Filters=[{"Name": "availability-zone", "Values": ["us-east-1b"]}]
    )["Subnets"]
    vpc = subnet["VpcId"]
    group = cloud.client.create_security_group(VpcId=vpc, GroupName="g", Description="g")["GroupId"]
    create(
        cloud,
        ImageId=AMAZON_LINUX,
        InstanceType="g6.2xlarge",
        NetworkInterfaces=[
            {"DeviceIndex": 0, "SubnetId": subnet["SubnetId"], "Groups": [group],
             "AssociatePublicIpAddress": True}
        ],
        BlockDeviceMappings=[{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 30}}],
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "vision"}]}
        ],
        UserData=base64.b64encode(b"#!/bin/bash\necho from the template\n").decode(),
        InstanceInitiatedShutdownBehavior="terminate",
    )  # fmt: skip

    instance = run(cloud)

    assert (instance["ImageId"], instance["InstanceType"]) == (AMAZON_LINUX, "g6.2xlarge")
    assert instance["SubnetId"] == subnet["SubnetId"]
    assert instance["Tags"] == [{"Key": "team", "Value": "vision"}]
    [volume] = cloud.client.describe_volumes()["Volumes"]
    assert volume["Size"] == 30
    assert "from the template" in cloud.until_finished(instance["InstanceId"])
    shown = cloud.instance(instance["InstanceId"])
    assert shown["PublicIpAddress"]
    assert [each["GroupId"] for each in shown["SecurityGroups"]] == [group]


def test_parameters_of_the_request_go_before_those_of_the_template(cloud: Any) -> None:
    tags = {"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "vision"}]}
    create(
        cloud,
        ImageId=AMAZON_LINUX,
        InstanceType="g6.2xlarge",
        TagSpecifications=[tags],
        UserData=base64.b64encode(b"#!/bin/bash\nexit 3\n").decode(),
    )
    ours = {"ResourceType": "instance", "Tags": [{"Key": "job", "Value": "1"}]}

    instance = run(
        cloud,
        ImageId=UBUNTU,
        InstanceType="g6.xlarge",
        TagSpecifications=[ours],
        UserData="#!/bin/bash\n",
    )

    assert (instance["ImageId"], instance["InstanceType"]) == (UBUNTU, "g6.xlarge")
    assert instance["Tags"] == [{"Key": "job", "Value": "1"}]


def test_a_template_is_named_by_its_id_too_and_has_versions(cloud: Any) -> None:
    template = create(cloud, ImageId=UBUNTU, InstanceType="g6.xlarge")
    cloud.client.create_launch_template_version(
        LaunchTemplateId=template,
        LaunchTemplateData={"ImageId": UBUNTU, "InstanceType": "g6.2xlarge"},
    )

    def kind(**version: str) -> str:
        return str(
            run(cloud, LaunchTemplate={"LaunchTemplateId": template} | version)["InstanceType"]
        )

    assert kind() == "g6.xlarge"  # the default version is the first
    assert kind(Version="$Latest") == "g6.2xlarge"
    assert kind(Version="2") == "g6.2xlarge"
    assert kind(Version="$Default") == "g6.xlarge"


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ({"LaunchTemplateName": "none"}, "InvalidLaunchTemplateName.NotFoundException"),
        ({"LaunchTemplateId": "lt-0123456789abcdef0"}, "InvalidLaunchTemplateId.NotFound"),
        (TEMPLATE | {"Version": "9"}, "InvalidLaunchTemplateId.VersionNotFound"),
        ({"Version": "1"}, "MissingParameter"),
    ],
)
def test_a_template_that_does_not_exist_is_refused(
    cloud: Any, refusal: Any, template: dict[str, str], code: str
) -> None:
    create(cloud, ImageId=UBUNTU, InstanceType="g6.xlarge")

    assert refusal(run, cloud=cloud, LaunchTemplate=template)[:2] == (400, code)


def test_a_template_without_an_image_leaves_the_request_incomplete(
    cloud: Any, refusal: Any
) -> None:
    create(cloud, InstanceType="g6.xlarge")

    assert refusal(run, cloud=cloud)[1] == "MissingParameter"


@pytest.mark.parametrize("parameter", ["SubnetId", "SecurityGroupIds"])
def test_subnet_and_groups_are_the_interfaces_when_there_is_one(
    cloud: Any, refusal: Any, parameter: str
) -> None:
    subnet = cloud.client.describe_subnets()["Subnets"][0]
    [group] = cloud.client.describe_security_groups(
        Filters=[{"Name": "vpc-id", "Values": [subnet["VpcId"]]}]
    )["SecurityGroups"]
    values = {"SubnetId": subnet["SubnetId"], "SecurityGroupIds": [group["GroupId"]]}
    interface = {"DeviceIndex": 0, "AssociatePublicIpAddress": True}
    changes = {"NetworkInterfaces": [interface], parameter: values[parameter]}

    status, code, message = refusal(cloud.run, **changes)

    assert (status, code) == (400, "InvalidParameterCombination")
    assert message.startswith("Network interfaces and an instance-level")


def test_an_interface_without_a_subnet_is_in_the_default_vpc(cloud: Any) -> None:
    [instance] = cloud.launch(
        NetworkInterfaces=[{"DeviceIndex": 0, "AssociatePublicIpAddress": True}]
    )

    shown = cloud.instance(instance["InstanceId"])
    assert shown["SubnetId"]
    assert shown["PublicIpAddress"]
    assert shown["SecurityGroups"]


def test_an_on_demand_request_overrides_the_spot_market_of_a_template(cloud: Any) -> None:
    create(
        cloud,
        ImageId=UBUNTU,
        InstanceType="g6.xlarge",
        InstanceMarketOptions={"MarketType": "spot"},
    )

    assert run(cloud)["InstanceLifecycle"] == "spot"
    assert "InstanceLifecycle" not in run(cloud, InstanceMarketOptions={"MarketType": "on-demand"})
