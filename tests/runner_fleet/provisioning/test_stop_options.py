"""What stop-runner makes of its inputs."""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.stop import stop_options

ENVIRON = {
    "GITHUB_REPOSITORY": "octo-org/gpu-tests",
    "GH_PAT": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "AWS_REGION": "us-east-1",
}


@pytest.mark.parametrize("mapping", ["", "{}", "null"])
def test_an_empty_mapping_needs_nothing_not_even_credentials(mapping: str) -> None:
    inputs = {"instance_mapping": mapping} if mapping else {}
    assert stop_options(inputs, {}).nothing_to_stop


def test_a_mapping_is_read_as_start_writes_it() -> None:
    text = '{"i-0123456789abcdef0": "runner-a", "i-01234567": "runner-b"}'
    options = stop_options({"instance_mapping": text}, ENVIRON)
    assert options.mapping == {"i-0123456789abcdef0": "runner-a", "i-01234567": "runner-b"}
    assert options.problems == ()


@pytest.mark.parametrize("mapping", ["{oops", "[]", '"x"', "7"])
def test_a_mapping_that_is_none_is_refused(mapping: str) -> None:
    with pytest.raises(InputError) as caught:
        stop_options({"instance_mapping": mapping}, ENVIRON)
    (line,) = caught.value.lines
    assert line.startswith("instance_mapping: is not a JSON object like")


def test_a_broken_mapping_does_not_save_a_fleet() -> None:
    options = stop_options({"instance_mapping": "{oops", "fleet_id": "77-1-start-x"}, ENVIRON)
    assert options.fleet_id == "77-1-start-x"
    assert len(options.problems) == 1
    assert options.problems[0].startswith("instance_mapping: is not a JSON object")


FLEET = {"fleet_id": "77-1-start-x"}


@pytest.mark.parametrize(
    ("inputs", "environ", "problem"),
    [
        ({"wait": "maybe"}, {}, "wait: 'maybe' is neither true nor false"),
        ({"repo": "nonsense"}, {}, "repo: 'nonsense' is not a repository as owner/name"),
        ({}, {"GH_PAT": ""}, "GH_PAT: the environment variable is empty"),
        ({}, {"GH_PAT": "a b"}, "GH_PAT: the token holds white space"),
        ({}, {"GITHUB_API_URL": "foo"}, "GITHUB_API_URL: 'foo' is not a URL"),
        ({"instance_mapping": '{"i-x": "a"}'}, {}, "instance_mapping: 'i-x' is not an instance id"),
    ],
)
def test_what_is_wrong_elsewhere_does_not_save_a_fleet(
    inputs: dict[str, str], environ: dict[str, str], problem: str
) -> None:
    options = stop_options(FLEET | inputs, ENVIRON | environ)
    assert options.fleet_id == "77-1-start-x"
    (line,) = options.problems
    assert line.startswith(problem)


def test_good_entries_of_a_mapping_are_kept_beside_bad_ones() -> None:
    text = '{"i-0123456789abcdef0": 7, "": "x", "i-01234567,i-0": "y", "::error::boo": "z"}'
    options = stop_options({"instance_mapping": text}, ENVIRON)
    assert options.mapping == {"i-0123456789abcdef0": "7"}
    assert len(options.problems) == 3


def test_without_a_region_nothing_can_be_stopped() -> None:
    environ = {name: value for name, value in ENVIRON.items() if name != "AWS_REGION"}
    with pytest.raises(InputError, match="aws_region_name: is required"):
        stop_options(FLEET, environ)
