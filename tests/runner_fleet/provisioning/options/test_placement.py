"""Where a fleet may be launched and how large it is, as the inputs say it."""

from __future__ import annotations

import pytest
from runner_fleet.provisioning.options.start import start_options

from tests.runner_fleet.provisioning.options.given import ENVIRON, parsed, problems


@pytest.mark.parametrize(
    "text", ["g4dn.xlarge, g5.xlarge", "g4dn.xlarge\ng5.xlarge", '["g4dn.xlarge","g5.xlarge"]']
)
def test_instance_types_are_one_or_several_in_order(text: str) -> None:
    assert parsed(aws_instance_type=text).placement.instance_types == ("g4dn.xlarge", "g5.xlarge")


def test_regions_are_one_or_several_in_order() -> None:
    options = start_options(
        {"aws_image_name": "Ubuntu", "aws_instance_type": "t3.small"}
        | {"aws_region_name": "us-west-2, us-east-1"},
        ENVIRON,
    )
    assert options.placement.regions == ("us-west-2", "us-east-1")


def test_ids_may_differ_by_region() -> None:
    text = '{"us-east-1": ["subnet-11111111", "subnet-22222222"], "us-west-2": "subnet-33333333"}'
    options = parsed(
        aws_region_name="us-east-1,us-west-2",
        aws_image_id='{"us-east-1": "ami-11111111", "us-west-2": "resolve:ssm:/image"}',
        aws_subnet_id=text,
    )
    assert options.placement.subnets_of("us-east-1") == ("subnet-11111111", "subnet-22222222")
    assert options.placement.subnets_of("us-west-2") == ("subnet-33333333",)
    assert options.machine.image_ids == {
        "us-east-1": ("ami-11111111",),
        "us-west-2": ("resolve:ssm:/image",),
    }


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "aws_subnet_id",
            "subnet-11111111",
            (
                "ids differ by region: for several regions give a JSON object like "
                '{"us-east-1": "…", "us-west-2": "…"}'
            ),
        ),
        (
            "aws_security_group_id",
            '{"us-east-1": "sg-11111111"}',
            "has no value for us-west-2, which aws_region_name lists",
        ),
        (
            "aws_subnet_id",
            '{"us-east-1": "subnet-11111111", "us-west-2": "nothing"}',
            "'nothing' is not a subnet id (subnet-0123456789abcdef0)",
        ),
        (
            "aws_subnet_id",
            '{"us-east-1": "subnet-11111111", "us-west-2": 7}',
            "us-west-2: needs a string or an array of strings",
        ),
        ("aws_subnet_id", '{"us-east-1": ', 'is not a JSON object like {"us-east-1": "…"}'),
        (
            "aws_subnet_id",
            '{"us-east-1": "subnet-11111111", "us-east-1": "subnet-22222222"}',
            """is not a JSON object like {"us-east-1": "…"}: 'us-east-1' is given twice""",
        ),
        ("aws_subnet_id", "[null]", "'null' is not a subnet id (subnet-0123456789abcdef0)"),
        (
            "aws_image_id",
            '{"us-east-1": ["ami-11111111", "ami-22222222"], "us-west-2": "ami-33333333"}',
            "takes one image (for each region)",
        ),
    ],
)
def test_ids_by_region_that_do_not_fit_are_refused(name: str, text: str, problem: str) -> None:
    regions = {"aws_region_name": "us-east-1,us-west-2", "aws_image_name": "x"}
    inputs = {"aws_image_id": "latest", name: text}
    assert problems(**regions, **inputs)[0].startswith(f"{name}: {problem}")


def test_without_more_a_start_wants_all_instances_on_demand_within_five_minutes() -> None:
    options = parsed(instance_count="3").placement
    assert (options.minimum, options.markets, options.timeout) == (3, ("on-demand",), 300)
    assert not options.cheapest_first


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"instance_count": "3", "min_count": "4"}, "min_count: '4' is too large: at most 3"),
        (
            {"min_count": "0"},
            "min_count: '0' is too small: at least 1 (leave it out for all)",
        ),
        (
            {"capacity_timeout": "10000000000"},
            "capacity_timeout: '10000000000' is too large: at most 1000000000",
        ),
        ({"capacity_timeout": "-1"}, "capacity_timeout: '-1' is too small: at least 0"),
        (
            {"market": "cheap"},
            "market: 'cheap' is not one of on-demand, spot, spot-then-on-demand",
        ),
        (
            {"placement_strategy": "random"},
            "placement_strategy: 'random' is not one of in-order, cheapest-first",
        ),
        ({"aws_prices": "0.5"}, "aws_prices: is not a JSON object of numbers"),
        ({"aws_prices": '{"g4dn": 1}'}, "aws_prices: 'g4dn' is not an instance type like g4dn.xla"),
        (
            {"aws_prices": '{"g5.xlarge": 1, "g5.xlarge": 2}'},
            "aws_prices: is not a JSON object of numbers: 'g5.xlarge' is given twice",
        ),
        ({"aws_prices": '{"g5.xlarge": 0}'}, "aws_prices: g5.xlarge: is not a number above 0"),
        ({"aws_prices": '{"g5.xlarge": NaN}'}, "aws_prices: g5.xlarge: is not a number above 0"),
        ({"aws_prices": '{"g5.xlarge": true}'}, "aws_prices: g5.xlarge: is not a number above 0"),
    ],
)
def test_a_wish_for_places_that_cannot_be_is_refused(inputs: dict[str, str], problem: str) -> None:
    (line,) = problems(**inputs)
    assert line.startswith(problem)


def test_more_instances_than_one_call_can_watch_are_refused() -> None:
    assert problems(instance_count="201") == ["instance_count: '201' is too large: at most 200"]
