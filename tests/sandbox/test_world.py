from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from sandbox import world as module
from sandbox.act import rc
from sandbox.world import REPOSITORY, World

from tests.actions.harness import Actions, aws

FIXTURES = rc.ROOT / "tests" / "fixtures" / "act"


@pytest.fixture
def two_labels(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, labels=["runner-aaaaaaaa", "runner-bbbbbbbb"]) as made:
        yield made


def asked(world: World, path: str, token: str = "") -> Any:
    """What GitHub answers."""
    connection = HTTPConnection(world.github.url.removeprefix("http://"), timeout=60)
    known = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request("GET", path, headers={"User-Agent": "tests"} | known)
    answer = json.load(connection.getresponse())
    connection.close()
    return answer


def pool(world: World) -> set[str]:
    return {path.name for path in world.label_pool.iterdir()}


def test_the_pool_holds_the_labels_act_is_told(world: World) -> None:
    assert pool(world) == set(rc.labels())


def test_a_reset_fills_the_pool_again(world: World) -> None:
    (world.label_pool / rc.labels()[0]).unlink()
    world.reset()
    assert pool(world) == set(rc.labels())


def test_after_a_reset_github_knows_only_whom_it_knew_at_first(world: World) -> None:
    world.github.add_repository("octo-org/other")
    world.github.add_token("a-token", repos={REPOSITORY: "admin"})
    world.reset()
    assert asked(world, "/_sandbox/state")["repositories"] == [REPOSITORY]
    assert asked(world, "/user", "a-token")["message"] == "Bad credentials"
    assert asked(world, f"/repos/{REPOSITORY}", module.TOKEN)["full_name"] == REPOSITORY


def test_a_drawn_label_stays_drawn_while_its_runner_is_registered(two_labels: World) -> None:
    (two_labels.label_pool / "runner-aaaaaaaa").unlink()
    two_labels.github.add_runner(REPOSITORY, "one", ["runner-aaaaaaaa"])
    two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-bbbbbbbb"}


def test_a_drawn_label_stays_drawn_while_an_instance_lives_that_was_told_it(
    two_labels: World,
) -> None:
    (two_labels.label_pool / "runner-aaaaaaaa").unlink()
    two_labels.ec2.rules.boot(never=True)
    client = aws(two_labels, "ec2")
    launched = client.run_instances(
        ImageId="ami-0c240000000000002",
        InstanceType="g6.xlarge",
        MinCount=1,
        MaxCount=1,
        UserData="#!/bin/bash\nreadonly FLEET_LABELS=runner-aaaaaaaa\n",
    )
    two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-bbbbbbbb"}
    client.terminate_instances(InstanceIds=[launched["Instances"][0]["InstanceId"]])
    two_labels.ec2.settle()
    two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-aaaaaaaa", "runner-bbbbbbbb"}


def test_a_label_drawn_in_vain_comes_back_when_its_start_has_ended(two_labels: World) -> None:
    (two_labels.label_pool / "runner-aaaaaaaa").unlink()
    script = "import sys; print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "start-runner/main.py"],
        env=two_labels.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as start:
        assert start.stdout is not None
        start.stdout.readline()
        two_labels.recycle_labels()
        assert pool(two_labels) == {"runner-bbbbbbbb"}
        start.communicate()
        two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-aaaaaaaa", "runner-bbbbbbbb"}


def test_a_start_that_asks_for_too_many_leaves_labels_for_the_next(
    two_labels: World, tmp_path: Path
) -> None:
    actions = Actions(two_labels, tmp_path)
    inputs = {
        "aws_image_name": "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)",
        "aws_instance_type": "g4dn.xlarge",
    }
    too_many = actions.run("start-runner", {**inputs, "instance_count": "9"})
    assert "used up" in too_many.log
    two_labels.recycle_labels()
    assert actions.run("start-runner", inputs).status == 0


def test_a_label_comes_back_when_its_runner_has_gone(two_labels: World) -> None:
    (two_labels.label_pool / "runner-aaaaaaaa").unlink()
    runner = two_labels.github.add_runner(REPOSITORY, "one", ["runner-aaaaaaaa", "gpu"])
    two_labels.github.remove_runner(runner.id)
    two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-aaaaaaaa", "runner-bbbbbbbb"}


def test_a_shared_label_comes_back_with_the_last_runner_that_has_it(two_labels: World) -> None:
    (two_labels.label_pool / "runner-aaaaaaaa").unlink()
    one = two_labels.github.add_runner(REPOSITORY, "one", ["runner-aaaaaaaa"])
    other = two_labels.github.add_runner(REPOSITORY, "other", ["runner-aaaaaaaa"])
    two_labels.github.remove_runner(one.id)
    two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-bbbbbbbb"}
    two_labels.github.remove_runner(other.id)
    two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-aaaaaaaa", "runner-bbbbbbbb"}


def test_a_job_is_given_no_token_and_no_aws_credentials(world: World) -> None:
    given = world.job_environment()
    assert not {"GH_PAT", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} & set(given)
    assert {"GH_PAT", "AWS_ACCESS_KEY_ID", "AWS_REGION"} <= set(world.environment())


def test_the_token_is_the_one_of_acts_secrets_file() -> None:
    assert f"GH_PAT={module.TOKEN}" in (FIXTURES / "secrets.env").read_text().splitlines()


def test_the_region_is_the_one_of_acts_variables_file() -> None:
    assert f"AWS_REGION={module.REGION}" in (FIXTURES / "variables.env").read_text().splitlines()


def test_instances_can_be_seen_at_githubs_address(world: World) -> None:
    assert asked(world, "/_sandbox/instances") == []
