"""start-runner against the sandbox: the real entrypoint, real boots, real registrations."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterable
from threading import Event
from typing import TYPE_CHECKING

import pytest
from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import DEADLINE, Actions, until
from tests.faults.gate import Gate

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

INPUTS = {
    "aws_image_name": "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)",
    "aws_image_id": "latest",
    "aws_instance_type": "g4dn.xlarge",
    "aws_home_dir": "/home/ubuntu",
    "capacity_timeout": "0",
}


def live(world: World) -> list[str]:
    return [
        instance.id
        for instance in world.ec2.instances()
        if instance.state not in ("shutting-down", "terminated")
    ]


def assert_nothing_left(world: World) -> None:
    assert live(world) == []
    assert world.github.runners() == []


def test_one_runner_is_online_when_start_returns(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS)
    assert result.status == 0, result.log
    (instance,) = live(world)
    (runner,) = world.github.runners()
    label = runner.labels[0].name
    assert runner.status == "online"
    assert runner.ephemeral
    assert runner.name == f"{label}-{instance}"
    assert [item.name for item in runner.labels] == [label]
    assert result.outputs["mapping"] == f'{{"{instance}": "{label}"}}'
    assert result.outputs["instances"] == f'["{label}"]'
    assert result.outputs["runs_on"] == f'["{label}"]'
    assert result.outputs["region"] == "us-east-1"
    assert re.fullmatch(r"77-1-start-aws-runner-[a-z0-9]{8}", result.outputs["fleet_id"])


def test_several_runners_have_a_label_each_and_one_in_common(
    actions: Actions, world: World
) -> None:
    result = actions.run("start-runner", INPUTS | {"instance_count": "3", "extra_gh_labels": "gpu"})
    assert result.status == 0, result.log
    mapping = json.loads(result.outputs["mapping"])
    own = json.loads(result.outputs["instances"])
    (shared,) = json.loads(result.outputs["runs_on"])
    assert sorted(mapping) == sorted(live(world))
    assert list(mapping.values()) == own
    found = {
        runner.name: [label.name for label in runner.labels] for runner in world.github.runners()
    }
    assert found == {f"{label}-{key}": [label, shared, "gpu"] for key, label in mapping.items()}


@pytest.mark.parametrize("count", [1, 16])
def test_calls_do_not_grow_with_the_number_of_runners(
    actions: Actions, world: World, count: int
) -> None:
    result = actions.run("start-runner", INPUTS | {"instance_count": str(count)})
    assert result.status == 0, result.log
    assert (
        world.calls.count("POST /repos/octo-org/gpu-tests/actions/runners/registration-token") == 1
    )
    assert world.calls.count("GET /repos/octo-org/gpu-tests/actions/runners/downloads") == 1
    assert world.calls.count("RunInstances") == 1
    assert world.calls.count("DescribeImages") == 1
    polls = world.calls.count("DescribeInstances")
    listings = [
        call
        for call in world.calls.all("github")
        if call.operation == "GET /repos/octo-org/gpu-tests/actions/runners"
    ]
    assert len(listings) <= polls


def test_instances_and_volumes_say_whose_they_are(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS | {"aws_tags": '{"team": "gpu"}'})
    (instance,) = world.ec2.instances()
    assert instance.tags == {
        "Name": "runner-fleet octo-org/gpu-tests",
        "team": "gpu",
        "runner-fleet:fleet-id": result.outputs["fleet_id"],
        "runner-fleet:repository": "octo-org/gpu-tests",
        "runner-fleet:run-repository": "octo-org/gpu-tests",
        "runner-fleet:run-id": "77",
        "runner-fleet:run-attempt": "1",
        "runner-fleet:job": "start-aws-runner",
    }


def test_a_profile_that_is_not_there_is_one_line(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS, {"AWS_PROFILE": "no-such-profile"})
    assert result.status == 1
    (line,) = result.errors
    assert line == "AWS_PROFILE: The config profile (no-such-profile) could not be found"


def test_no_secret_is_shown(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS)
    token = world.environment()["GH_PAT"]
    shown = re.sub(r"^::add-mask::.*$", "", result.log, flags=re.MULTILINE)
    assert token not in shown + result.summary + str(result.outputs)
    assert "::add-mask::A" in result.log  # the registration token


def test_the_summary_shows_each_instance(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS)
    (instance,) = live(world)
    assert "### Started 1 runner in us-east-1" in result.summary
    assert f"`{instance}` | g4dn.xlarge | us-east-1" in result.summary


def test_refused_capacity_is_one_line_and_leaves_nothing(actions: Actions, world: World) -> None:
    world.ec2.rules.refuse(instance_type="g4dn.xlarge")
    result = actions.run("start-runner", INPUTS)
    assert result.status == 1
    (line,) = result.errors
    assert "InsufficientInstanceCapacity" in line
    assert "another subnet" in line
    assert_nothing_left(world)


def test_an_instance_that_dies_ends_the_wait_at_once(actions: Actions, world: World) -> None:
    world.ec2.rules.boot(never=True, dies_after=0.2, reason="Server.InternalError", times=1)
    result = actions.run("start-runner", INPUTS | {"instance_count": "3"})
    assert result.status == 1
    (line,) = result.errors
    assert "before its runner came online" in line
    assert len(json.loads(result.outputs["mapping"])) == 3
    assert_nothing_left(world)


def test_runners_that_never_come_are_given_up_after_gh_timeout(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    result = actions.run("start-runner", INPUTS | {"instance_count": "2", "gh_timeout": "1"})
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("gh_timeout: after 1 seconds 2 of 2 runners are not online: ")
    assert_nothing_left(world)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_a_signal_takes_back_what_was_started(
    actions: Actions, world: World, number: signal.Signals, status: int
) -> None:
    world.ec2.rules.boot(never=True)
    running = actions.begin("start-runner", INPUTS | {"instance_count": "2"})
    until(lambda: len(live(world)) == 2, "the launch")
    running.signal(number)
    result = running.result()
    assert result.status == status
    assert result.outputs["fleet_id"]
    assert_nothing_left(world)


def test_a_runner_that_registers_while_it_is_taken_back_is_removed_too(
    actions: Actions, world: World
) -> None:
    """Between the two looks of the way back."""
    registers, looked, registered = Event(), Event(), Event()

    def between(application: WSGIApplication) -> WSGIApplication:
        def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            path = environ["PATH_INFO"]
            if path == "/_runner/register":
                registers.set()
                looked.wait(DEADLINE)
                reply = application(environ, start_response)
                registered.set()
                return reply
            looks = path.endswith("/actions/runners") and world.calls.count("TerminateInstances")
            if looks and looked.is_set():
                registered.wait(DEADLINE)
            reply = application(environ, start_response)
            if looks:
                looked.set()
            return reply

        return answer

    world.intercept(between)
    running = actions.begin("start-runner", INPUTS)
    assert registers.wait(DEADLINE)
    running.signal(signal.SIGTERM)
    result = running.result()
    assert result.status == 143
    assert "1 registration removed" in result.log
    assert_nothing_left(world)


def test_instances_that_ec2_does_not_know_yet_are_taken_back(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    running = actions.begin("start-runner", INPUTS | {"instance_count": "2"})
    until(lambda: len(live(world)) == 2, "the launch")
    ids = ", ".join(live(world))
    world.faults.add(
        Fault(
            "TerminateInstances",
            status=400,
            code="InvalidInstanceID.NotFound",
            message=f"The instance IDs '{ids}' do not exist",
        )
    )
    running.signal(signal.SIGINT)
    result = running.result()
    assert result.status == 130
    assert_nothing_left(world)


def test_a_cancel_does_not_wait_for_what_ec2_is_asked_before_the_launch(
    actions: Actions, world: World
) -> None:
    slow = [
        Fault("DescribeInstanceTypes", delay=600),
        Fault("GET /repos/octo-org/gpu-tests/actions/runners/downloads", delay=600),
    ]
    for fault in slow:
        world.faults.add(fault)
    running = actions.begin("start-runner", INPUTS)
    until(lambda: all(fault.times == 0 for fault in slow), "both services are asked")
    running.signal(signal.SIGINT)
    assert running.result().status == 130


@pytest.mark.parametrize("operation", ["RunInstances", "DescribeInstances$"])
def test_an_answer_that_is_cut_off_leaves_nothing(
    actions: Actions, world: World, operation: str
) -> None:
    world.faults.add(Fault(operation, status=200, when="after", body="<?xml", times=2))
    result = actions.run("start-runner", INPUTS | {"instance_count": "2"})
    assert result.status == 0, result.log
    assert len(live(world)) == 2


def test_an_answer_that_is_cut_off_does_not_end_the_way_back(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    world.faults.add(Fault("TerminateInstances", status=200, body="<?xml"))
    result = actions.run("start-runner", INPUTS | {"gh_timeout": "1"})
    assert result.status == 1
    assert len(result.errors) == 1
    assert_nothing_left(world)


def test_what_cannot_be_taken_back_is_said_as_an_error(actions: Actions, world: World) -> None:
    world.ec2.rules.boot(never=True)
    denied = Fault("TerminateInstances", status=403, code="UnauthorizedOperation", times=None)
    world.faults.add(denied)
    result = actions.run("start-runner", INPUTS | {"gh_timeout": "1"})
    assert result.status == 1
    assert len(result.errors) == 3
    assert "lacks the permission ec2:TerminateInstances" in result.errors[0]
    assert result.errors[1].startswith("1 instances may still run: give stop-runner the fleet_id")
    assert result.outputs["fleet_id"] in result.errors[1]
    assert result.errors[2].startswith("gh_timeout: ")


def test_a_token_that_github_does_not_give_is_noticed_before_the_launch(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("POST .*/registration-token", status=201, body='{"token": null}'))
    result = actions.run("start-runner", INPUTS)
    assert result.status == 1
    (line,) = result.errors
    assert "is not what its API documents" in line
    assert world.ec2.instances() == []


def test_a_repository_that_was_renamed_is_said(actions: Actions, world: World) -> None:
    moved = Fault(
        "POST .*/registration-token",
        status=307,
        body="{}",
        headers={"Location": f"{world.github.url}/repositories/1/actions/runners"},
    )
    world.faults.add(moved)
    result = actions.run("start-runner", INPUTS)
    assert result.status == 1
    (line,) = result.errors
    assert "was renamed or moved" in line


def test_a_github_that_fails_all_the_time_is_named_in_the_timeout(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault(r"GET .*/actions/runners$", status=503, times=None))
    result = actions.run("start-runner", INPUTS | {"gh_timeout": "2"})
    assert result.status == 1
    assert "The last poll that failed: GitHub" in result.errors[-1]
    assert live(world) == []


@pytest.mark.parametrize(
    ("status", "says"), [(401, "GitHub does not accept the token in GH_PAT"), (404, "GitHub ans")]
)
def test_a_token_that_is_refused_meanwhile_is_not_taken_for_an_absent_runner(
    actions: Actions, world: World, status: int, says: str
) -> None:
    world.faults.add(Fault(r"GET .*/actions/runners$", status=status))
    result = actions.run("start-runner", INPUTS)
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith(says)
    assert_nothing_left(world)


def test_instances_that_ec2_does_not_show_yet_are_waited_for(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("DescribeInstances$", when="stale", stale_seconds=60.0, times=2))
    result = actions.run("start-runner", INPUTS)
    assert result.status == 0, result.log
    assert world.faults.all() == []


def test_a_log_that_nobody_reads_any_more_keeps_no_machine_alive(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    running = actions.begin("start-runner", INPUTS | {"gh_timeout": "2"})
    assert running.process.stdout is not None
    running.process.stdout.close()
    running.process.wait(timeout=60)
    assert len(world.ec2.instances()) == 1
    assert_nothing_left(world)


def test_outputs_that_cannot_be_written_take_everything_back(
    actions: Actions, world: World, gate: Gate
) -> None:
    gate.close_at("RunInstances", 0, "after")
    running = actions.begin("start-runner", INPUTS)
    assert gate.reached.wait(DEADLINE)
    running.break_outputs()
    gate.open()
    result = running.result()
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("GITHUB_OUTPUT: the output mapping cannot be written")
    assert len(world.ec2.instances()) == 1
    assert_nothing_left(world)


def test_a_signal_in_the_middle_of_the_launch_loses_nothing(
    actions: Actions, world: World, gate: Gate
) -> None:
    gate.close_at("RunInstances", 0, "before")
    running = actions.begin("start-runner", INPUTS)
    assert gate.signal(running, signal.SIGINT)
    result = running.result()
    assert result.status == 130
    assert_nothing_left(world)


def test_a_lost_launch_reply_does_not_launch_twice(actions: Actions, world: World) -> None:
    world.faults.add(Fault("RunInstances", when="drop"))
    result = actions.run("start-runner", INPUTS | {"instance_count": "2"})
    assert result.status == 0, result.log
    assert len(live(world)) == 2


def test_a_launch_whose_reply_is_lost_for_good_is_found_and_used(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("RunInstances", when="drop", times=None))
    inputs = {"instance_count": "2", "aws_instance_type": "g4dn.xlarge,g5.xlarge"}
    result = actions.run("start-runner", INPUTS | inputs)
    assert result.status == 0, result.log
    assert sorted(json.loads(result.outputs["mapping"])) == sorted(live(world))
    assert [instance.type for instance in world.ec2.instances()] == ["g4dn.xlarge"] * 2


def test_a_launch_that_worked_before_a_refusal_is_used(actions: Actions, world: World) -> None:
    world.faults.add(Fault("RunInstances", when="drop"))
    world.faults.add(Fault("RunInstances", status=400, code="InvalidParameterValue", message="no"))
    result = actions.run("start-runner", INPUTS)
    assert result.status == 0, result.log
    assert len(world.ec2.instances()) == 1


def test_a_signal_while_the_reply_of_a_launch_is_lost_takes_it_back(
    actions: Actions, world: World
) -> None:
    world.faults.add(Fault("RunInstances", when="drop", times=None))
    running = actions.begin("start-runner", INPUTS | {"instance_count": "2"})
    until(lambda: len(live(world)) == 2, "the launch")
    running.signal(signal.SIGINT)
    result = running.result()
    assert result.status == 130
    assert "mapping" not in result.outputs
    assert len(world.ec2.instances()) == 2
    assert_nothing_left(world)


def test_a_start_that_is_killed_leaves_its_fleet_to_stop(actions: Actions, world: World) -> None:
    world.faults.add(Fault("RunInstances", when="drop", times=None))
    running = actions.begin("start-runner", INPUTS | {"instance_count": "2"})
    until(lambda: len(live(world)) == 2, "the launch")
    running.signal(signal.SIGKILL)
    outputs = running.result().outputs
    assert "mapping" not in outputs
    stopped = actions.run("stop-runner", {"fleet_id": outputs["fleet_id"]})
    assert stopped.status == 0, stopped.log
    assert_nothing_left(world)


def test_a_bad_moment_of_github_does_not_end_the_wait(actions: Actions, world: World) -> None:
    for status in (500, 502, 503):
        world.faults.add(Fault(r"GET .*/actions/runners$", status=status))
    result = actions.run("start-runner", INPUTS)
    assert result.status == 0, result.log
