"""Nothing of a machine is left when its instance is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sandbox.act.rc import ROOT
from sandbox.ec2 import processes


def _alive(number: int) -> bool:
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _started(cloud: Any, script: str) -> tuple[str, int]:
    """Boot a script that leaves a process id in tmp/pid; the instance and that process."""
    booted = cloud.boot(f"cd $RUNNER_FLEET_ROOT/tmp\n{script}\nwait; sleep 1000")
    file = cloud.root(booted) / "tmp/pid"
    cloud.until(lambda: file.exists() and file.read_text(encoding="utf-8").strip())
    return booted, int(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "script",
    [
        "sleep 1000 & echo $! >pid",
        "setsid sleep 1000 & echo $! >pid",
        "(setsid nohup sleep 1000 & echo $! >pid) &",
        "env -i setsid $(which sleep) 1000 & echo $! >pid",
        "trap '' TERM; (trap '' TERM; while :; do sleep 1000; done) & echo $! >pid",
    ],
    ids=["child", "session", "orphan", "no environment", "no signals"],
)
def test_every_process_of_a_machine_ends_with_its_instance(cloud: Any, script: str) -> None:
    booted, process = _started(cloud, script)
    assert _alive(process)

    cloud.ec2.end(booted)
    cloud.ec2.settle()

    assert not _alive(process)
    assert cloud.state(booted) == "terminated"


def test_processes_may_tidy_up_when_the_instance_is_terminated(cloud: Any) -> None:
    booted, _ = _started(cloud, "trap 'echo tidied; exit' TERM; echo $$ >pid; sleep 1000 &")

    cloud.client.terminate_instances(InstanceIds=[booted])
    cloud.ec2.settle()

    assert cloud.ec2.console(booted).endswith("tidied\n")


def test_another_machine_s_processes_go_on(cloud: Any) -> None:
    first, _ = _started(cloud, "sleep 1000 & echo $! >pid")
    _, other = _started(cloud, "sleep 1000 & echo $! >pid")

    cloud.client.terminate_instances(InstanceIds=[first])
    cloud.ec2.settle()

    assert _alive(other)


def test_a_reset_ends_all_machines_and_removes_their_files(cloud: Any) -> None:
    booted, process = _started(cloud, "sleep 1000 & echo $! >pid")
    root = cloud.root(booted)

    cloud.ec2.reset()
    cloud.ec2.settle()

    assert not _alive(process)
    assert not root.exists()
    assert cloud.ec2.instances() == []


def test_what_a_forgotten_machine_does_is_not_told(cloud: Any) -> None:
    _started(cloud, "sleep 1000 & echo $! >pid")
    cloud.ec2.rules.boot(delay=60)
    cloud.boot("echo up")

    cloud.ec2.reset()
    cloud.ec2.advance(60)
    cloud.ec2.settle()

    assert cloud.ec2.history == []
    assert cloud.ec2.machines == {}


def test_forty_machines_boot_at_once(cloud: Any) -> None:
    script = "#!/bin/bash\ncurl -fsS 127.0.0.1:1 || echo up\n"
    ids = [each["InstanceId"] for each in cloud.launch(40, UserData=script)]

    for instance_id in ids:
        assert cloud.until_finished(instance_id).endswith("up\n")


# A world with two machines, which loop as a runner does that has lost its server.
DOOMED = """
import sys, time
from pathlib import Path
import boto3
from sandbox.world import World
with World(Path(sys.argv[1])) as world:
    client = boto3.client("ec2", endpoint_url=world.ec2_url, region_name="us-east-1",
                          aws_access_key_id="testing", aws_secret_access_key="testing")
    client.run_instances(ImageId="ami-0c240000000000002", InstanceType="g6.xlarge",
                         MinCount=2, MaxCount=2, UserData=sys.argv[2])
    print("booted", flush=True)
    time.sleep(600)
"""


def test_machines_end_when_their_sandbox_is_killed(tmp_path: Path, cloud: Any) -> None:
    script = "#!/bin/bash\ntrap '' TERM HUP\n(setsid sleep 600 &) ; touch tmp/up\nsleep 600"
    with subprocess.Popen(
        [sys.executable, "-c", DOOMED, str(tmp_path), script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "examples")},
        stdout=subprocess.PIPE,
    ) as doomed:
        assert doomed.stdout is not None
        assert doomed.stdout.readline() == b"booted\n"
        cloud.until(lambda: len(list(tmp_path.glob("ec2/i-*/tmp/up"))) == 2)
        assert len(processes.of([tmp_path], [])) >= 4
        doomed.send_signal(signal.SIGKILL)
    cloud.until(lambda: not processes.of([tmp_path], []))
