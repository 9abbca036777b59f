"""stop-runner without a mapping and without a fleet_id: what this run left, and no sibling's."""

from __future__ import annotations

import json
import signal

import pytest
from runner_fleet.ec2 import Ec2
from runner_fleet.github import GitHub
from runner_fleet.provisioning.options.stop import stop_options
from runner_fleet.provisioning.own import Own, OwnSearch
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, TOKEN, World

from tests.actions.harness import Actions
from tests.actions.leftovers import launch, token_for_runners_only, workflow_run
from tests.actions.test_start import INPUTS, live
from tests.faults.gate import Gate

CALL, OTHER_CALL = "Run Matrix Test (g4dn.xlarge)", "Run Matrix Test (g4dn.2xlarge)"
STOP = "GitHub Actions 3"
OWN = {"RUNNER_NAME": STOP, "GITHUB_JOB": "stop-aws-runner"}
JOBS = [
    (f"{CALL} / start-aws-runner", "GitHub Actions 1", "completed"),
    (f"{OTHER_CALL} / start-aws-runner", "GitHub Actions 2", "completed"),
    (f"{OTHER_CALL} / test", "runner-sibling0-i-01234567", "in_progress"),
    (f"{CALL} / stop-aws-runner", STOP, "in_progress"),
]


def search(world: World, run_id: str, monkeypatch: pytest.MonkeyPatch, token: str = TOKEN) -> Own:
    """A search in this process, without its pauses."""
    environ = world.environment() | OWN | {"GITHUB_RUN_ID": run_id, "GH_PAT": token}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    github = GitHub(token, REPOSITORY, world.github.url)
    options = stop_options({}, environ)
    own = OwnSearch(
        options, github, {"us-east-1": Ec2("us-east-1")}, sleep=lambda _seconds: None
    ).find()
    github.close()
    return own


def test_a_killed_start_without_outputs_is_cleaned_up_and_its_sibling_lives(
    actions: Actions, world: World, gate: Gate
) -> None:
    run_id = workflow_run(world, *JOBS)
    env = {"GITHUB_RUN_ID": run_id, "RUNNER_NAME": "GitHub Actions 1"}
    gate.close_at("RunInstances", 0, "after")
    running = actions.begin("start-runner", INPUTS | {"instance_count": "2"}, env)
    assert gate.signal(running, signal.SIGKILL)
    running.result()
    sibling = launch(world, run_id=run_id, started_by="GitHub Actions 2")
    other_attempt = launch(world, run_id=run_id, run_attempt="2", started_by="GitHub Actions 1")
    world.github.add_runner(REPOSITORY, f"runner-sibling0-{sibling}", ["runner-sibling0"])
    assert len(live(world)) == 4
    result = actions.run("stop-runner", {}, OWN | {"GITHUB_RUN_ID": run_id})
    assert result.status == 0, result.log
    assert "2 instances terminated" in result.log
    assert f"{sibling}: of another job of this run; left alone" in result.log
    assert live(world) == [sibling, other_attempt]
    assert [runner.name for runner in world.github.runners()] == [f"runner-sibling0-{sibling}"]


def test_an_instance_that_cannot_be_attributed_is_left_with_one_warning(
    actions: Actions, world: World
) -> None:
    instance = launch(world, run_id="77", started_by="GitHub Actions 1")
    result = actions.run("stop-runner", {}, OWN)
    assert result.status == 0, result.log
    (warning,) = [line for line in result.log.splitlines() if line.startswith("::warning")]
    assert f"{instance}: of this run, but maybe not of this job; left alone" in warning
    assert "GitHub answers 404 (Not Found) for the workflow runs of octo-org/gpu-tests" in warning
    assert "Pass start-runner's output fleet_id" in warning
    assert "::notice::Nothing was stopped; 1 instance left alone" in result.log
    assert "Nothing to stop" not in result.log
    assert f"| `{instance}` | instance | left alone: maybe of another job |" in result.summary
    assert live(world) == [instance]


def test_without_a_region_there_is_a_notice_and_no_call(actions: Actions, world: World) -> None:
    result = actions.run("stop-runner", {"instance_mapping": "{}"}, {"AWS_REGION": ""})
    assert result.status == 0
    assert "::notice::Nothing to stop" in result.log
    assert world.calls.all() == []


def test_ec2_that_cannot_be_asked_is_a_failure(actions: Actions, world: World) -> None:
    fault = Fault("DescribeInstances$", status=403, code="UnauthorizedOperation", times=None)
    world.faults.add(fault)
    result = actions.run("stop-runner", {}, OWN)
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("us-east-1: instances: AWS refused DescribeInstances")


def test_without_a_token_nothing_is_wrong_as_long_as_there_is_nothing(
    actions: Actions, world: World
) -> None:
    result = actions.run("stop-runner", {}, OWN | {"GH_PAT": ""})
    assert result.status == 0, result.log
    assert "::notice::Nothing to stop" in result.log


@pytest.mark.parametrize("living", [0, 1])
def test_a_region_that_cannot_be_is_a_failure_whatever_the_others_have(
    actions: Actions, world: World, living: int
) -> None:
    for _ in range(living):
        launch(world, run_id="77", started_by="GitHub Actions 1")
    result = actions.run("stop-runner", {"aws_region_name": "us-east-9,us-east-1"}, OWN)
    assert result.status == 1, result.log
    (line,) = result.errors
    assert line.startswith("aws_region_name: there is no region 'us-east-9'; did you mean us-east-")
    assert len(live(world)) == living


def test_a_token_that_may_not_read_runs_leaves_doubt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = workflow_run(world, *JOBS)
    instance = launch(world, run_id=run_id, started_by="GitHub Actions 1")
    own = search(world, run_id, monkeypatch, token_for_runners_only(world))
    assert own.doubtful == (instance,)
    assert "'Actions: read'" in own.why


def test_a_list_of_jobs_that_lags_is_looked_at_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three looks two must come to the same; the first shows this job as it was queued."""
    run_id = workflow_run(world, *JOBS)
    instance = launch(world, run_id=run_id, started_by="GitHub Actions 1")
    path = f"GET /repos/{REPOSITORY}/actions/runs/{run_id}/attempts/1/jobs$"
    world.faults.add(Fault(path, status=200, body='{"total_count": 0, "jobs": []}'))
    own = search(world, run_id, monkeypatch)
    assert list(own.ours["us-east-1"]) == [instance]
    assert world.calls.count(path[:-1]) == 3


def test_a_job_that_appears_at_the_second_look_is_a_doubt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start of another pair of jobs was just over, and its test not queued yet."""
    run_id = workflow_run(world, *JOBS, (f"{CALL} / test", "", "queued"))
    instance = launch(world, run_id=run_id, started_by="GitHub Actions 1")
    path = f"/repos/{REPOSITORY}/actions/runs/{run_id}/attempts/1/jobs"
    github = GitHub(TOKEN, REPOSITORY, world.github.url)
    jobs = github.get(path)
    github.close()
    before = {"total_count": 4, "jobs": jobs["jobs"][:4]}
    world.faults.add(Fault(f"GET {path}$", status=200, body=json.dumps(before)))
    own = search(world, run_id, monkeypatch)
    assert (own.ours, own.doubtful) == ({}, (instance,))
    assert own.why == f"the job '{CALL} / test' is not over and may use them"


def test_instances_of_other_runs_and_repositories_are_not_even_seen(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = workflow_run(world, *JOBS)
    launch(world, run_id="1", started_by="GitHub Actions 1")
    launch(world, run_id=run_id, run_repository="octo-org/x", started_by="GitHub Actions 1")
    assert search(world, run_id, monkeypatch) == Own()
