from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox import world as module
from sandbox.act import rc
from sandbox.world import REPOSITORY, World

FIXTURES = rc.ROOT / "tests" / "fixtures" / "act"


@pytest.fixture
def two_labels(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, labels=["runner-aaaaaaaa", "runner-bbbbbbbb"]) as made:
        yield made


def pool(world: World) -> set[str]:
    return {path.name for path in world.label_pool.iterdir()}


def test_the_pool_holds_the_labels_act_is_told(world: World) -> None:
    assert pool(world) == set(rc.labels())


def test_a_reset_fills_the_pool_again(world: World) -> None:
    (world.label_pool / rc.labels()[0]).unlink()
    world.reset()
    assert pool(world) == set(rc.labels())


def test_a_drawn_label_stays_drawn_while_its_runner_is_registered(two_labels: World) -> None:
    (two_labels.label_pool / "runner-aaaaaaaa").unlink()
    two_labels.recycle_labels()
    two_labels.github.add_runner(REPOSITORY, "one", ["runner-aaaaaaaa"])
    two_labels.recycle_labels()
    assert pool(two_labels) == {"runner-bbbbbbbb"}


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
