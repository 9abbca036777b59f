"""Booted instances: a directory that looks like a machine's root, and its user data running.

The root is the instance's own directory; its `usr/sbin` are the stand-ins (`machine/bin`) for
whatever needs root, the network or another machine, its `usr/bin` the host's commands that an
Ubuntu server has, too. Nothing else is on the PATH, and nothing of the host's environment is
passed, so that what works here does not work only by what the host happens to have.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox.ec2 import processes
from sandbox.ec2.user_data import UserData

STAND_INS = Path(__file__).parent / "machine" / "bin"
# What a minimal Ubuntu server has, as far as scripts use it. python3 is added.
HOST_COMMANDS = Path(__file__).parent / "machine" / "host-commands.txt"
GRACE = 20.0  # seconds from SIGTERM to SIGKILL; a real shutdown leaves up to 90
_CONSOLE = "var/log/cloud-init-output.log"
# Whatever the one script makes of it, the next is run.
_ALL = 'for script in "$0" "$@"; do eval "$script"; done'
_NOTES = {"text/x-powershell": "EC2Launch: there is no PowerShell in the sandbox; it keeps this"}
_DIRECTORIES = ("etc", "root", "run", "tmp", "usr", "var/log")


@dataclass(frozen=True)
class Facts:
    """What a machine knows about itself."""

    instance_id: str
    instance_type: str
    architecture: str  # "x86_64" or "arm64"
    region: str
    zone: str
    launch_index: int
    image_id: str
    image_name: str
    address: str

    @property
    def user(self) -> str:
        """The image's ordinary user."""
        name = self.image_name.lower()
        return "ec2-user" if "al2023" in name or "amazon linux" in name else "ubuntu"


class Tools:
    """The directories of commands that all machines share."""

    def __init__(self, directory: Path) -> None:
        self.stand_ins = directory / "stand-ins"
        self.host = directory / "host-commands"
        for place in (self.stand_ins, self.host):
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(STAND_INS, self.stand_ins)
        self.host.mkdir()
        for name in HOST_COMMANDS.read_text().split():
            if found := shutil.which(name):
                (self.host / name).symlink_to(found)
        # Isolated and without site-packages: a start takes 10 ms, and finds nothing of the host's.
        python = self.host / "python3"
        interpreter = shlex.quote(str(Path(sys.executable).resolve()))
        python.write_text(f'#!/bin/bash\nexec {interpreter} -I -S "$@"\n')
        python.chmod(0o755)


class Machine:
    """One booted instance."""

    def __init__(self, root: Path, facts: Facts, tools: Tools, metadata_url: str) -> None:
        self.root = root
        self.facts = facts
        self._process: subprocess.Popen[bytes] | None = None
        self._furnish(tools, metadata_url)

    def boot(self, user_data: str, on_exit: Callable[[int], None]) -> None:
        """Run the scripts of the user data as cloud-init does; `on_exit` gets the exit status."""
        given = UserData.parse(user_data)
        scripts = [self._stored(name, text) for name, text in given.scripts.items()]
        with (self.root / _CONSOLE).open("ab", buffering=0) as console:
            console.write(f"[    0.000000] {self.facts.instance_id} is booting\n".encode())
            for kind, text in given.others.items():
                console.write(_NOTES.get(kind, f"cloud-init: the sandbox keeps {kind}").encode())
                console.write(b" and does not run it\n")
                (self.root / "run" / kind.rpartition("/")[2]).write_text(text)
            if not scripts:
                return
            several = ["bash", "-c", _ALL, *map(shlex.join, scripts)]
            self._process = subprocess.Popen(
                several if len(scripts) > 1 else scripts[0],
                cwd=self.root,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        waiting = threading.Thread(
            target=self._wait, args=(self._process, on_exit), name="ec2-user-data", daemon=True
        )
        waiting.start()

    def _stored(self, name: str, text: str) -> list[str]:
        """The command that runs a script."""
        script = self.root / "run" / name
        script.write_text(text)
        script.chmod(0o700)
        interpreter = text.splitlines()[0].rpartition("/")[2]
        return [*(["bash"] if interpreter in ("bash", "env bash", "sh") else []), str(script)]

    def environment(self) -> dict[str, str]:
        """As under cloud-init: no HOME, no USER."""
        return {
            "PATH": f"{self.root}/usr/sbin:{self.root}/usr/bin",
            processes.MARKER: str(self.root),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
        }

    def run(self, arguments: list[str]) -> None:
        """Start a command in the machine, as its service manager would."""
        with (self.root / _CONSOLE).open("ab", buffering=0) as console:
            process = subprocess.Popen(
                arguments, cwd=self.root, env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=console, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        threading.Thread(target=process.wait, daemon=True).start()

    def console(self) -> str:
        """Everything the machine has written on its console."""
        log = self.root / _CONSOLE
        return log.read_bytes().decode("utf-8", "replace") if log.exists() else ""

    @property
    def session(self) -> int | None:
        """The session the user data was started in."""
        return self._process.pid if self._process else None

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], on_exit: Callable[[int], None]) -> None:
        on_exit(process.wait())

    def _furnish(self, tools: Tools, metadata_url: str) -> None:
        root, facts = self.root, self.facts
        home = f"home/{facts.user}"
        for name in (*_DIRECTORIES, home):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / "usr/sbin").symlink_to(tools.stand_ins)
        (root / "usr/bin").symlink_to(tools.host)
        (root / "etc/passwd").write_text(
            "root:x:0:0:root:/root:/bin/bash\n"
            f"{facts.user}:x:1000:1000::/{home}:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        )
        (root / "etc/group").write_text(
            f"root:x:0:\nsudo:x:27:{facts.user}\n{facts.user}:x:1000:\n"
        )
        amazon = facts.user == "ec2-user"
        (root / "etc/os-release").write_text(
            'NAME="Amazon Linux"\nVERSION_ID="2023"\nID="amzn"\nID_LIKE="fedora"\n'
            if amazon
            else 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n'
        )
        (root / "etc/machine-id").write_text(facts.instance_id.removeprefix("i-").rjust(32, "0"))
        (root / "run/machine").write_text(
            f"machine_id={facts.instance_id}\n"
            f"machine_architecture={facts.architecture}\n"
            f"machine_address={facts.address}\n"
            f"machine_metadata={metadata_url}/{facts.instance_id}\n"
        )


def end(machines: list[Machine], grace: float = GRACE) -> None:
    """End every process of the machines; returns when none is left."""
    if machines:
        sessions = {machine.session for machine in machines if machine.session}
        processes.end([machine.root for machine in machines], sessions, grace)


def remove(machines: list[Machine]) -> None:
    """Remove the machines' files."""
    for machine in machines:
        shutil.rmtree(machine.root, ignore_errors=True)
