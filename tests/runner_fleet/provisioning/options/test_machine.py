"""What kind of machine is asked for, as the inputs say it."""

from __future__ import annotations

import pytest
from runner_fleet.ec2_template import TemplateName
from runner_fleet.provisioning.options.start import start_options

from tests.runner_fleet.provisioning.options.given import ENVIRON, parsed, problems


def test_an_image_name_alone_means_the_newest_of_that_name() -> None:
    options = start_options({"aws_image_name": "Ubuntu", "aws_instance_type": "t3.small"}, ENVIRON)
    assert options.machine.image_ids == {"": ("latest",)}


def test_latest_without_a_name_is_refused() -> None:
    assert problems(aws_image_id="latest") == [
        "aws_image_name: is required with aws_image_id 'latest': how its name begins"
    ]


@pytest.mark.parametrize(
    "text",
    ['{"team": "gpu", "cost": "42"}', '[{"Key":"team","Value":"gpu"},{"Key":"cost","Value":"42"}]'],
)
def test_tags_come_as_an_object_or_as_a_list(text: str) -> None:
    assert parsed(aws_tags=text).machine.tags == {"team": "gpu", "cost": "42"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{oops", "is not a JSON object"),
        ("7", "is not a JSON object"),
        ('[{"Key": "a"}]', "an item needs exactly Key and Value"),
        ('{"a": 1}', "tag 'a': key and value must be strings"),
        ('{"aws:x": "1"}', "tag 'aws:x': this prefix is reserved"),
        ('{"runner-fleet:fleet-id": "1"}', "tag 'runner-fleet:fleet-id': this prefix is reserved"),
        ('[{"Key":"a","Value":"1"},{"Key":"a","Value":"2"}]', "tag 'a' is given twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": "\\u0000"}', "tag 'a': control characters are not allowed"),
        ('{"a": "\\ud800"}', "tag 'a': control characters are not allowed"),
    ],
)
def test_bad_tags_are_refused(text: str, problem: str) -> None:
    (line,) = problems(aws_tags=text)
    assert line.startswith("aws_tags: ")
    assert problem in line


def test_more_tags_than_ec2_takes_are_refused() -> None:
    text = "{" + ",".join(f'"k{number}": "v"' for number in range(45)) + "}"
    assert problems(aws_tags=text) == ["aws_tags: 45 tags; 40 are allowed"]


@pytest.mark.parametrize(
    "text", ["sg-11111111,sg-22222222", "sg-11111111 sg-22222222", '["sg-11111111", "sg-22222222"]']
)
def test_security_groups_are_one_or_several(text: str) -> None:
    assert parsed(aws_security_group_id=text).machine.security_group_ids == {
        "": ("sg-11111111", "sg-22222222")
    }


def test_an_arn_of_a_role_is_no_instance_profile() -> None:
    (line,) = problems(aws_iam_role="arn:aws:iam::123456789012:role/builder")
    assert (
        line
        == "aws_iam_role: takes an instance profile's name or ARN; this ARN is of something else"
    )


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("gpu-runners", TemplateName("gpu-runners", "$Default")),
        ("gpu-runners:7", TemplateName("gpu-runners", "7")),
        ("lt-0123456789abcdef0:$Latest", TemplateName("lt-0123456789abcdef0", "$Latest")),
    ],
)
def test_a_launch_template_may_name_image_and_type(text: str, template: TemplateName) -> None:
    machine = start_options({"aws_launch_template": text}, ENVIRON).machine
    assert (machine.template, machine.image_ids) == (template, {})


@pytest.mark.parametrize("text", ["ab", "gpu:latest", "gpu:", "a template", "gpu:$Newest"])
def test_a_launch_template_that_is_none_is_refused(text: str) -> None:
    (line,) = problems(aws_launch_template=text)
    assert line.startswith(f"aws_launch_template: {text!r} is not a launch template's name or id")


def test_a_template_is_asked_for_by_name_or_by_id() -> None:
    assert TemplateName("gpu").parameters() == {"LaunchTemplateName": "gpu"}
    by_id = TemplateName("lt-0123456789abcdef0").parameters()
    assert by_id == {"LaunchTemplateId": "lt-0123456789abcdef0"}


@pytest.mark.parametrize("hops", ["0", "65"])
def test_a_hop_limit_outside_of_ec2s_is_refused(hops: str) -> None:
    (line,) = problems(metadata_hop_limit=hops)
    assert line.startswith(f"metadata_hop_limit: '{hops}' is too ")


@pytest.mark.parametrize(("text", "asked"), [("", None), ("true", True), ("False", False)])
def test_a_public_address_is_the_subnets_business_unless_asked_for(
    text: str, asked: bool | None
) -> None:
    assert parsed(associate_public_ip=text).machine.public_ip is asked
