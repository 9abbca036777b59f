"""Find and end the processes of one run, whoever started them, by a mark in their environment.

act starts each step in a process group of its own, and kills only the step's first process when it
is interrupted; what that process had started lives on. Every process of a run inherits its mark.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

MARK = "RUNNER_FLEET_SANDBOX_RUN"


def marked(value: str) -> list[int]:
    """The process ids, other than our own, whose environment has the mark with this value.

    Read from /proc: on a system without it the list is empty.
    """
    wanted = f"{MARK}={value}".encode()
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        pid = int(entry.parent.name)
        try:
            variables = entry.read_bytes().split(b"\0")
        except OSError:  # gone, or another user's
            continue
        if wanted in variables and pid != os.getpid():
            found.append(pid)
    return found


def end_marked(value: str, patience: float = 5.0) -> list[int]:
    """Kill every marked process and wait until none is left; returns those that had to be killed.

    Raises RuntimeError when one outlives `patience` seconds.
    """
    killed: list[int] = []
    deadline = time.monotonic() + patience
    while alive := marked(value):
        if time.monotonic() > deadline:
            msg = f"processes {alive} of the sandbox cannot be ended"
            raise RuntimeError(msg)
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.append(pid)
        time.sleep(0.02)
    return sorted(set(killed))
