"""Run act under a clean environment and read what it says as it says it."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from sandbox.act import processes
from sandbox.act.events import Event, parse
from sandbox.act.rc import ROOT

STAND_INS = ROOT / "examples" / "sandbox" / "act" / "bin"


def act_binary() -> str:
    """act as installed with this Python's environment, else the one on PATH."""
    beside = Path(sys.executable).parent / "act"
    found = str(beside) if beside.exists() else shutil.which("act")
    if found is None:
        msg = f"act is neither beside {sys.executable} nor on PATH; `make demo` installs it"
        raise FileNotFoundError(msg)
    return found


def step_path() -> str:
    """PATH for the steps of a job: the stand-ins, then the host's without this environment.

    A job on a fresh machine finds the system's python3, not the one the sandbox runs on.
    """
    own = str(Path(sys.executable).parent)
    rest = [part for part in os.environ.get("PATH", os.defpath).split(os.pathsep) if part != own]
    return os.pathsep.join([str(STAND_INS), *rest])


def clean_environment(home: Path) -> dict[str, str]:
    """All that act's own process inherits: act hands its environment on to every step.

    Everything act and the steps write goes below `home`, and their processes are known by it.
    """
    places = {
        "HOME": home,
        "TMPDIR": home / "tmp",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
    }
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": step_path(),
        "LANG": "C.UTF-8",
        **{name: str(place) for name, place in places.items()},
    }


def write_env_file(path: Path, values: Mapping[str, str]) -> Path:
    """Write values as act's --env-file reads them: the environment of every step."""
    for name, value in values.items():
        if "'" in value or "\n" in value:
            msg = f"{name} cannot be written to an env file: {value!r}"
            raise ValueError(msg)
    text = "".join(f"{name}='{value}'\n" for name, value in sorted(values.items()))
    path.write_text(text, encoding="utf-8")
    return path


class Act:
    """One act process, in a session of its own, with every line it prints as an event.

    `arguments` come after those of the checkout's `.actrc` and override them. Leaving the context
    ends act and every process its steps started.
    """

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], root: Path = ROOT
    ) -> None:
        self._home = Path(environment["HOME"])
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [act_binary(), *arguments, "--json"],
            cwd=root,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def events(self, idle: float = 0.05) -> Iterator[Event | None]:
        """Every event until act has ended; None whenever it was silent for `idle` seconds."""
        while True:
            try:
                event = self._events.get(timeout=idle)
            except queue.Empty:
                yield None
                continue
            if event is None:
                return
            yield event

    def wait(self) -> int:
        """act's exit status, once `events` has come to its end."""
        return self._process.wait()

    def interrupt(self) -> None:
        """What Ctrl-C does: steps are killed, `always()` steps and posts still run."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """End act by force, unless it has ended, and whatever its steps left.

        Its `always()` steps do not run any more: whoever leaves takes the world away, too.
        """
        self._process.kill()
        self._process.wait()
        processes.end_living_in(self._home)
        self._reader.join(timeout=60)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Act:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._events.put(parse(line))
        self._events.put(None)
