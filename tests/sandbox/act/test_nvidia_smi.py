from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from sandbox.act.runner import STAND_INS

COMMAND = [str(STAND_INS / "nvidia-smi")]


def start(answers: Path, patience: int = 600) -> subprocess.Popen[str]:
    return subprocess.Popen(
        COMMAND,
        env={
            "PATH": os.defpath,
            "RUNNER_FLEET_SANDBOX_ANSWERS": str(answers),
            "RUNNER_FLEET_SANDBOX_PATIENCE": str(patience),
        },
        stdout=subprocess.PIPE,
        text=True,
    )


def asked(process: subprocess.Popen[str]) -> str:
    """The word under which it waits for its answer."""
    assert process.stdout is not None
    match = re.fullmatch(r"waiting for the runner \(([0-9-]+)\)\n", process.stdout.readline())
    assert match is not None
    return match[1]


def test_it_says_what_it_is_told_and_ends_as_it_is_told(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        (tmp_path / "draft").write_text("3\nrunner  r-1\n\ntwo\n")
        (tmp_path / "draft").rename(tmp_path / asked(process))
        output, _ = process.communicate(timeout=60)
    assert output == "runner  r-1\n\ntwo\n"
    assert process.returncode == 3


def test_two_at_once_ask_under_different_words(tmp_path: Path) -> None:
    with start(tmp_path) as one, start(tmp_path) as other:
        words = {asked(one), asked(other)}
        one.kill()
        other.kill()
    assert len(words) == 2


def test_it_fails_when_no_answer_comes_in_time(tmp_path: Path) -> None:
    with start(tmp_path, patience=0) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "::error::The job was never dispatched" in output


def test_without_a_demo_it_succeeds_and_says_what_it_stands_for() -> None:
    done = subprocess.run(
        COMMAND, env={"PATH": os.defpath}, capture_output=True, text=True, check=True
    )
    assert "in place of the instance" in done.stdout
