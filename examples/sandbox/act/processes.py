"""Find and end the processes of one run, whoever started them, by what their environment names.

act starts each step in a process group of its own, and kills only the step's first process when it
is interrupted; what that process had started lives on. But every process of a run has its HOME, and
more, below the run's directory.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def living_in(directory: Path) -> list[int]:
    """The processes, other than our own, with an environment variable that is a path below it.

    Read from /proc: on a system without it the list is empty.
    """
    wanted = f"={directory}/".encode()
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        pid = int(entry.parent.name)
        try:
            environment = entry.read_bytes()
        except OSError:  # gone, or another user's
            continue
        if wanted in environment and pid != os.getpid():
            found.append(pid)
    return found


def end_living_in(directory: Path, patience: float = 5.0) -> list[int]:
    """Kill every such process and wait until none is left; returns those that had to be killed.

    Raises RuntimeError when one outlives `patience` seconds.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + patience
    while alive := living_in(directory):
        if time.monotonic() > deadline:
            msg = f"processes {alive} of the sandbox cannot be ended"
            raise RuntimeError(msg)
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.add(pid)
        time.sleep(0.02)
    return sorted(killed)
