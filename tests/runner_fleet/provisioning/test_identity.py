"""Ids, labels and tags of a fleet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.identity import (
    Caller,
    Fleet,
    instance_of,
    label_source,
    random_label,
    runner_name,
)

CALLER = Caller("octo-org/gpu-tests", "77", "2", "start-aws-runner", "GitHub Actions 4711")


def test_a_label_is_eight_characters_that_differ_each_time() -> None:
    labels = {random_label() for _ in range(1000)}
    assert len(labels) == 1000
    assert all(re.fullmatch(r"runner-[a-z0-9]{8}", label) for label in labels)


def test_a_fleet_of_one_runs_on_its_only_label() -> None:
    fleet = Fleet.create(CALLER, "octo-org/gpu-tests", 1)
    assert fleet.runs_on == fleet.labels
    assert fleet.shared_label is None


def test_a_fleet_of_several_runs_on_a_label_they_share() -> None:
    fleet = Fleet.create(CALLER, "octo-org/gpu-tests", 3)
    assert len(set(fleet.labels)) == 3
    assert len(fleet.runs_on) == 1
    assert fleet.runs_on[0] not in fleet.labels


def test_the_id_names_the_run_and_differs_between_matrix_entries() -> None:
    one, two = (Fleet.create(CALLER, "octo-org/gpu-tests", 1) for _ in range(2))
    assert one.id.startswith("77-2-start-aws-runner-")
    assert one.id != two.id
    assert one.client_token("a") != two.client_token("a")


def test_each_launch_of_a_fleet_has_a_token_of_its_own_that_ec2_takes() -> None:
    fleet = Fleet.create(CALLER, "octo-org/gpu-tests", 1)
    assert fleet.client_token("a") == fleet.client_token("a")
    assert fleet.client_token("a") != fleet.client_token("b")
    assert len(fleet.client_token("a")) == 64


def test_tags_say_whose_the_instances_are() -> None:
    fleet = Fleet.create(CALLER, "other/place", 1)
    assert fleet.tags() == {
        "runner-fleet:fleet-id": fleet.id,
        "runner-fleet:repository": "other/place",
        "runner-fleet:run-repository": "octo-org/gpu-tests",
        "runner-fleet:run-id": "77",
        "runner-fleet:run-attempt": "2",
        "runner-fleet:job": "start-aws-runner",
        "runner-fleet:started-by": "GitHub Actions 4711",
    }


def test_a_runner_tells_its_instance() -> None:
    name = runner_name("runner-ab12cd34", "i-0123456789abcdef0")
    assert name == "runner-ab12cd34-i-0123456789abcdef0"
    assert instance_of(name) == "i-0123456789abcdef0"


@pytest.mark.parametrize(
    "name", ["builder", "b300-nv_07", "i-0123456789abcdef0", "a-i-", "a-i-b c"]
)
def test_other_runners_tell_none(name: str) -> None:
    assert instance_of(name) is None


def test_a_sandbox_gives_the_labels_and_each_only_once(tmp_path: Path) -> None:
    for label in ("runner-aaaaaaa1", "runner-aaaaaaa2"):
        (tmp_path / label).touch()
    draw = label_source(
        {"RUNNER_FLEET_SANDBOX_LABELS": str(tmp_path), "GITHUB_API_URL": "http://127.0.0.1:9"}
    )
    assert {draw(), draw()} == {"runner-aaaaaaa1", "runner-aaaaaaa2"}
    with pytest.raises(InputError, match="used up"):
        draw()


@pytest.mark.parametrize("url", ["https://api.github.com", "http://127.0.0.1.example.com", ""])
def test_labels_are_never_taken_from_a_pool_outside_a_sandbox(url: str, tmp_path: Path) -> None:
    (tmp_path / "runner-aaaaaaa1").touch()
    draw = label_source({"RUNNER_FLEET_SANDBOX_LABELS": str(tmp_path), "GITHUB_API_URL": url})
    assert draw() != "runner-aaaaaaa1"
