"""`make demo`: the real actions, under the real act, in a world of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from sandbox.act.processes import living_in
from sandbox.act.rc import ROOT
from sandbox.actions_environment import CACHE

from tests.e2e.checkout import copy_checkout

PATIENCE = 300  # seconds, for a machine with much else to do


@dataclass(frozen=True)
class Done:
    """A demo that has ended; `place` is where its files were."""

    status: int
    output: str
    place: Path


def start(place: Path, scenario: str = "", root: Path = ROOT) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox.demo"],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": str(root / "examples"),
            "RUNNER_FLEET_CACHE": str(CACHE),
            "RUNNER_FLEET_SANDBOX_PLACE": str(place),
            "SCENARIO": scenario,
            "AWS_PROFILE": "of-whoever-runs-it",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str], place: Path) -> Done:
    output, _ = process.communicate(timeout=PATIENCE)
    return Done(process.returncode, output, place)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """Both scenarios, at the same time."""
    places = {name: tmp_path_factory.mktemp(name) for name in ("passing-test", "failing-test")}
    running = {name: start(place, name) for name, place in places.items()}
    return {name: finish(process, places[name]) for name, process in running.items()}


@pytest.fixture(scope="module")
def passing(both: dict[str, Done]) -> Done:
    return both["passing-test"]


@pytest.fixture(scope="module")
def failing(both: dict[str, Done]) -> Done:
    return both["failing-test"]


def row(done: Done, name: str) -> str:
    (line,) = [line for line in done.output.splitlines() if line.startswith(name)]
    return line.removeprefix(name).strip()


def test_the_demo_succeeds_and_says_that_every_job_did(passing: Done) -> None:
    assert passing.status == 0, passing.output
    assert passing.output.splitlines()[-1] == "every job ran and succeeded"


def test_nothing_is_left_in_the_world(passing: Done) -> None:
    assert "instances left: 0, registrations left: 0" in passing.output.splitlines()


def test_each_leg_ran_its_test_on_the_runner_of_its_own_instance(passing: Done) -> None:
    instances = re.findall(r"i-[0-9a-f]{17}", row(passing, "launched"))
    assert len(set(instances)) == len(instances) == 2
    assert row(passing, "test ran on").split() == instances
    assert len(set(row(passing, "  its runner").split())) == 2


def test_nothing_it_prints_is_wider_than_a_terminal(both: dict[str, Done]) -> None:
    lines = [line for done in both.values() for line in done.output.splitlines()]
    assert [line for line in lines if len(line) > 80] == []


def test_a_failing_test_is_the_exit_status(failing: Done) -> None:
    assert failing.status == 1, failing.output
    assert "still nothing is left" in failing.output.splitlines()[-1]


def test_a_failing_test_is_cleaned_up_after_all_the_same(failing: Done) -> None:
    assert row(failing, "test result").split() == ["failure", "failure"]
    assert "instances left: 0, registrations left: 0" in failing.output.splitlines()
    assert failing.output.count("stop-aws-runner: success") == 2


def test_neither_a_process_nor_a_file_is_left_behind(both: dict[str, Done]) -> None:
    for done in both.values():
        assert living_in(done.place) == []
        assert list(done.place.iterdir()) == []


def test_a_checkout_may_be_anywhere(tmp_path: Path) -> None:
    root, place = copy_checkout(tmp_path / "it's here & über"), tmp_path / "place"
    done = finish(start(place, root=root), place)
    assert done.status == 0, done.output
    assert list(place.iterdir()) == []


def test_a_scenario_nobody_knows_is_refused(tmp_path: Path) -> None:
    done = finish(start(tmp_path, "other"), tmp_path)
    assert done.status == 2
    assert done.output.startswith("SCENARIO=other is unknown; there are: passing-test, failing")


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("loopback", signal.SIGINT),
        (" boots", signal.SIGTERM),
        ("test: runs on", signal.SIGINT),
    ],
)
def test_an_interrupted_demo_leaves_nothing_behind(
    tmp_path: Path, moment: str, number: signal.Signals
) -> None:
    with start(tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if moment in line:
                break
        process.send_signal(number)
        done = finish(process, tmp_path)
    assert done.status == 128 + number, done.output
    assert f"{number.name}: taking everything down …" in done.output
    assert "no process and no file is left" in done.output
    assert living_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
