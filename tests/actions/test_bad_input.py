"""Bad input gets one clear line a problem, and nothing is started."""

from __future__ import annotations

import re

import pytest
from sandbox.world import World

from tests.actions.harness import Actions, aws
from tests.actions.test_start import INPUTS
from tests.noise import noise

BY_ID = {"aws_image_id": "", "aws_image_name": "", "aws_instance_type": "g4dn.xlarge"}


def refused(
    actions: Actions, world: World, inputs: dict[str, str], env: dict[str, str] | None = None
) -> list[str]:
    """The problems start-runner names; it must have started nothing."""
    result = actions.run("start-runner", inputs, env)
    assert result.status == 1, result.log
    assert "Traceback" not in result.log
    assert world.ec2.instances() == []
    assert result.errors
    return result.errors


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"instance_count": "two"}, "instance_count: 'two' is not a whole number"),
        ({"instance_count": "0"}, "instance_count: '0' is too small: at least 1"),
        ({"instance_count": "-3"}, "instance_count: '-3' is too small: at least 1"),
        ({"aws_root_device_size": "big"}, "aws_root_device_size: 'big' is not a whole number"),
        ({"aws_root_device_size": "0"}, "aws_root_device_size: '0' is too small: at least 1"),
        ({"aws_tags": "{oops"}, "aws_tags: is not a JSON object"),
        ({"extra_gh_labels": 'a"b'}, "extra_gh_labels: label"),
        ({"extra_gh_labels": "a\nb"}, "extra_gh_labels: label"),
        ({"extra_gh_labels": "x" * 257}, "257 characters; 256 are allowed"),
        ({"aws_region_name": "us-esat-1"}, "aws_region_name: there is no region 'us-esat-1'; did"),
        ({"aws_region_name": "USA"}, "aws_region_name: 'USA' is not a region like us-east-1"),
        ({"aws_image_name": ""}, "aws_image_name: is required with aws_image_id 'latest'"),
        ({"repo": "gpu-tests"}, "repo: 'gpu-tests' is not a repository as owner/name"),
        ({"aws_instance_type": ""}, "aws_instance_type: is required"),
        ({"aws_instance_type": "[]"}, "aws_instance_type: is required"),
        (
            {"aws_instance_type": "g4dn.huge"},
            "aws_instance_type: there is no g4dn.huge in us-east-1",
        ),
        ({"pre_runner_script": noise(24_000)}, "the user data is"),
        (
            {"pre_runner_script": "true\nif then fi"},
            'pre_runner_script: line 2: bash cannot read it: "syntax error near',
        ),
        (
            {"aws_image_id": "ami-0123456789abcdef0"},
            "aws_image_id ami-0123456789abcdef0: AWS refused DescribeImages with InvalidAMIID",
        ),
        ({"aws_image_id": "resolve:ssm:/none/such"}, "there is no such SSM parameter"),
        ({"aws_subnet_id": "subnet-0123456789abcdef0"}, "InvalidSubnetID.NotFound"),
        ({"aws_security_group_id": "sg-0123456789abcdef0"}, "there is no such group"),
        ({"aws_iam_role": "no-such-profile"}, "takes the name or ARN of an instance profile"),
    ],
)
def test_one_wrong_input_is_one_line(
    actions: Actions, world: World, inputs: dict[str, str], expected: str
) -> None:
    (line,) = refused(actions, world, INPUTS | inputs)
    assert expected in line


def test_a_name_no_image_has_is_answered_with_the_nearest(actions: Actions, world: World) -> None:
    (line,) = refused(actions, world, INPUTS | {"aws_image_name": "deep learning base oss nvida"})
    assert "has a name that begins with 'deep learning base oss nvida'; nearest: " in line
    assert "'Deep Learning Base OSS Nvidia" in line
    names = re.findall(r"'([^']+)'", line.partition("nearest: ")[2])
    assert len({re.sub(r" [0-9]{8}$", "", name) for name in names}) == len(names) > 1


def test_a_path_of_windows_is_shown_as_it_was_given(actions: Actions, world: World) -> None:
    (line,) = refused(actions, world, INPUTS | {"aws_home_dir": r"D:\ci\it's here"})
    assert line.startswith(r"""aws_home_dir: "D:\ci\it's here" is not an absolute path""")


def test_a_missing_token_is_told_where_to_put_it(actions: Actions, world: World) -> None:
    (line,) = refused(actions, world, INPUTS, {"GH_PAT": ""})
    assert line.startswith("GH_PAT: the environment variable is empty: give the step 'env: GH_PAT:")


def test_missing_aws_credentials_are_told_how_to_get_them(actions: Actions, world: World) -> None:
    none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": ""}
    (line,) = refused(actions, world, INPUTS, none)
    assert line.startswith("no AWS credentials: run aws-actions/configure-aws-credentials")


def test_a_token_without_admin_rights_is_explained(actions: Actions, world: World) -> None:
    world.github.add_token("a-token-that-may-only-read", repos={"octo-org/gpu-tests": "read"})
    (line,) = refused(actions, world, INPUTS, {"GH_PAT": "a-token-that-may-only-read"})
    assert line.startswith("GitHub answers 404 (Not Found) for the runners of octo-org/gpu-tests")
    assert "Administration: read and write" in line


def test_a_wrong_token_is_explained(actions: Actions, world: World) -> None:
    (line,) = refused(actions, world, INPUTS, {"GH_PAT": "a-token-that-does-not-exist"})
    assert line == (
        "GitHub does not accept the token in GH_PAT (401): it is wrong, expired or revoked"
    )


def test_problems_of_both_services_come_together(actions: Actions, world: World) -> None:
    lines = refused(
        actions,
        world,
        INPUTS | {"aws_instance_type": "g4dn.huge", "pre_runner_script": noise(24_000)},
        {"GH_PAT": "a-token-that-does-not-exist"},
    )
    assert [line.split()[0] for line in lines] == ["aws_instance_type:", "GitHub", "the"]


def test_a_wrong_type_hides_no_wrong_image(actions: Actions, world: World) -> None:
    wrong = {"aws_instance_type": "g4dn.huge", "aws_image_name": "Ubunut"}
    image, kind = refused(actions, world, INPUTS | wrong)
    assert image.startswith("aws_image_name: no available image of amazon in us-east-1 has a name")
    assert kind == "aws_instance_type: there is no g4dn.huge in us-east-1"


def test_no_way_to_github_is_one_line(actions: Actions, world: World) -> None:
    (line,) = refused(actions, world, INPUTS, {"GITHUB_API_URL": "http://127.0.0.1:9"})
    assert line.startswith("GitHub at http://127.0.0.1:9 cannot be reached")


def test_an_image_for_another_architecture_is_refused(actions: Actions, world: World) -> None:
    inputs = {"aws_image_id": image(world, "arm64"), "aws_instance_type": "g4dn.xlarge"}
    (line,) = refused(actions, world, inputs)
    assert "is built for arm64, and g4dn.xlarge runs x86_64" in line


def test_a_volume_smaller_than_the_images_is_refused(actions: Actions, world: World) -> None:
    inputs = {
        "aws_image_id": image(world, "x86_64"),
        "aws_instance_type": "g4dn.xlarge",
        "aws_root_device_size": "1",
    }
    (line,) = refused(actions, world, inputs)
    assert line.startswith("aws_root_device_size: 1 GiB is smaller than the root volume of ami-")


def test_a_subnet_and_a_group_of_two_networks_are_refused(actions: Actions, world: World) -> None:
    ec2 = aws(world, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": ["default"]}])[
        "SecurityGroups"
    ]
    other = next(item["GroupId"] for item in group if item["VpcId"] != vpc)
    inputs = INPUTS | {"aws_subnet_id": subnet, "aws_security_group_id": other}
    (line,) = refused(actions, world, inputs)
    assert line.endswith("aws_subnet_id and aws_security_group_id must be of the same VPC")


def image(world: World, architecture: str) -> str:
    found = aws(world, "ec2").describe_images(
        Owners=["amazon"], Filters=[{"Name": "architecture", "Values": [architecture]}]
    )
    return str(found["Images"][0]["ImageId"])
