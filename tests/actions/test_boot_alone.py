"""The boot script on a machine where parts fail that never fail in the sandbox."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.identity import Caller, Fleet
from runner_fleet.provisioning.user_data import Boot, user_data
from sandbox.ec2.machines import Facts, Machine, Tools

from tests.actions.harness import until

FACTS = Facts(
    instance_id="i-0123456789abcdef0",
    instance_type="g4dn.xlarge",
    architecture="x86_64",
    region="us-east-1",
    zone="us-east-1a",
    launch_index=0,
    image_id="ami-0",
    image_name="ubuntu",
    address="10.0.0.1",
)
FLEET = Fleet("77-1-x", "o/r", Caller("o/r", "77", "1", "start"), ("runner-aaaaaaa1",), "")
SLEEP = shutil.which("sleep")


class Host:
    """A machine whose commands a test can replace; each replaced one notes its calls."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "root"
        self.bin = directory / "bin"
        self.console = directory / "console"
        self._calls = directory / "calls"
        self._archive = directory / "archive"
        self._started: list[subprocess.Popen[bytes]] = []
        self.bin.mkdir()
        self._machine = Machine(self.root, FACTS, Tools(directory), "http://127.0.0.1:1")
        for name in ("shutdown", "poweroff"):
            self.command(name)
        self.metadata(launch_index="echo 0")
        self.runner("exit 0")

    def command(self, name: str, body: str = "") -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"{self._calls}"\n{body}\n')
        path.chmod(0o755)

    def metadata(self, launch_index: str) -> None:
        """Have curl answer as the metadata service, and with the runner's archive.

        `launch_index` is the command that says it.
        """
        self.command(
            "curl",
            f"""case $* in
              */api/token) echo token ;;
              */instance-id) echo {FACTS.instance_id} ;;
              */ami-launch-index) {launch_index} ;;
              *) while [[ $1 != -o ]]; do shift; done; cat "{self._archive}" >"$2" ;;
            esac""",
        )

    def runner(self, config: str) -> None:
        """Make an archive whose config.sh runs these commands."""
        script = f'#!/bin/bash\necho config.sh >>"{self._calls}"\n{config}\n'.encode()
        member = tarfile.TarInfo("config.sh")
        member.size, member.mode = len(script), 0o755
        with tarfile.open(self._archive, "w:gz") as archive:
            archive.addfile(member, io.BytesIO(script))

    def start(
        self, home: str = "/home/ubuntu", stdout: int | None = None
    ) -> subprocess.Popen[bytes]:
        digest = hashlib.sha256(self._archive.read_bytes()).hexdigest()
        archives = (RunnerArchive("x64", "https://example.com/x64.tar.gz", digest),)
        script = self.bin.parent / "user-data"
        script.write_text(user_data(Boot("u", archives, home=home, max_lifetime=90), FLEET, "t"))
        environment = self._machine.environment()
        environment["PATH"] = f"{self.bin}:{environment['PATH']}"
        with self.console.open("wb") as console:
            process = subprocess.Popen(
                ["bash", script],
                env=environment,
                stdout=console if stdout is None else stdout,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def run(self, home: str = "/home/ubuntu", stdout: int | None = None) -> str:
        """Run the script to its end; the console."""
        self.start(home, stdout).wait(timeout=60)
        return self.console.read_text()

    def calls(self, name: str = "") -> list[str]:
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [line for line in lines if line.startswith(name)]

    def close(self) -> None:
        for process in self._started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path)
    yield made
    made.close()


def full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("broken", [full, without_reader])
def test_it_powers_off_though_its_console_is_broken(host: Host, broken: Callable[[], int]) -> None:
    console = broken()
    host.run(home="/home/nobody-here", stdout=console)
    os.close(console)

    assert host.calls()[-1] == "shutdown -h now"


def test_a_broken_console_does_not_keep_it_from_registering(host: Host) -> None:
    console = without_reader()
    host.run(stdout=console)
    os.close(console)

    assert host.calls("config.sh") == ["config.sh"]


def test_the_runner_has_pipes_as_ever_though_the_console_is_guarded(host: Host) -> None:
    host.runner("yes | head -1; echo ${PIPESTATUS[0]}")

    assert "y\n141\n" in host.run()


def test_without_a_scheduled_shutdown_it_ends_itself_at_its_maximum_lifetime(host: Host) -> None:
    host.command("shutdown", "exit 1")
    host.command("sleep")  # at once
    host.command("getent", f"exec {SLEEP} 60")
    host.start(home="")

    until(lambda: host.calls("poweroff"), "the end, while the script is busy")

    assert host.calls("sleep") == ["sleep 5400"]


def test_a_reboot_ends_it(host: Host) -> None:
    host.run()
    before = len(host.calls())

    (script,) = (host.root / "var/lib/cloud/scripts/per-boot").iterdir()
    subprocess.run([script], env={"PATH": f"{host.bin}:/usr/bin:/bin"}, check=True)

    assert host.calls()[before:] == ["shutdown -h now"]


def test_a_home_that_is_a_link_belongs_to_whom_it_leads_to(host: Host) -> None:
    (host.root / "data/ubuntu").mkdir(parents=True)
    (host.root / "home/link").symlink_to("../data/ubuntu")
    (host.root / "run/owners").write_text(
        f"root {host.root}/home/link\nubuntu {host.root}/data/ubuntu\n"
    )

    console = host.run(home="/home/link")

    assert "belongs to root" not in console
    assert "runner registered" in console


def test_each_answer_of_the_metadata_service_is_asked_for_again(host: Host) -> None:
    once = host.root / "once"
    host.metadata(launch_index=f'[[ -e "{once}" ]] && echo 0 || {{ touch "{once}"; exit 22; }}')

    assert "runner registered" in host.run()


def test_nothing_is_waited_for_without_a_limit(host: Host) -> None:
    host.run()

    assert len(host.calls("curl")) == 4
    assert [call for call in host.calls("curl") if "--max-time" not in call] == []


def test_it_does_not_register_while_the_instance_shuts_down(host: Host) -> None:
    host.command("systemctl", "echo stopping; exit 1")

    console = host.run()

    assert host.calls("config.sh") == []
    assert "not registering: the instance is shutting down" in console


def test_told_to_end_it_does_not_try_to_register_again(host: Host) -> None:
    host.runner("exit 1")
    process = host.start()
    until(lambda: "trying again in 1 s: register" in host.console.read_text(), "a failure")

    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=60)

    assert host.calls("config.sh") == ["config.sh"]
    assert host.calls()[-1] == "shutdown -h now"
