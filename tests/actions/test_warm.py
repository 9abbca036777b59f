"""Actions of the tests, and workers of the campaign, end with whoever started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox.act.processes import living_in

from tests.actions.harness import ROOT, until
from tests.actions.warm import Interpreter


def test_what_still_runs_ends_with_the_interpreter(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import signal; print('up', flush=True); signal.pause()")
    interpreter = Interpreter()
    process = interpreter.start(program, {})
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "up\n"
        interpreter.close()
    assert process.wait(20) == -signal.SIGKILL
    assert not Path(f"/proc/{process.pid}").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_of_the_campaign_end_with_it_and_leave_no_file(
    tmp_path: Path, number: signal.Signals
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    paths = os.pathsep.join(str(ROOT / part) for part in ("shared", "examples", "."))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults", "--workers", "2", "--calls"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "TMPDIR": str(place)},
        stdout=subprocess.DEVNULL,
    ) as campaign:
        until(lambda: len(list(place.glob("*/*/*-*-runner/summary"))) >= 2, "both act")
        campaign.send_signal(number)
    until(lambda: living_in(tmp_path) == [], "the end of the workers")
    assert list(place.iterdir()) == []
