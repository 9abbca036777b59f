"""The boot script on a machine whose commands a test can replace."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.identity import Caller, Fleet
from runner_fleet.provisioning.user_data import Boot, user_data
from sandbox.ec2 import processes
from sandbox.ec2.machines import Facts, Machine, Tools

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
TOKEN = "AREGISTRATIONTOKEN"
RELEASES = "https://github.com/actions/runner/releases/download"
URL = f"{RELEASES}/v2.335.1/actions-runner-linux-x64-2.335.1.tar.gz"
SLEEP = shutil.which("sleep")

# What a runner does that has no job: it listens until it is told to end.
LISTEN = f"""mkdir -p _diag
echo "[INFO Terminal] WRITE LINE: Listening for Jobs" >>_diag/Runner_1.log
trap 'echo Exiting...; touch told; exit 0' INT
echo listening
touch ready
while :; do {SLEEP} 0.02; done"""


# ... and one that has served its job.
SERVE = "mkdir -p _diag; : >_diag/Worker_20261001-120000-utc.log"


class Host:
    """Each replaced command notes its calls."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "root"
        self.ready = self.root / "home/ubuntu/actions-runner/ready"  # made by LISTEN
        self.bin = directory / "bin"
        self._console = directory / "console"
        self._calls = directory / "calls"
        self._archive = directory / "archive"
        self._notice = directory / "notice"
        self._started: list[subprocess.Popen[bytes]] = []
        self.script = ""
        self._pause = 0
        self.bin.mkdir()
        self._machine = Machine(self.root, FACTS, Tools(directory), "http://127.0.0.1:1")
        for name in ("shutdown", "poweroff"):
            self.command(name)
        self.metadata(launch_index="echo 0")
        self.runner()

    def command(self, name: str, body: str = "") -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"{self._calls}"\n{body}\n')
        path.chmod(0o755)

    def sleep_only(self, seconds: str) -> None:
        """Sleeps of these seconds (a pattern) are over when the runner listens; others never.

        A minute, which the runner has to end in, is over when it was told to end.
        """
        told = self.ready.with_name("told")
        self.command(
            "sleep",
            f"""case $1 in {seconds}) ;; *) exec {SLEEP} 3600 ;; esac
            file="{self.ready}"; [[ $1 != 60 ]] || file="{told}"
            until [[ -e "$file" ]]; do {SLEEP} 0.01; done; exec {SLEEP} 0.01""",
        )

    def hurry(self, seconds: int) -> None:
        """Have each pause of the script take so long by its own clock, and no time by ours."""
        self._pause = seconds
        self.command("sleep", f"kill -URG $PPID; exec {SLEEP} 0.01")

    def metadata(self, launch_index: str = "echo 0", download: str = "") -> None:
        """Have curl answer as the metadata service, and with the runner's archive.

        `launch_index` is the command that says it, `download` one in place of the archive.
        """
        archive = f'while [[ $1 != -o ]]; do shift; done; cat "{self._archive}" >"$2"'
        self.command(
            "curl",
            f"""case $* in
              */api/token) echo token ;;
              */instance-id) echo {FACTS.instance_id} ;;
              */ami-launch-index) {launch_index} ;;
              */spot/instance-action) cat "{self._notice}" 2>/dev/null || echo 'none 404' ;;
              *) {download or archive} ;;
            esac""",
        )

    def interrupt(self, answer: str) -> None:
        """Let the metadata service answer so from now on: the text, a blank and the status."""
        self._notice.with_suffix(".new").write_text(answer)
        self._notice.with_suffix(".new").rename(self._notice)

    def runner(
        self, config: str = "touch .runner", run: str = SERVE, files: dict[str, str] | None = None
    ) -> None:
        """Make an archive whose config.sh, run.sh and other files run these commands."""
        scripts = {"config.sh": config, "run.sh": run} | (files or {})
        with tarfile.open(self._archive, "w:gz") as archive:
            for name, body in scripts.items():
                note = f'#!/bin/bash\necho "{name} $*" >>"{self._calls}"\n'
                data = f"{note}{body}\n".encode()
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(data), 0o755
                archive.addfile(member, io.BytesIO(data))

    def unpack(self, place: str) -> Path:
        """Have the runner in the image already."""
        directory = self.root / place.lstrip("/")
        directory.mkdir(parents=True)
        with tarfile.open(self._archive) as archive:
            archive.extractall(directory)  # noqa: S202 - our own
        return directory

    def start(self, stdout: int | None = None, **boot: Any) -> subprocess.Popen[bytes]:
        """Run the script with what `Boot` is told."""
        digest = hashlib.sha256(self._archive.read_bytes()).hexdigest()
        values: dict[str, Any] = {
            "url": "https://github.com/o/r",
            "archives": (RunnerArchive("x64", URL, digest),),
            "home": "/home/ubuntu",
            "max_lifetime": 90,
        }
        script = self.bin.parent / "user-data"
        token = "" if "jit_config" in boot else TOKEN
        data = user_data(Boot(**(values | boot)), FLEET, token)
        self.script = (gzip.decompress(data) if data.startswith(b"\x1f") else data).decode()
        if self._pause:
            hurry = f"trap 'SECONDS=$((SECONDS + {self._pause}))' URG"
            self.script = self.script.replace("\n", f"\n{hurry}\n", 1)
        script.write_text(self.script)
        environment = self._machine.environment()
        environment["PATH"] = f"{self.bin}:{environment['PATH']}"
        with self._console.open("wb") as console:
            process = subprocess.Popen(
                ["bash", script],
                env=environment,
                stdout=console if stdout is None else stdout,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def run(self, stdout: int | None = None, **boot: Any) -> str:
        """Run the script to its end; the console."""
        self.start(stdout, **boot).wait(timeout=60)
        return self.console

    @property
    def console(self) -> str:
        return self._console.read_text()

    def errors(self) -> list[str]:
        """The lines that say why there is no runner, from their code on."""
        begin = "runner-fleet: error "
        lines = self.console.splitlines()
        return [line.removeprefix(begin) for line in lines if line.startswith(begin)]

    def calls(self, name: str = "") -> list[str]:
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [line for line in lines if line.startswith(name)]

    def close(self) -> None:
        processes.end([self.root], {process.pid for process in self._started}, grace=0)
        for process in self._started:
            process.wait()
