from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from sandbox.demo.session import run_directory

NO_PROCESS = 2**22 + 1
"""More than the number of any process (Linux, PID_MAX_LIMIT)."""


def sleeper(home: Path) -> subprocess.Popen[str]:
    """A process that would live for ten minutes, up and running."""
    script = "import time; print('up', flush=True); time.sleep(600)"
    process = subprocess.Popen(
        [sys.executable, "-c", script], env={"HOME": str(home)}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_a_runs_directory_and_the_processes_in_it_end_with_the_run(tmp_path: Path) -> None:
    with run_directory(tmp_path) as directory:
        process = sleeper(directory / "home")
    with process:
        assert process.wait(timeout=60) == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_has_left_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    dead = tmp_path / f"demo-{NO_PROCESS}-x"
    dead.mkdir()
    process = sleeper(dead / "home")
    with run_directory(tmp_path):
        assert not dead.exists()
    with process:
        assert process.wait(timeout=60) == -signal.SIGKILL


def test_another_run_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / f"demo-{os.getpid()}-x"
    other.mkdir()
    with run_directory(tmp_path):
        pass
    assert other.exists()
