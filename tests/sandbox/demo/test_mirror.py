from __future__ import annotations

from pathlib import Path

import pytest
from sandbox.demo.legs import Leg
from sandbox.demo.mirror import Mirror
from sandbox.github import Job, Run, Simulator

REPOSITORY = "octo-org/gpu-tests"
LEG = "Run Matrix Test-1/Reusable Matrix Test"
TEST = f"{LEG}/test"
RUNNER = "runner-ab12cd34-i-0123456789abcdef0"


@pytest.fixture
def github() -> Simulator:
    made = Simulator()
    made.add_repository(REPOSITORY)
    return made


@pytest.fixture
def run(github: Simulator) -> Run:
    return github.add_run(REPOSITORY, stays_open=True)


@pytest.fixture
def leg() -> Leg:
    made = Leg(LEG, "g4dn.xlarge", "g4dn.xlarge", labels=["runner-ab12cd34"])
    made.instances["i-0123456789abcdef0"] = "g4dn.xlarge, us-east-1a"
    return made


def mirror(github: Simulator, run: Run, answers: Path, *, test_fails: bool = False) -> Mirror:
    return Mirror(github, REPOSITORY, run.id, answers, test_fails=test_fails)


def only_job(github: Simulator) -> Job:
    (job,) = github.jobs(REPOSITORY)
    return job


def test_a_job_act_starts_waits_in_the_simulator_for_the_labels_of_its_leg(
    github: Simulator, run: Run, leg: Leg, tmp_path: Path
) -> None:
    mirror(github, run, tmp_path).job_started(TEST, leg)
    job = only_job(github)
    assert (job.name, job.labels, job.status) == (TEST, ("runner-ab12cd34",), "queued")


def test_the_step_gets_no_answer_before_a_runner_has_the_job(
    github: Simulator, run: Run, leg: Leg, tmp_path: Path
) -> None:
    made = mirror(github, run, tmp_path)
    made.job_started(TEST, leg)
    made.line(TEST, "waiting for the runner (1-23)")
    made.look()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("test_fails", "status"), [(False, "0"), (True, "1")])
def test_the_step_is_told_where_it_runs_and_how_to_end(
    github: Simulator, run: Run, leg: Leg, tmp_path: Path, test_fails: bool, status: str
) -> None:
    made = mirror(github, run, tmp_path, test_fails=test_fails)
    made.job_started(TEST, leg)
    made.line(TEST, "waiting for the runner (1-23)")
    github.add_runner(REPOSITORY, RUNNER, ["runner-ab12cd34"], ephemeral=True)
    github.acquire_job(only_job(github).id)
    made.look()
    (file,) = tmp_path.iterdir()
    first, *rest = file.read_text().splitlines()
    assert (file.name, first) == ("1-23", status)
    assert rest[0] == f"runner    {RUNNER}"
    assert rest[1] == "instance  i-0123456789abcdef0 (g4dn.xlarge)"
    assert max(map(len, rest[2:6])) == min(map(len, rest[2:6]))


@pytest.mark.parametrize(("result", "conclusion"), [("success", "success"), ("failure", "failure")])
def test_the_twin_ends_as_acts_job_does(
    github: Simulator, run: Run, leg: Leg, tmp_path: Path, result: str, conclusion: str
) -> None:
    made = mirror(github, run, tmp_path)
    made.job_started(TEST, leg)
    made.job_ended(TEST, result)
    assert only_job(github).conclusion == conclusion


def test_a_job_without_a_twin_ends_nothing(github: Simulator, run: Run, tmp_path: Path) -> None:
    mirror(github, run, tmp_path).job_ended(f"{LEG}/stop-aws-runner", "success")
    assert github.jobs(REPOSITORY) == []
