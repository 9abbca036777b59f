from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_calls_of_a_start_and_a_stop_are_counted_for_each_number_of_runners() -> None:
    paths = os.pathsep.join(str(ROOT / part) for part in ("shared", "examples", "."))
    done = subprocess.run(
        [sys.executable, "tests/bench/calls.py", "--ours", "1", "2"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[5:]]
    assert [row[:2] for row in rows] == [
        ["1", "start"],
        ["1", "stop"],
        ["2", "start"],
        ["2", "stop"],
    ]
