"""The real action.yml files under the real act, against the sandbox."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sandbox.act import jobs
from sandbox.act.staging import our_repository
from sandbox.workflow import EXAMPLES, run_act
from sandbox.world import World

CALLER = EXAMPLES / "workflows" / "matrix-test.yaml"
LEG = "Run Matrix Test-1/Reusable Matrix Test"


def repository(directory: Path, steps: str) -> Path:
    """A user's repository with one workflow, w.yaml, of one job `a`; `ours` is our repository."""
    workflows = directory / ".github" / "workflows"
    workflows.mkdir(parents=True)
    name, ref = our_repository().split("@")
    text = (
        "name: W\non: workflow_dispatch\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
        + steps.replace("start-runner@", f"{name}/start-runner@{ref}").replace(
            "stop-runner@", f"{name}/stop-runner@{ref}"
        )
    )
    (workflows / "w.yaml").write_text(text)
    return directory


START_AND_STOP = """\
      - id: start
        uses: start-runner@
        with:
          aws_image_name: Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)
          aws_instance_type: g4dn.xlarge
          aws_region_name: us-east-1
          instance_count: 2
        env: &keys
          GH_PAT: ${{ secrets.GH_PAT }}
          AWS_ACCESS_KEY_ID: testing
          AWS_SECRET_ACCESS_KEY: testing
      - uses: stop-runner@
        with:
          fleet_id: ${{ steps.start.outputs.fleet_id }}
          aws_region_name: us-east-1
          wait: true
        env: *keys
"""


def test_two_runners_are_started_and_found_again_by_their_fleet(
    world: World, tmp_path: Path
) -> None:
    outcome = run_act(
        world, "w.yaml", tmp_path / "run", repository=repository(tmp_path / "r", START_AND_STOP)
    )
    assert outcome.results == {"W/a": "success"}, outcome
    mapping = json.loads(outcome.outputs["W/a"]["mapping"])
    assert {instance.id for instance in world.ec2.instances()} == set(mapping)
    assert all(re.fullmatch(r"runner-[a-z0-9]{8}", label) for label in mapping.values())
    assert [instance.state for instance in world.ec2.instances()] == ["terminated"] * 2
    assert world.github.runners() == []


def test_a_mistake_in_an_input_is_an_annotation_and_fails_the_job(
    world: World, tmp_path: Path
) -> None:
    steps = START_AND_STOP.replace("instance_count: 2", "instance_count: two")
    outcome = run_act(
        world, "w.yaml", tmp_path / "run", repository=repository(tmp_path / "r", steps)
    )
    assert outcome.results == {"W/a": "failure"}
    assert any("instance_count" in text for text in outcome.errors["W/a"])
    assert world.calls.count("RunInstances") == 0


def test_a_label_act_was_not_told_is_noticed_although_act_succeeds(tmp_path: Path) -> None:
    unknown = ["runner-zzzzzzzz", "runner-yyyyyyyy"]
    with World(tmp_path / "world", labels=unknown) as world:
        outcome = run_act(world, CALLER.name, tmp_path / "run")
        assert world.github.runners() == []
    assert outcome.status == 0
    found = jobs.problems(jobs.expected_jobs(CALLER), outcome.results, outcome.skipped)
    assert len(found) == 2
    assert found[0].startswith(f"{LEG}/test: skipped by act")


def test_what_act_sets_and_github_does_not_is_not_what_the_actions_read(
    world: World, tmp_path: Path
) -> None:
    """act gives a composite's steps INPUT_*; without the mapping of action.yml they are no use."""
    environment = {"INPUT_AWS_INSTANCE_TYPE": "g4dn.xlarge", "INPUT_AWS_REGION_NAME": "us-east-1"}
    steps = START_AND_STOP.replace("          aws_region_name: us-east-1\n", "")
    outcome = run_act(
        world,
        "w.yaml",
        tmp_path / "run",
        repository=repository(tmp_path / "r", steps),
        environment=environment,
    )
    assert outcome.results == {"W/a": "failure"}
    assert any("aws_region_name" in text for text in outcome.errors["W/a"])
