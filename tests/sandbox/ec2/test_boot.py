"""Instances come up, fail to, die, and switch themselves off."""

from __future__ import annotations

import gzip
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any

import pytest


def test_an_instance_runs_its_user_data(cloud: Any) -> None:
    booted = cloud.boot('echo "from $0" && touch "$RUNNER_FLEET_ROOT/tmp/was-here"')

    assert "from " in cloud.until_finished(booted)
    assert (cloud.root(booted) / "tmp/was-here").exists()


def test_every_instance_has_a_root_of_its_own(cloud: Any) -> None:
    first, second = cloud.boot("pwd"), cloud.boot("pwd")

    assert cloud.root(first).name == first
    assert str(cloud.root(second)) in cloud.until_finished(second)
    cloud.until_finished(first)


def test_the_host_s_environment_does_not_reach_a_machine(
    cloud: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAK", "drip")
    console = cloud.until_finished(cloud.boot("env; echo HOME=${HOME-none}"))

    assert "LEAK" not in console
    assert "HOME=none" in console


def test_the_console_can_be_asked_for(cloud: Any) -> None:
    booted = cloud.boot("echo caf\u00e9; echo problem >&2")
    cloud.until_finished(booted)

    output = cloud.client.get_console_output(InstanceId=booted, Latest=True)["Output"]

    assert output.endswith("caf\u00e9\nproblem\n")


def test_user_data_that_is_no_script_is_not_run(cloud: Any) -> None:
    [instance] = cloud.launch(UserData="#cloud-config\nruncmd: [touch /x]\n")

    assert "keeps text/cloud-config and does not run it" in cloud.ec2.console(
        instance["InstanceId"]
    )


def test_the_parts_of_user_data_are_run_in_the_order_of_their_names(cloud: Any) -> None:
    message = MIMEMultipart()
    for name, kind, text in (
        ("last", "x-shellscript", "#!/bin/bash\necho last\n"),
        ("", "plain", "#cloud-config\npackages: [jq]\n"),
        ("first", "x-shellscript", "#!/bin/bash\necho first\nexit 3\n"),
        ("", "plain", "#!/bin/sh\necho neither: caf\u00e9\n"),
    ):
        part = MIMEText(text, kind)
        if name:
            part.add_header("Content-Disposition", "attachment", filename=name)
        message.attach(part)
    [instance] = cloud.launch(UserData=gzip.compress(message.as_bytes()))

    console = cloud.until_finished(instance["InstanceId"])

    assert console.endswith(
        "cloud-init: the sandbox keeps text/cloud-config and does not run it\n"
        "first\nlast\nneither: caf\u00e9\n"
    )
    kept = cloud.root(instance["InstanceId"]) / "run/cloud-config"
    assert kept.read_text() == "#cloud-config\npackages: [jq]\n"


def test_an_instance_is_pending_until_its_boot_delay_is_over(cloud: Any) -> None:
    cloud.ec2.rules.boot(instance_type="g6.xlarge", delay=60)
    booted = cloud.boot("echo up")
    before = cloud.instance(booted)["State"]["Name"]

    cloud.ec2.advance(60)

    assert before == "pending"
    assert "up" in cloud.until_finished(booted)
    assert cloud.instance(booted)["State"]["Name"] == "running"


@pytest.mark.parametrize("state", ["running", "pending"])
def test_an_instance_that_never_boots_does_nothing(cloud: Any, state: str) -> None:
    cloud.ec2.rules.boot(never=True, stays=state)
    booted = cloud.boot("echo up")

    assert cloud.state(booted) == state
    assert booted not in cloud.ec2.machines


@pytest.mark.parametrize("never", [True, False])
def test_an_instance_can_die(cloud: Any, never: bool) -> None:
    cloud.ec2.rules.boot(
        never=never, stays="pending", dies_after=60, reason="Server.SpotInstanceTermination"
    )
    booted = cloud.boot("sleep 1000")

    cloud.ec2.advance(60)

    cloud.until(lambda: cloud.state(booted) == "terminated")
    assert cloud.instance(booted)["StateReason"]["Code"] == "Server.SpotInstanceTermination"


def test_a_boot_rule_can_be_for_some_instances_only(cloud: Any) -> None:
    cloud.ec2.rules.boot(never=True, times=1)

    ids = [each["InstanceId"] for each in cloud.launch(2)]

    assert [instance_id in cloud.ec2.machines for instance_id in ids] == [False, True]


def test_a_shutdown_terminates_an_instance_that_is_to_terminate(cloud: Any) -> None:
    booted = cloud.boot(
        "shutdown -h now; sleep 1000", InstanceInitiatedShutdownBehavior="terminate"
    )

    cloud.until(lambda: cloud.state(booted) == "terminated")
    instance = cloud.instance(booted)
    assert instance["StateReason"] == {
        "Code": "Client.InstanceInitiatedShutdown",
        "Message": "Client.InstanceInitiatedShutdown: Instance initiated shutdown",
    }
    [seen] = cloud.ec2.instances()
    assert seen.ended_at >= seen.launched_at


@pytest.mark.parametrize("command", ["poweroff", "systemctl poweroff", "sudo shutdown -P now"])
def test_a_machine_can_be_switched_off_in_many_ways(cloud: Any, command: str) -> None:
    booted = cloud.boot(command, InstanceInitiatedShutdownBehavior="terminate")

    cloud.until(lambda: cloud.state(booted) == "terminated")
    assert cloud.instance(booted)["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


def test_a_shutdown_stops_an_instance_by_default(cloud: Any) -> None:
    booted = cloud.boot("echo up; shutdown -h now; sleep 1000")

    cloud.until(lambda: cloud.state(booted) == "stopped")
    assert cloud.instance(booted)["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


def test_a_stopped_instance_starts_without_running_its_user_data_again(cloud: Any) -> None:
    booted = cloud.boot("echo up; shutdown -h now; sleep 1000")
    cloud.until(lambda: cloud.state(booted) == "stopped")

    cloud.client.start_instances(InstanceIds=[booted])

    assert cloud.state(booted) == "running"
    assert cloud.ec2.console(booted).count("up\n") == 1


def test_a_shutdown_can_be_for_later(cloud: Any) -> None:
    booted = cloud.boot("shutdown -P +360", InstanceInitiatedShutdownBehavior="terminate")
    cloud.until_finished(booted)
    assert cloud.events(booted, "shutdown_scheduled") == [{"after": "21600"}]

    cloud.ec2.advance(360 * 60)

    cloud.until(lambda: cloud.state(booted) == "terminated")


def test_a_later_shutdown_can_be_cancelled(cloud: Any) -> None:
    booted = cloud.boot("shutdown -P +5; shutdown -c")
    cloud.until_finished(booted)
    assert cloud.events(booted, "shutdown_cancelled") == [{}]

    cloud.ec2.advance(600)

    assert cloud.state(booted) == "running"


def test_only_root_may_shut_down(cloud: Any) -> None:
    console = cloud.until_finished(cloud.boot("runuser -u ubuntu -- shutdown -h now; echo $?"))

    assert console.endswith("\n1\n")


def test_the_history_tells_an_instance_s_life(cloud: Any) -> None:
    booted = cloud.boot("sleep 1000")
    cloud.client.terminate_instances(InstanceIds=[booted])
    cloud.until(lambda: cloud.state(booted) == "terminated")
    cloud.until(lambda: cloud.events(booted, "boot_finished"))

    kinds = [event.kind for event in cloud.ec2.history if event.kind != "boot_finished"]
    assert kinds == ["launched", "running", "boot_started", "shutting_down", "terminated"]
    assert cloud.events(booted, "terminated") == [{"reason": "Client.UserInitiatedShutdown"}]
