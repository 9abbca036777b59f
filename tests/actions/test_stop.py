"""stop-runner against the sandbox."""

from __future__ import annotations

import json
import signal

import pytest
from runner_fleet.ec2 import Ec2
from runner_fleet.provisioning.options.stop import stop_options
from runner_fleet.provisioning.stop import Stop
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, World

from tests.actions.harness import Actions
from tests.actions.leftovers import launch
from tests.actions.test_start import INPUTS, assert_nothing_left, live
from tests.faults.gate import Gate

RUNNERS = "/repos/octo-org/gpu-tests/actions/runners"


def start(actions: Actions, count: int = 1) -> dict[str, str]:
    result = actions.run("start-runner", INPUTS | {"instance_count": str(count)})
    assert result.status == 0, result.log
    return result.outputs


def test_stop_takes_back_what_the_mapping_names(actions: Actions, world: World) -> None:
    outputs = start(actions, 3)
    # Of runners that are online, as they are for a moment after the end, one look is enough.
    world.faults.add(Fault("DELETE /_runner/session", delay=600, times=None))
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
    """After two looks for what this run may have left; GitHub need not be asked."""
    result = actions.run("stop-runner", {"instance_mapping": "{}"})
    assert result.status == 0
    assert "::notice::Nothing to stop" in result.log
    assert [call.operation for call in world.calls.all()] == ["DescribeInstances"] * 2


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
    mapping |= {"i-0123456789abcdef0": "runner-gone0000"}
    result = actions.run("stop-runner", {"instance_mapping": json.dumps(mapping)})
    assert result.status == 0, result.log
    assert "i-0123456789abcdef0: EC2 does not know this instance in us-east-1, or" in result.log
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


def test_a_mapping_that_is_half_broken_ends_the_good_half(actions: Actions, world: World) -> None:
    mapping = json.loads(start(actions)["mapping"])
    mapping |= {"": "a", "i-1,i-2": "b", "::error::boo": "c", "i-\ud800": "d"}
    result = actions.run("stop-runner", {"instance_mapping": json.dumps(mapping)})
    assert result.status == 1
    assert len(result.errors) == 4
    assert all(line.startswith("instance_mapping: ") for line in result.errors)
    assert_nothing_left(world)


@pytest.mark.parametrize(
    ("inputs", "env"),
    [
        ({}, {"GH_PAT": ""}),
        ({"wait": "yes"}, {}),
        ({"repo": "nonsense"}, {}),
        ({}, {"GITHUB_API_URL": "foo"}),
        ({"fleet_id": "not one!"}, {}),
    ],
    ids=["token", "wait", "repo", "url", "fleet"],
)
def test_what_is_wrong_elsewhere_keeps_no_instance_alive(
    actions: Actions, world: World, inputs: dict[str, str], env: dict[str, str]
) -> None:
    outputs = start(actions)
    inputs = {"instance_mapping": outputs["mapping"]} | inputs
    result = actions.run("stop-runner", inputs, env)
    assert result.status == 1
    assert len(result.errors) == 1
    assert live(world) == []


def test_a_fleet_that_is_not_visible_yet_is_found(actions: Actions, world: World) -> None:
    outputs = start(actions, 2)
    stale = Fault("DescribeInstances$", when="stale", stale_seconds=60.0, times=2)
    world.faults.add(stale)
    result = actions.run("stop-runner", {"fleet_id": outputs["fleet_id"]})
    assert result.status == 0, result.log
    assert_nothing_left(world)


def test_a_fleet_that_becomes_visible_little_by_little_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its start was killed: nobody knows how many there are."""
    fleet = "77-1-start-ab12cd34"
    environ = world.environment() | {"GH_PAT": ""}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) < 3:
            launch(world, fleet_id=fleet)

    options = stop_options({"fleet_id": fleet}, environ)
    ec2 = {"us-east-1": Ec2("us-east-1")}
    taken = Stop(options, None, ec2, lambda _line: None, sleep=sleep).take_back()
    assert (len(taken.terminated), taken.ended_before) == (2, [])
    assert pauses == [0.0, 2.0, 4.0]
    assert live(world) == []
    assert world.calls.count("TerminateInstances") == 2


def test_a_region_or_account_that_is_the_wrong_one_is_noticed(
    actions: Actions, world: World
) -> None:
    """An hour after its end EC2 knows an instance no more; but then no runner is online."""
    outputs = start(actions)
    (instance,) = live(world)
    inputs = {"instance_mapping": outputs["mapping"], "aws_region_name": "eu-west-1"}
    result = actions.run("stop-runner", inputs)
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith(f"{instance}: EC2 does not know this instance, but its runner ")
    assert "aws_region_name" in line


def test_a_fleet_that_is_nowhere_is_success_and_said(actions: Actions, world: World) -> None:
    result = actions.run("stop-runner", {"fleet_id": "77-1-start-gone0000"})
    assert result.status == 0, result.log
    assert "There is no instance of fleet 77-1-start-gone0000 in us-east-1" in result.log
    assert result.summary == "### Stopped runners\n\nNone found in us-east-1.\n\n"


def test_a_runner_made_just_in_time_is_online_but_no_region_has_its_instance(
    actions: Actions, world: World
) -> None:
    """The fleet's id alone tells the runner, by the fleet's mark."""
    labels = ["runner-ab12cd34", "runner-zz99yy88"]
    world.github.add_runner(REPOSITORY, "runner-zz99yy88-jit-77-1", labels, status="online")
    result = actions.run("stop-runner", {"fleet_id": "77-1-start-ab12cd34"})
    assert result.status == 1
    (line,) = result.errors
    assert "its runner runner-zz99yy88-jit-77-1 is online: it runs in another region" in line


@pytest.mark.parametrize("regions", ["us-east-9", "us-east-9,us-east-1"])
def test_a_region_that_does_not_exist_is_told_with_the_nearest(
    actions: Actions, world: World, regions: str
) -> None:
    instance = launch(world, fleet_id="77-1-start-ab12cd34")
    inputs = {"fleet_id": "77-1-start-ab12cd34", "aws_region_name": regions}
    result = actions.run("stop-runner", inputs)
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("aws_region_name: there is no region 'us-east-9'; did you mean us-east-")
    assert live(world) == ([instance] if regions == "us-east-9" else [])


def test_a_cancelled_stop_finishes_and_says_what_it_could_not_do(
    actions: Actions, world: World, gate: Gate
) -> None:
    outputs = start(actions)
    world.faults.add(Fault(f"GET {RUNNERS}$", status=401))
    gate.close_at("TerminateInstances", 0, "before")
    running = actions.begin("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert gate.signal(running, signal.SIGINT)
    result = running.result()
    assert result.status == 130
    assert len(result.errors) == 1
    assert "### Stopped runners" in result.summary
    assert live(world) == []


def test_a_wrong_region_is_not_replaced_by_another(actions: Actions, world: World) -> None:
    outputs = start(actions)
    inputs = {"fleet_id": outputs["fleet_id"], "aws_region_name": "USA"}
    result = actions.run("stop-runner", inputs)
    assert result.status == 1
    assert result.errors == ["aws_region_name: 'USA' is not a region like us-east-1"]
    assert "There is no instance" not in result.log


def test_a_label_of_the_users_own_harms_no_sibling(actions: Actions, world: World) -> None:
    mine = start(actions)
    sibling = actions.run("start-runner", INPUTS | {"extra_gh_labels": "gpu"}).outputs
    mapping = dict.fromkeys(json.loads(mine["mapping"]), "gpu")
    result = actions.run("stop-runner", {"instance_mapping": json.dumps(mapping)})
    assert result.status == 0, result.log
    assert live(world) == list(json.loads(sibling["mapping"]))
    assert len(world.github.runners()) == 1


@pytest.mark.parametrize("body", ["<?xml", "{}", ""], ids=["cut", "json", "empty"])
@pytest.mark.parametrize("operation", ["TerminateInstances", "DescribeInstances$"])
def test_an_answer_of_ec2_that_is_none_is_one_error_and_github_is_cleaned_up(
    actions: Actions, world: World, operation: str, body: str
) -> None:
    outputs = start(actions)
    world.faults.add(Fault(operation, status=200, when="after", body=body, times=None))
    inputs = {"instance_mapping": outputs["mapping"], "fleet_id": outputs["fleet_id"]}
    result = actions.run("stop-runner", inputs)
    assert result.status == 1
    assert not [line for line in result.errors if "internal error" in line]
    assert_nothing_left(world)


@pytest.mark.parametrize("body", ["{}", "[]", '"x"', '{"runners": [{}]}', "<html>"])
def test_an_answer_of_github_that_is_none_is_one_error_and_instances_end(
    actions: Actions, world: World, body: str
) -> None:
    outputs = start(actions)
    world.faults.add(Fault(f"GET {RUNNERS}$", status=200, body=body, times=None))
    result = actions.run("stop-runner", {"instance_mapping": outputs["mapping"]})
    assert result.status == 1
    (line,) = result.errors
    assert "is not what its API documents" in line
    assert live(world) == []


def test_no_way_to_ec2_is_one_error_and_github_is_cleaned_up(
    actions: Actions, world: World
) -> None:
    outputs = start(actions)
    inputs = {"instance_mapping": outputs["mapping"]}
    result = actions.run("stop-runner", inputs, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert result.status == 1
    (line,) = result.errors
    assert "Could not connect to the endpoint URL" in line
    assert "NOT terminated" in result.summary
    assert world.github.runners() == []


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


def test_a_registration_made_just_in_time_goes_by_its_label_at_one_look(
    actions: Actions, world: World
) -> None:
    """Its name tells no instance; it cannot come back, so one listing is enough."""
    launch(world, fleet_id="77-1-start-ab12cd34", label="runner-ab12cd34")
    for label in ("runner-ab12cd34", "runner-sibling0"):
        world.github.add_runner(REPOSITORY, f"{label}-jit-77-1", [label], status="offline")
    result = actions.run("stop-runner", {"fleet_id": "77-1-start-ab12cd34"})
    assert result.status == 0, result.log
    assert live(world) == []
    assert [runner.name for runner in world.github.runners()] == ["runner-sibling0-jit-77-1"]
    assert world.calls.count(f"GET {RUNNERS}") == 1
