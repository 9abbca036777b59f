"""Find and end the processes of one run, whoever started them, by what their environment names.

act starts each step in a process group of its own, and kills only the step's first process when it
is interrupted; what that process had started lives on. But every process of a run has its HOME, and
more, below the run's directory.
"""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path


def living_in(directory: Path) -> list[int]:
    """The processes, other than our own, with an environment variable that is a path below it.

    It counts which directory is meant, not by which links. Read from /proc: on a system without it
    the list is empty.
    """
    real = directory.resolve()
    name = b"/%b/" % os.fsencode(real.name)
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        pid = int(entry.parent.name)
        try:
            environment = entry.read_bytes()
        except OSError:  # gone, or another user's
            continue
        if name in environment and pid != os.getpid() and _names(environment, name, real):
            found.append(pid)
    return found


def _names(environment: bytes, name: bytes, real: Path) -> bool:
    """Whether a variable is a path below the directory `real`, whose name `name` is."""
    values = {entry.partition(b"=")[2] for entry in environment.split(b"\0")}
    above = {
        value[: match.start() + len(name) - 1]
        for value in values
        if value.startswith(b"/")
        for match in re.finditer(b"(?=%b)" % re.escape(name), value)
    }
    return any(Path(os.fsdecode(path)).resolve() == real for path in above)


def end_living_in(directory: Path, patience: float = 60.0) -> list[int]:
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
