"""What stop-runner makes of its inputs."""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options import stop_options

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
    options = stop_options({"instance_mapping": '{"i-1": "runner-a", "i-2": "runner-b"}'}, ENVIRON)
    assert options.mapping == {"i-1": "runner-a", "i-2": "runner-b"}


@pytest.mark.parametrize("mapping", ["{oops", "[]", '"x"', '{"i-1": 7}'])
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


def test_wait_is_true_or_false() -> None:
    with pytest.raises(InputError) as caught:
        stop_options({"fleet_id": "77-1-start-x", "wait": "maybe"}, ENVIRON)
    assert caught.value.lines == ("wait: 'maybe' is neither true nor false",)
