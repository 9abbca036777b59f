"""Each action.yml says what the code does: no more inputs and outputs, no fewer, same defaults.

How the inputs get to the code is checked in test_actions_as_github_runs_them.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from runner_fleet.action import inputs as read_inputs
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.start import StartOptions, start_options
from runner_fleet.provisioning.options.stop import StopOptions, stop_options
from sandbox.world import World

from tests.actions.harness import Actions

ROOT = Path(__file__).resolve().parents[2]
ACTIONS = sorted(file.parent.name for file in ROOT.glob("*/action.yml"))

Options = StartOptions | StopOptions
PARSERS: dict[str, Callable[[Mapping[str, str], Mapping[str, str]], Options]] = {
    "start-runner": start_options,
    "stop-runner": stop_options,
}


def present(values: Mapping[str, str]) -> dict[str, str]:
    """As action.inputs() gives them: an input without a value is not there."""
    return {name: value for name, value in values.items() if value}


ENVIRONMENT = {
    "GH_PAT": "ghp_0123456789",
    "GITHUB_REPOSITORY": "octo-org/gpu-tests",
    "AWS_REGION": "us-east-1",
}

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"

# For each input a value that differs from its default; empty when it excludes another.
VALUES: dict[str, dict[str, str]] = {
    "start-runner": {
        "aws_image_name": "ubuntu",
        "aws_image_id": "latest",
        "aws_image_owner": "self",
        "aws_instance_type": "g4dn.xlarge",
        "aws_launch_template": "gpu:3",
        "instance_count": "3",
        "min_count": "1",
        "aws_tags": '{"team": "chemistry"}',
        "dry_run": "true",
        "aws_region_name": "eu-west-1",
        "aws_subnet_id": "subnet-0123456789abcdef0",
        "market": "spot",
        "placement_strategy": "cheapest-first",
        "capacity_timeout": "10",
        "aws_prices": '{"g4dn.xlarge": 0.526}',
        "aws_root_device_size": "100",
        "aws_root_device_type": "gp3",
        "aws_root_device_iops": "4000",
        "aws_root_device_throughput": "500",
        "aws_root_device_encrypted": "false",
        "aws_root_device_kms_key": "alias/runners",
        "aws_security_group_id": "sg-0123456789abcdef0",
        "associate_public_ip": "false",
        "aws_iam_role": "gpu-profile",
        "metadata_hop_limit": "2",
        "repo": "",
        "organization": "octo-org",
        "enterprise": "",
        "runner_group": "gpu",
        "registration": "jit",
        "extra_gh_labels": "gpu",
        "github_app_id": "12345",
        "github_app_private_key": PEM,
        "gh_timeout": "60",
        "idle_timeout_minutes": "25",
        "max_lifetime_minutes": "30",
        "aws_home_dir": "/home/ubuntu",
        "run_as_root": "true",
        "pre_runner_script": "echo hello",
        "runner_directory": "/opt/actions-runner",
        "runner_version": "",
        "http_proxy": "http://proxy.example.com:3128",
        "https_proxy": "http://secure.example.com:3128",
        "no_proxy": "example.com",
        "aws_user_data_extra": "#cloud-config\n",
    },
    "stop-runner": {
        "instance_mapping": '{"i-0123456789abcdef0": "runner-ab12cd34"}',
        "fleet_id": "123-1-start-ab12cd34",
        "aws_region_name": "eu-west-1",
        "repo": "",
        "organization": "octo-org",
        "enterprise": "",
        "github_app_id": "12345",
        "github_app_private_key": PEM,
        "wait": "true",
        "sweep": "orphans",
        "min_age_minutes": "30",
        "dry_run": "false",
        "region_timeout": "30",
    },
}

# An input that shows only beside others (the newest image of a name, or one given by its id), or
# that cannot be given beside them (runners have one place).
_NO_APP = {"github_app_id": "", "github_app_private_key": ""}
INSTEAD: dict[str, dict[str, str]] = {
    "aws_image_id": {"aws_image_id": "ami-0123456789abcdef0"},
    "runner_version": {"runner_version": "2.330.0", "runner_directory": ""},
    "repo": {"repo": "octo-org/other", "organization": "", "runner_group": ""},
    "organization": {"organization": "other-org"},
    "enterprise": {"enterprise": "octo-corp", "organization": "", **_NO_APP},
}

# One of the two that name the image must be given, and a type, unless a launch template has them;
# action.yml cannot say "or".
NEEDED_TOO = {"start-runner": ["aws_image_name", "aws_instance_type"], "stop-runner": []}


class Recording(Mapping[str, str]):
    """Remembers what was asked for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = present(values)
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.asked.add(key)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def declared(action: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / action / "action.yml").read_text("utf-8"))
    return content


def steps(action: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = declared(action)["runs"]["steps"]
    return found


def defaults(action: str) -> dict[str, str]:
    return {
        name: entry["default"]
        for name, entry in declared(action)["inputs"].items()
        if "default" in entry
    }


every_action = pytest.mark.parametrize("action", ACTIONS)


@every_action
def test_every_action_has_a_parser_and_a_value_for_each_input(action: str) -> None:
    assert list(VALUES[action]) == list(declared(action)["inputs"])
    assert action in PARSERS


@every_action
def test_a_mapped_variable_arrives_under_the_name_of_its_input(action: str) -> None:
    (step,) = steps(action)
    names = [name.removeprefix("${{ inputs.").removesuffix(" }}") for name in step["env"].values()]
    environment = dict(zip(step["env"], names, strict=True))
    assert read_inputs(environment) == {name: name for name in names}


@every_action
def test_the_code_reads_every_declared_input_and_no_other(action: str) -> None:
    recording = Recording(VALUES[action])
    PARSERS[action](recording, ENVIRONMENT)
    assert recording.asked == set(declared(action)["inputs"])


@every_action
def test_every_input_changes_what_is_done(action: str) -> None:
    parse = PARSERS[action]
    complete = parse(present(VALUES[action]), ENVIRONMENT)
    for name in VALUES[action]:
        changed = {key: value for key, value in VALUES[action].items() if key != name}
        changed |= INSTEAD.get(name, {})
        try:
            assert parse(present(changed), ENVIRONMENT) != complete, name
        except InputError as error:
            named = [line.partition(":")[0] for line in error.lines]
            assert name in named


@every_action
def test_only_what_is_declared_as_required_must_be_given(action: str) -> None:
    required = {name for name, entry in declared(action)["inputs"].items() if entry.get("required")}
    given = {name: VALUES[action][name] for name in (*required, *NEEDED_TOO[action])}
    PARSERS[action](given, ENVIRONMENT)
    for name in required:
        rest = {key: value for key, value in given.items() if key != name}
        with pytest.raises(InputError, match=f"^{name}: is required"):
            PARSERS[action](rest, ENVIRONMENT)


@every_action
def test_a_declared_default_is_the_default_of_the_code(action: str) -> None:
    values = present(VALUES[action])
    given = {key: value for key, value in values.items() if key not in defaults(action)}
    with_them = PARSERS[action](given | defaults(action), ENVIRONMENT)
    assert with_them == PARSERS[action](given, ENVIRONMENT)


@every_action
def test_every_value_of_the_table_differs_from_the_default(action: str) -> None:
    assert not defaults(action).items() & VALUES[action].items()


@every_action
def test_every_input_and_output_is_described(action: str) -> None:
    contract = declared(action)
    for entry in (contract, *contract["inputs"].values(), *contract.get("outputs", {}).values()):
        assert entry["description"].strip().endswith((".", "?"))


def test_every_declared_output_is_written_and_no_other(world: World, tmp_path: Path) -> None:
    actions = Actions(world, tmp_path)
    started = actions.run(
        "start-runner",
        {"aws_image_name": "Deep Learning Base", "aws_instance_type": "g4dn.xlarge"},
    )
    assert started.status == 0, started.log
    assert set(started.outputs) == set(declared("start-runner")["outputs"])
    stopped = actions.run("stop-runner", {"instance_mapping": started.outputs["mapping"]})
    assert stopped.status == 0, stopped.log
    assert set(stopped.outputs) == set(declared("stop-runner").get("outputs", {}))
