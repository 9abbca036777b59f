"""The example of a sweep, under act."""

from __future__ import annotations

import pytest
from sandbox.workflow import run_act
from sandbox.world import REPOSITORY, World

ORPHAN = "runner-ab12cd34-i-0123456789abcdef0"


@pytest.mark.parametrize(("event", "left"), [("workflow_dispatch", [ORPHAN]), ("schedule", [])])
def test_the_schedule_ends_orphans_and_by_hand_it_only_tells(
    world: World, tmp_path_factory: pytest.TempPathFactory, event: str, left: list[str]
) -> None:
    world.github.add_runner(REPOSITORY, ORPHAN, ["runner-ab12cd34"], status="offline")
    outcome = run_act(world, "sweep-orphans.yaml", tmp_path_factory.mktemp("run"), event=event)
    assert outcome.results == {"Sweep Orphans/sweep": "success"}, outcome.errors
    assert outcome.outputs["Sweep Orphans/sweep"]["orphans"].count("registration") == 1
    assert [runner.name for runner in world.github.runners()] == left
