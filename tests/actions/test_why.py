"""start-runner says why: the console's end in the log, the cause in the error and the summary."""

from __future__ import annotations

import re
import signal

from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import Actions, until
from tests.actions.test_start import INPUTS, assert_nothing_left, live

# What a script of a user's might write: secrets, a terminal's colours, a command to the runner.
SCRIPT = r"""
for n in $(seq 40); do echo "line $n"; done
echo "cloning with ghp_0123456789abcdefABCDEF0123456789abcd"
printf '\033[31mAuthorization: Basic dXNlcjpwYXNzd29yZA==\033[0m\n'
echo "::set-output name=mapping::stolen"
printf '%0300d\n' 0
exit 3
"""


def test_a_script_that_fails_is_named_and_its_output_shown(actions: Actions, world: World) -> None:
    # EC2 has the console of an instance some seconds after its end.
    nothing = "<GetConsoleOutputResponse><output></output></GetConsoleOutputResponse>"
    world.faults.add(Fault("GetConsoleOutput", status=200, body=nothing))
    result = actions.run("start-runner", INPUTS | {"pre_runner_script": SCRIPT})
    assert result.status == 1
    (line,) = result.errors
    (instance,) = world.ec2.instances()
    assert f"instance {instance.id} (" in line
    assert "Why: pre_runner_script ended with status 3 [pre-script-failed]: " in line

    shown = re.search(r"^::group::(Console of .*)\n((?:.*\n)*?)::endgroup::", result.log, re.M)
    assert shown
    assert shown[1].endswith(f"({instance.id}), the last lines")
    lines = shown[2].splitlines()
    assert len(lines) == 30
    assert max(map(len, lines)) <= 204
    assert "cloning with ***" in lines
    assert "Authorization: ***" in lines
    assert "> ::set-output name=mapping::stolen" in lines
    assert "runner-fleet: powering off (exit status 1)" in lines

    assert "### Why the start failed" in result.summary
    assert instance.id in result.summary
    assert "correct the script" in result.summary
    assert world.calls.count("GetConsoleOutput") == 2
    assert_nothing_left(world)


def test_of_several_that_never_come_three_consoles_are_read(actions: Actions, world: World) -> None:
    world.ec2.rules.boot(never=True)
    result = actions.run("start-runner", INPUTS | {"instance_count": "5", "gh_timeout": "1"})
    (line,) = result.errors
    assert line.count("Why: ") == 1
    assert "[console-empty]" in line
    assert world.calls.count("GetConsoleOutput") == 3
    assert result.summary.startswith("### Start failed\n\n- gh\\_timeout: after 1 seconds 5 of 5 ")
    end = "\n\n5 of 5 instances ended, 0 registrations removed: nothing of this start costs money"
    assert f"{end} any more.\n\n### Why the start failed\n" in result.summary
    assert result.summary.count("console-empty") == 4
    assert_nothing_left(world)


def test_a_spot_instance_that_is_taken_back_is_named(actions: Actions, world: World) -> None:
    world.ec2.rules.boot(never=True, dies_after=0.2, reason="Server.SpotInstanceTermination")
    result = actions.run("start-runner", INPUTS)
    (line,) = result.errors
    assert "AWS took the spot instance back [spot-interruption]: start again" in line
    assert world.calls.count("GetConsoleOutput") == 1
    assert_nothing_left(world)


def test_types_without_the_latest_console_are_asked_for_what_there_is(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    refused = Fault("GetConsoleOutput", status=400, code="UnsupportedOperation", message="no")
    world.faults.add(refused)
    result = actions.run("start-runner", INPUTS | {"gh_timeout": "1"})
    (line,) = result.errors
    assert "[console-empty]" in line
    assert world.calls.count("GetConsoleOutput") == 2


def test_a_start_that_is_cancelled_reads_no_console(actions: Actions, world: World) -> None:
    world.ec2.rules.boot(never=True)
    running = actions.begin("start-runner", INPUTS)
    until(lambda: live(world), "the launch")
    running.signal(signal.SIGINT)
    assert running.result().status == 130
    assert world.calls.count("GetConsoleOutput") == 0
    assert_nothing_left(world)


def test_a_start_that_is_cancelled_while_it_reads_a_console_is_taken_back(
    actions: Actions, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    world.faults.add(Fault("GetConsoleOutput", delay=600))
    running = actions.begin("start-runner", INPUTS | {"gh_timeout": "1"})
    until(lambda: not world.faults.all(), "the console is read")
    running.signal(signal.SIGTERM)
    assert running.result().status == 143
    assert_nothing_left(world)
