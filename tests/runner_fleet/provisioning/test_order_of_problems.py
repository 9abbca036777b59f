"""Problems are reported in the order in which action.yml declares the inputs that they name."""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.input_order import in_order
from runner_fleet.provisioning.options.start import start_options
from runner_fleet.provisioning.options.stop import stop_options
from runner_fleet.provisioning.problems import Problem, UnpreparedError

ENVIRON = {"GITHUB_REPOSITORY": "octo-org/gpu-tests", "AWS_REGION": "us-east-1"}


def names(lines: tuple[str, ...]) -> list[str]:
    return [line.partition(":")[0] for line in lines]


def test_a_start_reports_in_order_and_what_names_no_input_last() -> None:
    inputs = {
        "runner_version": "newest",
        "max_lifetime_minutes": "never",
        "gh_timeout": "soon",
        "repo": "nonsense",
        "aws_root_device_size": "0",
        "aws_prices": "7",
        "market": "cheap",
        "aws_region_name": "USA",
        "dry_run": "maybe",
        "instance_count": "many",
    }
    with pytest.raises(InputError) as caught:
        start_options(inputs, ENVIRON | {"AWS_ENDPOINT_URL": "nowhere"})
    assert names(caught.value.lines) == [
        *("aws_image_id", "aws_instance_type", "instance_count", "dry_run", "aws_region_name"),
        *("market", "aws_prices", "aws_root_device_size", "repo", "gh_timeout"),
        *("max_lifetime_minutes", "runner_version", "GH_PAT", "AWS_ENDPOINT_URL"),
    ]


def test_several_problems_of_one_input_stay_in_their_order() -> None:
    inputs = {"aws_subnet_id": "one,two", "aws_instance_type": "big,g4dn.xlarge,small"}
    with pytest.raises(InputError) as caught:
        start_options({"aws_image_name": "x", **inputs}, ENVIRON | {"GH_PAT": "x"})
    assert [line.partition(" is not")[0] for line in caught.value.lines] == [
        *("aws_instance_type: 'big'", "aws_instance_type: 'small'"),
        *("aws_subnet_id: 'one'", "aws_subnet_id: 'two'"),
    ]


def test_a_stop_that_cannot_be_reports_everything_in_order() -> None:
    inputs = {
        "region_timeout": "0",
        "dry_run": "maybe",
        "sweep": "all",
        "wait": "perhaps",
        "repo": "nonsense",
        "aws_region_name": "USA",
        "fleet_id": "7",
        "instance_mapping": "{",
    }
    with pytest.raises(InputError) as caught:
        stop_options(inputs, ENVIRON)
    assert names(caught.value.lines) == [
        *("instance_mapping", "fleet_id", "aws_region_name", "repo", "wait", "sweep", "dry_run"),
        *("region_timeout", "GH_PAT"),
    ]


def test_a_stop_that_goes_on_reports_in_order() -> None:
    named = {"fleet_id": "77-1-start-ab12cd34"}
    wrong = {"wait": "perhaps", "repo": "nonsense", "aws_region_name": "USA,us-east-1"}
    assert names(stop_options(named | wrong, ENVIRON).problems) == [
        *("aws_region_name", "repo", "wait", "GH_PAT")
    ]


def test_what_the_services_find_is_in_the_order_of_the_inputs_too() -> None:
    found = [
        Problem("GitHub", "GitHub does not accept the token"),
        Problem("x", "aws_subnet_id: there is no such subnet", "us-west-2"),
        Problem("x", "aws_image_id ami-1: AWS refused DescribeImages", "us-west-2"),
        Problem("x", "aws_image_id ami-1: AWS refused DescribeImages", "us-east-1"),
    ]
    assert UnpreparedError(found, several=True).lines == (
        "us-west-2: aws_image_id ami-1: AWS refused DescribeImages",
        "us-east-1: aws_image_id ami-1: AWS refused DescribeImages",
        "us-west-2: aws_subnet_id: there is no such subnet",
        "GitHub does not accept the token",
    )


def test_nothing_is_read_when_nothing_is_wrong() -> None:
    assert in_order([], "an-action-that-does-not-exist") == []
