"""Have the actions' Python environment ready before act asks for it.

Under act nothing of the host's configuration is left (an index mirror, a proxy); here it still is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from sandbox.act.rc import ROOT
from sandbox.act.runner import step_path

# As the Makefile says; the same place when it is not make that runs this.
CACHE = Path(os.environ.get("RUNNER_FLEET_CACHE") or ROOT / ".cache" / "environments")


class BuildError(RuntimeError):
    """The environment could not be built; the message is the builder's."""


def prepare(requirements: str, check: Callable[[], None]) -> float:
    """Build the environment of a requirement set unless it is there; returns the seconds it took.

    It is built for the python3 that a step of a job finds. `check` is called while waiting; what
    it raises ends the builder, too.
    """
    began = time.monotonic()
    python = shutil.which("python3", path=step_path())
    if python is None:
        msg = "there is no python3 on PATH"
        raise BuildError(msg)
    command = [python, str(ROOT / "shared" / "launch"), "--set", requirements, "--print-env"]
    environment = {**os.environ, "PATH": step_path(), "RUNNER_FLEET_CACHE": str(CACHE)}
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        while True:
            try:
                said, _ = process.communicate(timeout=0.1)
                break
            except subprocess.TimeoutExpired:
                check()
    except BaseException:
        process.terminate()
        process.communicate()
        raise
    if process.returncode != 0:
        raise BuildError(said.strip())
    return time.monotonic() - began
