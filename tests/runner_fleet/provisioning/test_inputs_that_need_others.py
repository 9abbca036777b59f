"""An input that means nothing without another one is refused; its default never is."""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.start import start_options
from runner_fleet.provisioning.options.stop import Sweep, stop_options

ENVIRON = {"GITHUB_REPOSITORY": "octo-org/gpu-tests", "GH_PAT": "x", "AWS_REGION": "us-east-1"}
BY_ID = {"aws_image_id": "ami-0123456789abcdef0", "aws_instance_type": "g4dn.xlarge"}
TEMPLATE = {"aws_launch_template": "gpu"}
FLEET = {"fleet_id": "77-1-start-ab12cd34"}

OWNER = "aws_image_owner: has no effect without aws_image_name"
VERSION = (
    "runner_version: has no effect with runner_directory: the image has its runner already. Leave "
    "one of them out"
)
AGE = "min_age_minutes: is only for a sweep: set sweep to orphans, or leave it out"
REHEARSAL = "dry_run: is only for a sweep: set sweep to orphans, or leave dry_run out"
WAIT = "wait: is not for a sweep, which never waits: leave it out"


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (BY_ID | {"aws_image_owner": "self"}, OWNER),
        (TEMPLATE | {"aws_image_owner": "self"}, OWNER),
        (BY_ID | {"runner_version": "2.330.0", "runner_directory": "/opt/runner"}, VERSION),
        (BY_ID | {"no_proxy": "a.com"}, "no_proxy: has no effect without http_proxy or https_pro"),
    ],
)
def test_a_start_refuses_an_input_whose_other_one_is_missing(
    inputs: dict[str, str], expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        start_options(inputs, ENVIRON)
    (line,) = caught.value.lines
    assert line.startswith(expected)


@pytest.mark.parametrize(
    "inputs",
    [
        BY_ID | {"aws_image_owner": "amazon"},
        BY_ID | {"aws_image_owner": "self", "aws_image_id": "latest", "aws_image_name": "gpu"},
        BY_ID | {"runner_version": "latest", "runner_directory": "/opt/runner"},
    ],
)
def test_a_start_takes_defaults_and_what_goes_together(inputs: dict[str, str]) -> None:
    assert start_options(inputs, ENVIRON).machine.image_owner == inputs.get(
        "aws_image_owner", "amazon"
    )


def test_an_owner_adds_nothing_to_an_image_that_is_missing() -> None:
    with pytest.raises(InputError) as caught:
        start_options({"aws_instance_type": "t3.small", "aws_image_owner": "self"}, ENVIRON)
    (line,) = caught.value.lines
    assert line.startswith("aws_image_id: is required")


def test_what_is_only_for_a_sweep_is_noted_and_the_fleet_is_stopped() -> None:
    options = stop_options(FLEET | {"min_age_minutes": "5"}, ENVIRON)
    assert (options.fleet_id, options.problems) == (FLEET["fleet_id"], (AGE,))


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"min_age_minutes": "5"}, [AGE]),
        ({"sweep": "orphans", "wait": "true"}, [WAIT]),
        ({"dry_run": "true", "min_age_minutes": "5"}, [AGE, REHEARSAL]),
        # It was asked for in so many words that nothing be ended.
        (FLEET | {"dry_run": "true", "min_age_minutes": "5"}, [AGE, REHEARSAL]),
    ],
)
def test_a_stop_refuses_what_cannot_be_meant(inputs: dict[str, str], expected: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        stop_options(inputs, ENVIRON)
    assert list(caught.value.lines) == expected


def test_a_stop_takes_defaults_that_are_written_out() -> None:
    defaults = {"min_age_minutes": "60", "wait": "false", "dry_run": "false"}
    assert stop_options(FLEET | defaults, ENVIRON).problems == ()
    swept = stop_options(defaults | {"sweep": "orphans", "min_age_minutes": "5"}, ENVIRON)
    assert (swept.sweep, swept.problems) == (Sweep(300, dry_run=False), ())


def test_a_sweep_beside_a_fleet_that_is_stopped_does_not_forbid_to_wait_for_it() -> None:
    (problem,) = stop_options(FLEET | {"sweep": "orphans", "wait": "true"}, ENVIRON).problems
    assert problem.startswith("sweep: cannot be combined with")
