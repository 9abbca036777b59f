"""Every process of a machine, found however it got away, and ended.

Also a program, for `Guard`: it ends what lives below a directory when its standard input ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path

MARKER = "RUNNER_FLEET_ROOT"
_POLL = 0.01  # seconds


def of(roots: Collection[Path], sessions: Collection[int]) -> set[int]:
    """The living processes of some machines.

    A process belongs to a machine when it is in the session its user data was started in, when
    its environment names the machine's root directory (or one below it), or when it works below
    that directory (user data may use `setsid`, or `env -i`). Linux only: elsewhere, the sessions'
    leaders.
    """
    if not Path("/proc/self/environ").exists():
        return {session for session in sessions if _exists(session)}
    markers = tuple(f"{MARKER}={root}/".encode() for root in roots)
    # The kernel knows where a process works by the real path.
    places = tuple(f"{root.resolve()}/" for root in roots)
    found = set()
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit() and _belongs(entry.path, markers, places, sessions):
                found.add(int(entry.name))
    return found - {os.getpid()}


def end(roots: Collection[Path], sessions: Collection[int], grace: float) -> None:
    """Ask the machines' processes to end, and kill those that are left after `grace` seconds."""
    deadline = time.monotonic() + grace
    asked: set[int] = set()
    while grace and (left := of(roots, sessions)) and time.monotonic() < deadline:
        for process in left - asked:
            _signal(process, signal.SIGTERM)
        asked |= left
        time.sleep(_POLL)
    while left := of(roots, sessions):
        for process in left:
            _signal(process, signal.SIGKILL)
        time.sleep(_POLL)


class Guard:
    """Ends all machines below a directory when this process ends, even by SIGKILL.

    It is a process that waits for the end of a pipe. (PR_SET_PDEATHSIG would end only the first
    process of each machine, and already when the thread that started it ends.)
    """

    def __init__(self, directory: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).resolve()), str(directory)],
            cwd="/",
            env={},
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def close(self) -> None:
        """Let it end what is left, and itself."""
        self._process.communicate()


def _guard(directory: Path) -> None:
    sys.stdin.read()
    end([directory], [], grace=0)


def _belongs(
    path: str, markers: tuple[bytes, ...], places: tuple[str, ...], sessions: Collection[int]
) -> bool:
    try:
        stat = Path(path, "stat").read_bytes()
        # "pid (name) state ppid pgrp session ..."; the name may hold spaces and brackets
        state, _, _, session = stat.rpartition(b")")[2].split()[:4]
        if state in (b"Z", b"X"):
            return False
        if int(session) in sessions:
            return True
        environment = Path(path, "environ").read_bytes().split(b"\0")
        if any((entry + b"/").startswith(markers) for entry in environment):
            return True
        return f"{Path(path, 'cwd').readlink()}/".startswith(places)
    except OSError:  # it ended meanwhile, or it is another user's
        return False


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(process, number)


if __name__ == "__main__":
    _guard(Path(sys.argv[1]))
