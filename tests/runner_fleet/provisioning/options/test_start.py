"""What start-runner makes of its inputs together."""

from __future__ import annotations

import json

import pytest
import yaml
from runner_fleet.ec2_volumes import Volumes

from tests.actions.harness import ROOT
from tests.runner_fleet.provisioning.options.given import ENVIRON, parsed, problems


def test_two_inputs_are_enough() -> None:
    options = parsed()
    assert options.placement.count == 1
    assert options.placement.regions == ("us-east-1",)
    assert options.timeout == 1200
    assert options.boot.max_lifetime == 360
    assert options.machine.volumes == Volumes(size=None, type="", encrypted=True, kms_key="")
    assert options.machine.hop_limit == 1
    assert options.machine.public_ip is None
    assert options.github.repository == "octo-org/gpu-tests"
    assert options.github.api_url == "https://api.github.com"


@pytest.mark.parametrize("name", ["instance_count", "gh_timeout", "max_lifetime_minutes"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("three", "'three' is not a whole number"),
        ("1.5", "'1.5' is not a whole number"),
        ("\u0661", "'\u0661' is not a whole number"),
        ("9" * 1001, f"'{'9' * 57}...' is not a whole number"),
        ("0", "'0' is too small: at least 1"),
        ("-1", "'-1' is too small: at least 1"),
    ],
)
def test_a_number_that_is_none_is_refused(name: str, value: str, text: str) -> None:
    assert problems(**{name: value}) == [f"{name}: {text}"]


def test_an_instance_may_wait_for_a_job_for_ever() -> None:
    assert parsed(idle_timeout_minutes="0", instance_count="2").boot.idle_timeout == 0


def test_several_instances_must_not_end_while_they_wait_for_each_other() -> None:
    (line,) = problems(idle_timeout_minutes="10", instance_count="2")
    assert line == (
        "idle_timeout_minutes: 10 minutes are less than gh_timeout (1200 seconds): an instance "
        "that is ready early would end while it waits for the others. Give at least 20 minutes, "
        "0 for no limit, or less time in gh_timeout"
    )
    assert parsed(idle_timeout_minutes="10").boot.idle_timeout == 10
    assert parsed(gh_timeout="2400", instance_count="2").boot.idle_timeout == 40
    assert parsed(gh_timeout="2400").boot.idle_timeout == 30
    assert parsed(idle_timeout_minutes="10", gh_timeout="600", instance_count="2")


def test_nor_while_the_last_of_those_that_are_launched_alone_finds_no_room() -> None:
    given = {"instance_count": "2", "registration": "jit", "capacity_timeout": "700"}
    (line,) = problems(**given, idle_timeout_minutes="31")
    assert line.startswith(
        "idle_timeout_minutes: 31 minutes are less than capacity_timeout and gh_timeout (1900 s"
    )
    assert parsed(**given).boot.idle_timeout == 32
    assert parsed(**given, gh_timeout="1100")
    assert parsed(**given | {"registration": "token"})
    assert parsed(**given | {"instance_count": "1"})


@pytest.mark.parametrize("name", ["GITHUB_API_URL", "GITHUB_SERVER_URL", "AWS_ENDPOINT_URL"])
@pytest.mark.parametrize("url", ["foo", "127.0.0.1:80", "http://", "http://[::1", "ftp://x", "//x"])
def test_a_url_that_is_none_is_refused(name: str, url: str) -> None:
    (line,) = problems(ENVIRON | {name: url})
    assert line == f"{name}: {url!r} is not a URL like https://github.example.com"


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"])
def test_a_credential_with_a_line_end_is_refused_and_not_shown(name: str) -> None:
    (line,) = problems(ENVIRON | {name: "a-secret-value\n"})
    assert line == f"{name}: the value holds white space or control characters: set it anew"


def test_all_problems_come_in_one_report() -> None:
    lines = problems(
        {},
        aws_image_id="ami-xyz",
        aws_instance_type="big",
        aws_subnet_id="subnet",
        instance_count="none",
        aws_tags="[",
        extra_gh_labels='"',
        aws_home_dir="home",
        aws_image_owner="me",
    )
    assert sorted(line.partition(":")[0] for line in lines) == [
        "GH_PAT",
        "aws_home_dir",
        "aws_image_id",
        "aws_image_owner",
        "aws_instance_type",
        "aws_region_name",
        "aws_subnet_id",
        "aws_tags",
        "extra_gh_labels",
        "instance_count",
        "repo",
    ]


def test_the_token_is_never_part_of_what_options_show() -> None:
    assert ENVIRON["GH_PAT"] not in repr(parsed())


def test_bytes_that_are_no_text_are_refused_in_every_input() -> None:
    inputs = yaml.safe_load((ROOT / "start-runner" / "action.yml").read_text("utf-8"))["inputs"]
    for name in inputs:
        lines = problems(**{name: "#!/bin/sh\necho \udcff"})
        assert lines.count(f"{name}: is no text: it holds bytes that are not UTF-8") == 1


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (
            {"max_lifetime_minutes": "19"},
            (
                "max_lifetime_minutes: 19 minutes are less than gh_timeout (1200 seconds): an "
                "instance could end while the start still waits for it"
            ),
        ),
        (
            {"aws_root_device_throughput": "751"},
            (
                "aws_root_device_throughput: 751 MiB/s need aws_root_device_iops of at least 3004; "
                "it is 3000"
            ),
        ),
        (
            {"aws_root_device_throughput": "1001", "aws_root_device_iops": "4000"},
            (
                "aws_root_device_throughput: 1001 MiB/s need aws_root_device_iops of at least "
                "4004; it is 4000"
            ),
        ),
        (
            {"aws_launch_template": "nope:latest", "aws_image_id": "", "aws_instance_type": ""},
            "aws_launch_template: 'nope:latest' is not a launch template's name or id",
        ),
    ],
)
def test_inputs_that_contradict_each_other_are_one_line(
    inputs: dict[str, str], expected: str
) -> None:
    (line,) = problems(**inputs)
    assert line[: len(expected)] == expected


@pytest.mark.parametrize(
    "inputs",
    [
        {"instance_count": "x", "min_count": "4"},
        {"instance_count": "x", "idle_timeout_minutes": "7"},
        {"gh_timeout": "x", "idle_timeout_minutes": "7", "instance_count": "2"},
        {"gh_timeout": "x", "max_lifetime_minutes": "7"},
        {"capacity_timeout": "x", "registration": "jit", "idle_timeout_minutes": "21"}
        | {"instance_count": "2"},
        {"registration": "x", "idle_timeout_minutes": "19", "instance_count": "2"},
        {"aws_root_device_type": "x", "aws_root_device_iops": "100000"},
        {"aws_root_device_type": "x", "aws_root_device_throughput": "100000"},
        {"aws_root_device_iops": "x", "aws_root_device_throughput": "800"},
    ],
)
def test_what_depends_on_a_wrong_input_is_not_a_problem_of_its_own(inputs: dict[str, str]) -> None:
    (line,) = problems(**inputs)
    assert line.startswith(f"{next(iter(inputs))}: ")


@pytest.mark.parametrize(
    "inputs",
    [
        {"max_lifetime_minutes": "20"},
        {"aws_prices": '{"g4dn.xlarge": 0.5}'},
        {"aws_prices": '{"p5.48xlarge": 50}'},
        {"aws_root_device_throughput": "750"},
        {"aws_root_device_throughput": "1000", "aws_root_device_iops": "4000"},
        {"aws_root_device_throughput": "1000", "aws_launch_template": "gpu"},
        {
            "aws_instance_type": "",
            "aws_launch_template": "gpu",
            "aws_prices": '{"g5.xlarge": 1}',
        },
    ],
)
def test_what_just_fits_together_is_taken(inputs: dict[str, str]) -> None:
    options, given = parsed(**inputs), {"aws_prices": "{}", **inputs}
    assert options.boot.max_lifetime == int(inputs.get("max_lifetime_minutes", "360"))
    assert options.placement.prices == json.loads(given["aws_prices"])
