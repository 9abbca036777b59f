"""The example of several runners, under act."""

from __future__ import annotations

import pytest
from sandbox.workflow import Outcome, run_act
from sandbox.world import World

NAME = "Several Runners"


@pytest.fixture
def refused(world: World, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The quota is used up: other than a lack of capacity that is not waited for."""
    world.ec2.rules.refuse(code="VcpuLimitExceeded")
    return run_act(world, "several-runners.yaml", tmp_path_factory.mktemp("run"))


def test_each_of_its_runners_gets_a_job(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outcome = run_act(world, "several-runners.yaml", tmp_path_factory.mktemp("run"))
    assert outcome.results == {
        f"{NAME}/{job}": "success" for job in ("start", "test-1", "test-2", "stop")
    }
    assert outcome.status == 0
    world.ec2.settle()
    assert {one.state for one in world.ec2.instances()} == {"terminated"}
    assert world.github.runners() == []


def test_without_a_quota_stop_runs_and_the_workflow_fails(world: World, refused: Outcome) -> None:
    assert refused.results[f"{NAME}/start"] == "failure"
    assert refused.results[f"{NAME}/stop"] == "success"
    assert not any("test" in job for job in refused.results)
    assert refused.status != 0
    assert world.ec2.instances() == []
    assert world.github.runners() == []
