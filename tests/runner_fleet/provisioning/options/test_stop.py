"""What stop-runner makes of its inputs."""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.identity import Caller, Fleet
from runner_fleet.provisioning.options.stop import Sweep, stop_options

ENVIRON = {
    "GITHUB_REPOSITORY": "octo-org/gpu-tests",
    "GH_PAT": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "AWS_REGION": "us-east-1",
}


@pytest.mark.parametrize("mapping", ["", "{}", "null"])
def test_an_empty_mapping_needs_nothing_not_even_credentials(mapping: str) -> None:
    inputs = {"instance_mapping": mapping} if mapping else {}
    options = stop_options(inputs, {})
    assert not options.named
    assert not options.can_look


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
    options = stop_options(
        {"instance_mapping": "{oops", "fleet_id": "77-1-start-ab12cd34"}, ENVIRON
    )
    assert options.fleet_id == "77-1-start-ab12cd34"
    assert len(options.problems) == 1
    assert options.problems[0].startswith("instance_mapping: is not a JSON object")


FLEET = {"fleet_id": "77-1-start-ab12cd34"}


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
    assert options.fleet_id == "77-1-start-ab12cd34"
    (line,) = options.problems
    assert line.startswith(problem)


@pytest.mark.parametrize(
    "text",
    ["77-1-start", "77-1-start-AB12CD34", "x-1-start-ab12cd34", "77-1--ab12cd3", "77", "a.b"],
)
def test_a_fleet_id_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        stop_options({"fleet_id": text}, ENVIRON)
    form = "a fleet_id of start-runner (run-attempt-job-8 characters)"
    assert caught.value.lines == (f"fleet_id: '{text}' is not {form}",)


def test_every_fleet_id_of_a_start_is_taken() -> None:
    environ = {"GITHUB_RUN_ID": "12345678901", "GITHUB_RUN_ATTEMPT": "3", "GITHUB_JOB": "a_b-C"}
    for caller in (Caller.read(environ), Caller.read({})):
        fleet = Fleet.create(caller, "octo-org/gpu-tests", 1)
        assert stop_options({"fleet_id": fleet.id}, ENVIRON).fleet_id == fleet.id


def test_good_entries_of_a_mapping_are_kept_beside_bad_ones() -> None:
    text = '{"i-0123456789abcdef0": 7, "": "x", "i-01234567,i-0": "y", "::error::boo": "z"}'
    options = stop_options({"instance_mapping": text}, ENVIRON)
    assert options.mapping == {"i-0123456789abcdef0": "7"}
    assert len(options.problems) == 3


def test_without_a_region_nothing_can_be_stopped() -> None:
    environ = {name: value for name, value in ENVIRON.items() if name != "AWS_REGION"}
    with pytest.raises(InputError, match="aws_region_name: is required"):
        stop_options(FLEET, environ)


RUN = {"GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "2", "RUNNER_NAME": "GitHub Actions 3"}


def test_without_names_this_runs_instances_can_be_looked_for() -> None:
    options = stop_options({}, ENVIRON | RUN)
    assert not options.named
    assert options.can_look
    assert options.regions == ("us-east-1",)
    assert options.caller.runner == "GitHub Actions 3"


@pytest.mark.parametrize("missing", ["AWS_REGION", "GITHUB_RUN_ID", "GITHUB_REPOSITORY"])
def test_without_names_and_without_a_run_or_region_nothing_can_be_looked_for(missing: str) -> None:
    environ = {name: value for name, value in (ENVIRON | RUN).items() if name != missing}
    assert not stop_options({}, environ).can_look


def test_a_region_that_is_none_is_refused_even_when_nothing_is_named() -> None:
    with pytest.raises(InputError, match=r"^aws_region_name: 'USA' is not a region"):
        stop_options({"aws_region_name": "USA"}, ENVIRON)


@pytest.mark.parametrize(
    "text", ["us-east-1,eu-west-1", "us-east-1 eu-west-1\n", '["us-east-1", "eu-west-1"]']
)
def test_several_regions_may_be_given(text: str) -> None:
    options = stop_options(FLEET | {"aws_region_name": text}, ENVIRON)
    assert options.regions == ("us-east-1", "eu-west-1")


def test_a_wrong_region_among_several_is_reported_and_the_others_are_looked_at() -> None:
    options = stop_options(FLEET | {"aws_region_name": "us-east-1,USA"}, ENVIRON)
    assert options.regions == ("us-east-1",)
    assert options.problems == ("aws_region_name: 'USA' is not a region like us-east-1",)


def test_an_empty_list_of_regions_is_refused() -> None:
    with pytest.raises(InputError, match=r"^aws_region_name: names no region"):
        stop_options(FLEET | {"aws_region_name": "[]"}, ENVIRON)


def test_a_sweep_only_tells_unless_it_is_told_to_end() -> None:
    assert stop_options({"sweep": "orphans"}, ENVIRON).sweep == Sweep(3600, dry_run=True)
    inputs = {"sweep": "orphans", "dry_run": "false", "min_age_minutes": "0"}
    assert stop_options(inputs, ENVIRON).sweep == Sweep(0, dry_run=False)


@pytest.mark.parametrize(
    ("inputs", "environ", "problem"),
    [
        ({"sweep": "all"}, {}, "sweep: 'all' is not 'orphans', the only thing to sweep for"),
        ({"sweep": "orphans", "dry_run": "no"}, {}, "dry_run: 'no' is neither true nor false"),
        ({"dry_run": "true"}, {}, "dry_run: is only for a sweep"),
        (FLEET | {"dry_run": "true"}, {}, "dry_run: is only for a sweep"),
        (FLEET | {"dry_run": "true", "sweep": "orphans"}, {}, "sweep: cannot be combined with"),
        (FLEET | {"dry_run": "true", "sweep": "all"}, {}, "sweep: 'all' is not 'orphans'"),
        ({"sweep": "orphans"}, {"GH_PAT": ""}, "GH_PAT: the environment variable is empty"),
        ({"sweep": "orphans"}, {"AWS_REGION": ""}, "aws_region_name: is required"),
        ({"sweep": "orphans", "min_age_minutes": "-1"}, {}, "min_age_minutes: '-1' is too small"),
    ],
)
def test_a_sweep_that_cannot_be_meant_is_refused(
    inputs: dict[str, str], environ: dict[str, str], problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        stop_options(inputs, ENVIRON | environ)
    (line,) = caught.value.lines
    assert line.startswith(problem)


def test_what_is_named_is_stopped_though_a_sweep_is_asked_for_too() -> None:
    options = stop_options(FLEET | {"sweep": "orphans"}, ENVIRON)
    assert options.named
    assert options.problems == (
        "sweep: cannot be combined with instance_mapping or fleet_id: sweep in a step of its own",
    )
