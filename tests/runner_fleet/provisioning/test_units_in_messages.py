"""A message about a time says it in the unit in which its input is given."""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.start import start_options

ENVIRON = {"GITHUB_REPOSITORY": "octo-org/gpu-tests", "GH_PAT": "x", "AWS_REGION": "us-east-1"}
GOOD = {"aws_image_id": "ami-0123456789abcdef0", "aws_instance_type": "g4dn.xlarge"}


def problem(**inputs: str) -> str:
    with pytest.raises(InputError) as caught:
        start_options(GOOD | inputs, ENVIRON)
    (line,) = caught.value.lines
    return line


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (
            {"max_lifetime_minutes": "19"},
            (
                "max_lifetime_minutes: 19 minutes are less than gh_timeout (1200 seconds): an "
                "instance could end while the start still waits for it. Give at least 20 "
                "minutes, or less time in gh_timeout"
            ),
        ),
        (
            {"max_lifetime_minutes": "2", "gh_timeout": "121"},
            (
                "max_lifetime_minutes: 2 minutes are less than gh_timeout (121 seconds): an "
                "instance could end while the start still waits for it. Give at least 3 "
                "minutes, or less time in gh_timeout"
            ),
        ),
        (
            {"idle_timeout_minutes": "10", "instance_count": "2"},
            (
                "idle_timeout_minutes: 10 minutes are less than gh_timeout (1200 seconds): an "
                "instance that is ready early would end while it waits for the others. Give at "
                "least 20 minutes, 0 for no limit, or less time in gh_timeout"
            ),
        ),
        (
            {
                "idle_timeout_minutes": "31",
                "instance_count": "2",
                "registration": "jit",
                "capacity_timeout": "700",
            },
            (
                "idle_timeout_minutes: 31 minutes are less than capacity_timeout and gh_timeout"
                " (1900 seconds): an instance that is ready early would end while it waits for "
                "the others. Give at least 32 minutes, 0 for no limit, or less time in "
                "capacity_timeout and gh_timeout"
            ),
        ),
    ],
)
def test_a_time_that_is_too_short_is_said_in_the_units_that_were_given(
    inputs: dict[str, str], expected: str
) -> None:
    assert problem(**inputs) == expected
