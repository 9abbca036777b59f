"""stop-runner against the sandbox."""

from __future__ import annotations

import json

from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import Actions
from tests.actions.test_start import INPUTS, assert_nothing_left, live

RUNNERS = "/repos/octo-org/gpu-tests/actions/runners"


def start(actions: Actions, count: int = 1) -> dict[str, str]:
    result = actions.run("start-runner", INPUTS | {"instance_count": str(count)})
    assert result.status == 0, result.log
    return result.outputs


def test_stop_takes_back_what_the_mapping_names(actions: Actions, world: World) -> None:
    outputs = start(actions, 3)
    world.calls.clear()
    result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert result.status == 0, result.log
    assert_nothing_left(world)
    assert world.calls.count(f"GET {RUNNERS}") == 1
    assert world.calls.count(f"DELETE {RUNNERS}/") == 3
    assert world.calls.count("TerminateInstances") == 1
    assert len(actions.calls()) == 5


def test_a_second_stop_changes_nothing(actions: Actions, world: World) -> None:
    outputs = start(actions)
    for _ in range(2):
        result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
        assert result.status == 0, result.log
    assert_nothing_left(world)


def test_an_empty_mapping_is_success_with_a_notice(actions: Actions, world: World) -> None:
    for mapping in ("", "{}"):
        result = actions.run("stop-runner", {"instance_mapping": mapping})
        assert result.status == 0
        assert "::notice::Nothing to stop" in result.log
    assert world.calls.all() == []


def test_the_fleet_id_alone_finds_the_instances(actions: Actions, world: World) -> None:
    outputs = start(actions, 2)
    result = actions.run("stop-runner", {"fleet_id": outputs["fleet_id"]})
    assert result.status == 0, result.log
    assert_nothing_left(world)


def test_a_registration_goes_though_its_instance_is_gone(actions: Actions, world: World) -> None:
    outputs = start(actions)
    world.ec2.end(live(world)[0])
    assert len(world.github.runners()) == 1
    result = actions.run("stop-runner", {"fleet_id": outputs["fleet_id"]})
    assert result.status == 0, result.log
    assert_nothing_left(world)


def test_siblings_are_left_alone(actions: Actions, world: World) -> None:
    mine, sibling = start(actions), start(actions)
    result = actions.run(
        "stop-runner", {"instance_mapping": mine["mapping"], "fleet_id": mine["fleet_id"]}
    )
    assert result.status == 0, result.log
    assert live(world) == list(json.loads(sibling["mapping"]))
    assert len(world.github.runners()) == 1


def test_an_unknown_instance_does_not_save_the_others(actions: Actions, world: World) -> None:
    mapping = json.loads(start(actions)["mapping"])
    mapping |= {"i-0123456789abcdef0": "runner-gone0000", "nonsense": "runner-gone0001"}
    result = actions.run("stop-runner", {"instance_mapping": json.dumps(mapping)})
    assert result.status == 0, result.log
    assert "i-0123456789abcdef0: EC2 does not know this instance, or it has ended" in result.log
    assert_nothing_left(world)


def test_an_instance_that_ended_does_not_save_the_others_from_a_policy_by_tag(
    actions: Actions, world: World
) -> None:
    """EC2 drops the tags of ended instances, and a policy by tag then denies the whole call."""
    outputs = start(actions, 2)
    world.ec2.end(live(world)[0])
    denied = Fault("TerminateInstances", status=403, code="UnauthorizedOperation", message="no")
    world.faults.add(denied)
    result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert result.status == 0, result.log
    assert_nothing_left(world)


def test_a_denied_termination_names_the_permission(actions: Actions, world: World) -> None:
    outputs = start(actions)
    fault = Fault(
        "TerminateInstances", status=403, code="UnauthorizedOperation", message="no", times=None
    )
    world.faults.add(fault)
    result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert result.status == 1
    (line,) = result.errors
    assert "lacks the permission ec2:TerminateInstances" in line


def test_a_broken_mapping_is_one_error_but_the_fleet_ends(actions: Actions, world: World) -> None:
    outputs = start(actions)
    inputs = {"instance_mapping": "{oops", "fleet_id": outputs["fleet_id"]}
    result = actions.run("stop-runner", inputs)
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("instance_mapping: is not a JSON object")
    assert_nothing_left(world)


def test_a_busy_runner_is_reported_and_its_instance_ends(actions: Actions, world: World) -> None:
    outputs = start(actions)
    (runner,) = world.github.runners()
    world.faults.add(Fault(f"DELETE {RUNNERS}/{runner.id}", status=422))
    result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert result.status == 0, result.log
    assert f"::warning::{runner.name} still had a job" in result.log
    assert live(world) == []


def test_trouble_with_github_does_not_keep_instances_alive(actions: Actions, world: World) -> None:
    outputs = start(actions)
    world.faults.add(Fault(f"GET {RUNNERS}$", status=401))
    result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert result.status == 1
    assert len(result.errors) == 1
    assert live(world) == []


def test_wait_returns_when_the_instances_are_terminated(actions: Actions, world: World) -> None:
    outputs = start(actions)
    inputs = {"instance_mapping": outputs["mapping"], "wait": "true"}
    result = actions.run("stop-runner", inputs)
    assert result.status == 0, result.log
    assert [instance.state for instance in world.ec2.instances()] == ["terminated"]


def test_the_summary_says_what_was_ended(actions: Actions, world: World) -> None:
    outputs = start(actions)
    (instance,) = live(world)
    result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert f"| `{instance}` | instance | terminated |" in result.summary
