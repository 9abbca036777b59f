"""A checkout of `launch` with a small requirement set of its own, and hosts to run it on.

Nothing here needs a network: the packages are made on the spot, and lie in a directory.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
PYTHON = os.path.realpath(sys.executable)
PATIENCE_SECONDS = 120
HELLO = """\
def main():
    print('hello from', __file__)

if __name__ == '__main__':
    main()
"""


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Poll until the condition holds; fail the test if it does not in time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


class Checkout:
    """`shared/launch` as users have it, with a set 'tiny' of one package, `hello`."""

    def __init__(self, directory: Path) -> None:
        self._started: list[subprocess.Popen[str]] = []
        self.directory = directory
        self.shared = directory / "shared"
        self.cache = directory / "cache"
        self.wheels = directory / "wheels"
        self.bin = directory / "bin"
        for made in (self.wheels, self.bin, self.shared / "requirements", directory / "home"):
            made.mkdir(parents=True)
        shutil.copy2(SHARED / "launch", self.shared)
        shutil.copytree(SHARED / "launcher", self.shared / "launcher")
        hello = self.add_wheel(
            "hello-1.0-py3-none-any.whl",
            {
                "hello.py": HELLO,
                "hello-1.0.dist-info/entry_points.txt": "[console_scripts]\nhello = hello:main\n",
            },
        )
        self.lock("tiny", hello)
        self.lock("uv", "uv==1.0 --hash=sha256:" + "0" * 64)
        self.variables = {
            "PATH": str(self.bin),
            "HOME": str(directory / "home"),
            "RUNNER_FLEET_CACHE": str(self.cache),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": self.wheels.as_uri(),
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": str(self.wheels),
            "UV_CACHE_DIR": str(directory / "uv-cache"),
        }
        # What uv and the stand-ins for it are scripts for.
        for tool in ("sh", "cat", "dirname", "realpath", "sleep"):
            self.link(tool, shutil.which(tool) or tool)

    def add_wheel(self, name: str, files: dict[str, str]) -> str:
        """Make a wheel, and return the locked requirement for it."""
        distribution, version = name.split("-")[:2]
        info = f"{distribution}-{version}.dist-info"
        tag = name.removesuffix(".whl").split("-", 2)[2]
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        wheel = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n"
        files = {**files, f"{info}/METADATA": metadata, f"{info}/WHEEL": wheel}
        path = self.wheels / name
        with zipfile.ZipFile(path, "w") as archive:
            for file, text in files.items():
                archive.writestr(file, text)
            record = "".join(f"{file},{_record(text)}\n" for file, text in files.items())
            archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return f"{distribution}=={version} --hash=sha256:{digest}"

    def add_uv_wheel(self, uv: Path) -> str:
        """Make a wheel of uv that hands on to a real one; lock it, and return its file name."""
        machine = os.uname().machine
        libc = "musllinux_1_1" if "musl" in (sysconfig.get_config_var("SOABI") or "") else ""
        name = f"uv-1.0-py3-none-{libc or 'manylinux_2_17'}_{machine}.whl"
        script = f'#!/bin/sh\nexec "{uv}" "$@"\n'
        self.lock("uv", self.add_wheel(name, {"uv-1.0.data/scripts/uv": script}))
        return name

    def lock(self, name: str, requirement: str) -> None:
        (self.shared / "requirements" / f"{name}.txt").write_text(f"{requirement}\n")

    def link(self, name: str, target: str | Path) -> None:
        (self.bin / name).symlink_to(target)

    def script(self, name: str, text: str) -> Path:
        """A command on the host's PATH."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def command(self, *arguments: str | Path, python: str | Path = PYTHON) -> list[str]:
        launch = [str(python), str(self.shared / "launch"), "--set", "tiny"]
        return launch + [str(argument) for argument in arguments]

    def launch_by_shell(
        self, shell: str, *arguments: str | Path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `launch --set tiny` as "$@" of some shell commands."""
        return subprocess.run(
            ["/bin/sh", "-c", shell, "sh", *self.command(*arguments)],
            env={**self.variables, "PATH": f"{self.bin}:/usr/bin:/bin", **variables},
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )

    def launch(
        self, *arguments: str | Path, python: str | Path = PYTHON, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `launch --set tiny` on this host to its end."""
        return subprocess.run(
            self.command(*arguments, python=python),
            env={**self.variables, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )

    def start(self, *arguments: str | Path, **variables: str) -> subprocess.Popen[str]:
        """Start `launch --set tiny` on this host; it is ended with the test."""
        process = subprocess.Popen(
            self.command(*arguments),
            env={**self.variables, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()

    def program(self, text: str) -> Path:
        path = self.directory / "program.py"
        path.write_text(text)
        return path

    def environments(self) -> list[Path]:
        """Whatever is in the cache for this set, lock files apart."""
        return [path for path in self.cache.glob("tiny-*") if path.is_dir()]


def _record(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(text.encode())}"


class SlowUv:
    """A uv that notes each call, then waits to be released."""

    def __init__(self, checkout: Checkout, uv: Path) -> None:
        self._calls = checkout.directory / "calls"
        self._go = checkout.directory / "go"
        checkout.script(
            "uv",
            f"""echo "$1 $$" >>"{self._calls}"
            until [ -e "{self._go}" ]; do sleep 0.02; done
            exec "{uv}" "$@\"""",
        )

    def calls(self) -> list[str]:
        """The first word of each call."""
        return [line.split()[0] for line in self._lines()]

    def pid_of_call(self, number: int) -> int:
        """The process of the first, second, … call, as soon as it runs."""
        wait_for(lambda: len(self._lines()) >= number, f"call {number} of uv")
        return int(self._lines()[number - 1].split()[1])

    def is_alive(self, number: int) -> bool:
        """Whether the process of a call is there still."""
        return Path(f"/proc/{self.pid_of_call(number)}").exists()

    def release(self) -> None:
        self._go.touch()

    def _lines(self) -> list[str]:
        return self._calls.read_text().splitlines() if self._calls.exists() else []


@pytest.fixture
def slow_uv(checkout: Checkout, uv: Path) -> Iterator[SlowUv]:
    slow = SlowUv(checkout, uv)
    yield slow
    slow.release()


@pytest.fixture(scope="session")
def uv() -> Path:
    """A real uv."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    assert found is not None, "no uv: run the tests with `make test`, whose set has one"
    return Path(found)


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """On a host that has nothing but the interpreter; in a path with awkward characters."""
    made = Checkout(tmp_path / "a check'out")
    yield made
    made.close()


@pytest.fixture
def checkout_with_uv(checkout: Checkout, uv: Path) -> Checkout:
    """On a host that has uv."""
    checkout.link("uv", uv)
    return checkout


@pytest.fixture
def bare_python(tmp_path: Path) -> Iterator[Path]:
    """An interpreter without pip and ensurepip, as Debian ships it."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = tmp_path / "bare" / "lib" / version
    library.mkdir(parents=True)
    for entry in Path(sysconfig.get_path("stdlib")).iterdir():
        if entry.name not in ("site-packages", "dist-packages", "ensurepip", "__pycache__"):
            (library / entry.name).symlink_to(entry)
    python = tmp_path / "bare" / "bin" / version
    python.parent.mkdir()
    shutil.copy2(PYTHON, python)
    yield python
    python.unlink()
