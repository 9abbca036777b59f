"""stop-runner with sweep: orphans."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from runner_fleet.ec2 import Ec2
from runner_fleet.github import GitHub
from runner_fleet.provisioning.sweep import Sweeper
from runner_fleet.provisioning.swept import Swept
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, TOKEN, World

from tests.actions.harness import Actions, hanging
from tests.actions.leftovers import launch, over, token_for_runners_only, under_way
from tests.actions.test_start import live

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

Sweep = Callable[..., Swept]
HOURS = 2 * 3600.0


@pytest.fixture
def sweep(inside: World) -> Iterator[Sweep]:
    """A sweep in this process two hours later, without its pauses."""
    clients = []

    def sweep(*regions: str, token: str = TOKEN, **options: Any) -> Swept:
        github = GitHub(token, REPOSITORY, inside.github.url)
        clients.append(github)
        limit = options.get("region_timeout", 60.0)
        arguments: dict[str, Any] = {
            "repository": REPOSITORY,
            "run_repositories": (REPOSITORY,),
            "exclusive": True,
            "github": github,
            "ec2": {name: Ec2(name, "", limit) for name in regions or ("us-east-1",)},
            "min_age": 3600.0,
            "dry_run": False,
            "region_timeout": limit,
            "now": lambda: time.time() + HOURS,
            "sleep": lambda _seconds: None,
        }
        return Sweeper(**(arguments | options)).run()

    yield sweep
    for github in clients:
        github.close()


def rows(swept: Swept) -> list[tuple[str, str, str]]:
    return [(row.name, row.why, row.outcome) for row in swept.rows]


def test_only_instances_whose_run_is_over_or_gone_end(world: World, sweep: Sweep) -> None:
    orphan = launch(world, run_id=over(world))
    gone = launch(world, run_id="999")
    sibling = launch(world, run_id=under_way(world))
    by_hand = launch(world, run_id="0")
    other = launch(world, run_id="999", repository="octo-org/other")
    swept = sweep()
    assert swept.problems == []
    assert rows(swept) == [
        (by_hand, "it was started by hand", "left"),
        (orphan, "its run is completed", "terminated"),
        (gone, "its run is gone", "terminated"),
    ]
    assert live(world) == [sibling, by_hand, other]


def test_an_earlier_attempt_of_a_run_under_way_is_over(world: World, sweep: Sweep) -> None:
    run = world.github.add_run(REPOSITORY, status="completed", conclusion="failure")
    old = launch(world, run_id=str(run.id))
    launch(world, run_id=str(run.id), run_attempt="2")
    world.github.queue_job(REPOSITORY, run.id, "test", ["nobody"])
    world.faults.add(
        Fault(
            f"GET /repos/{REPOSITORY}/actions/runs/{run.id}$",
            status=200,
            body=json.dumps({"id": run.id, "status": "in_progress", "run_attempt": 2}),
        )
    )
    assert rows(sweep()) == [(old, "its run is at attempt 2", "terminated")]


def test_a_young_instance_is_left(world: World, sweep: Sweep) -> None:
    instance = launch(world, run_id=over(world))
    assert sweep(now=time.time).rows == []
    assert live(world) == [instance]


def test_each_run_is_read_once(world: World, sweep: Sweep) -> None:
    run_id = over(world)
    for _ in range(3):
        launch(world, run_id=run_id)
    world.calls.clear()
    sweep()
    assert live(world) == []
    assert world.calls.count(f"GET /repos/{REPOSITORY}/actions/runs/") == 1
    assert world.calls.count("TerminateInstances") == 1


def test_runners_of_orphans_go_with_them_and_busy_ones_protect_theirs(
    world: World, sweep: Sweep
) -> None:
    run_id = over(world)
    orphan, busy = launch(world, run_id=run_id), launch(world, run_id=run_id)
    world.github.add_runner(REPOSITORY, f"runner-ab12cd34-{orphan}", ["runner-ab12cd34"])
    world.github.add_runner(REPOSITORY, f"runner-ef12cd34-{busy}", ["gpu"], busy=True)
    swept = sweep()
    assert swept.problems == []
    assert rows(swept) == [
        (busy, "its run is completed, but its runner has a job", "left"),
        (orphan, "its run is completed", "terminated"),
        (f"runner-ab12cd34-{orphan}", "its instance is an orphan", "removed"),
    ]
    assert live(world) == [busy]
    assert [runner.name for runner in world.github.runners()] == [f"runner-ef12cd34-{busy}"]


def test_registrations_without_an_instance_go_and_those_of_others_stay(
    world: World, sweep: Sweep
) -> None:
    def add(name: str, status: str = "offline") -> str:
        return world.github.add_runner(REPOSITORY, name, [name[:15]], status=status).name

    ended, living = launch(world, run_id=over(world)), launch(world, run_id=under_way(world))
    other = launch(world, "eu-west-1", repository="octo-org/other", run_id="1")
    world.ec2.end(ended)
    orphans = [
        add(f"runner-aaaaaaaa-{ended}"),
        add("runner-bbbbbbbb-i-0123456789abcdef0"),
        add(f"runner-cccccccc-jit-{over(world)}-1"),
    ]
    add("runner-dddddddd-i-0123456789abcdef1", "online")
    add(f"runner-eeeeeeee-{living}")
    add(f"runner-ffffffff-jit-{under_way(world)}-1")
    add(f"runner-gggggggg-{other}")
    add("runner-0123456789-i-0123456789abcdef0")
    add("our-own-runner")
    launch(world, run_id=under_way(world), label="runner-hhhhhhhh")
    add(f"runner-hhhhhhhh-jit-{over(world)}-1")
    before = {runner.name for runner in world.github.runners()}
    told = sweep("us-east-1", "eu-west-1", dry_run=True)
    assert [row.name for row in told.rows if row.outcome == "would be removed"] == orphans
    assert {runner.name for runner in world.github.runners()} == before
    swept = sweep("us-east-1", "eu-west-1")
    assert [row.name for row in swept.rows if row.outcome == "removed"] == orphans
    assert {runner.name for runner in world.github.runners()} == before - set(orphans)


def test_a_registration_that_comes_online_meanwhile_stays(world: World, sweep: Sweep) -> None:
    name = "runner-bbbbbbbb-i-0123456789abcdef0"
    runner = world.github.add_runner(REPOSITORY, name, ["x"], status="offline")

    def sleep(_seconds: float) -> None:
        world.github.set_runner(runner.id, status="online")

    assert sweep(sleep=sleep).rows == []
    assert len(world.github.runners()) == 1


def test_a_region_that_hangs_keeps_no_other_waiting_and_proves_nothing(
    world: World, sweep: Sweep
) -> None:
    run_id = over(world)
    launch(world, run_id=run_id)
    there = launch(world, "eu-west-1", run_id=run_id)
    name = "runner-bbbbbbbb-i-0123456789abcdef0"
    world.github.add_runner(REPOSITORY, name, ["x"], status="offline")
    world.faults.add(Fault("DescribeInstances", region="eu-west-1", delay=600.0, times=None))
    with hanging("eu-west-1") as join:
        swept = sweep("eu-west-1", "us-east-1", region_timeout=60.0, join=join)
        world.faults.clear()
    assert swept.problems == ["eu-west-1: no answer within 60 seconds (region_timeout)"]
    assert live(world) == [there]
    assert (name, "a region that may have its instance cannot be read", "left") in rows(swept)
    assert len(world.github.runners()) == 1


@pytest.mark.parametrize("typo", ["us-esat-1", "USA"])
def test_a_region_that_is_misspelt_proves_nothing(
    actions: Actions, world: World, typo: str
) -> None:
    name = "runner-bbbbbbbb-i-0123456789abcdef0"
    world.github.add_runner(REPOSITORY, name, ["x"], status="offline")
    inputs = {"sweep": "orphans", "dry_run": "false", "aws_region_name": f"eu-west-1 {typo}"}
    result = actions.run("stop-runner", inputs)
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("aws_region_name: ")
    assert [runner.name for runner in world.github.runners()] == [name]


def test_runs_that_cannot_be_read_prove_nothing(world: World, sweep: Sweep) -> None:
    """GitHub answers 404 for a hidden repository, too."""
    hidden = launch(world, run_id="5", run_repository="octo-org/hidden")
    refused = launch(world, run_id=over(world))
    swept = sweep(token=token_for_runners_only(world))
    denied = "Resource not accessible by integration"
    assert [line.partition(":")[0] for line in swept.problems] == [
        f"GitHub answers 403 ({denied}) for the workflow runs of {REPOSITORY}",
        "GitHub answers 404 (Not Found) for the workflow runs of octo-org/hidden",
    ]
    assert rows(swept) == [
        (hidden, "its run cannot be read", "left"),
        (refused, "its run cannot be read", "left"),
    ]
    assert live(world) == [hidden, refused]


def test_a_runner_that_got_a_job_meanwhile_keeps_its_instance(world: World, sweep: Sweep) -> None:
    """Jobs of other runs may ask for labels of the user's own."""
    run_id = over(world)
    instance, orphan = launch(world, run_id=run_id), launch(world, run_id=run_id)
    runner = world.github.add_runner(REPOSITORY, f"runner-ab12cd34-{instance}", ["gpu"])

    def with_jobs(application: WSGIApplication) -> WSGIApplication:
        def answer(environ: Any, start_response: Any) -> Any:
            if environ["PATH_INFO"].endswith(f"/actions/runs/{run_id}"):
                world.github.set_runner(runner.id, busy=True)
            return application(environ, start_response)

        return answer

    world.intercept(with_jobs)
    swept = sweep()
    world.intercept(lambda application: application)
    assert rows(swept) == [
        (instance, "its run is completed, but its runner has a job", "left"),
        (orphan, "its run is completed", "terminated"),
    ]
    assert live(world) == [instance]


@pytest.mark.parametrize("skip", [0, 1], ids=["at first", "before the end"])
@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_nothing_ends_when_the_runners_cannot_be_listed(
    world: World, sweep: Sweep, skip: int, status: int
) -> None:
    instance = launch(world, run_id=over(world))
    path = f"GET /repos/{REPOSITORY}/actions/runners$"
    world.faults.add(Fault(path, status=status, skip=skip, times=None))
    swept = sweep()
    assert rows(swept) == [
        (instance, "its run is completed, but its runner may have a job", "left")
    ]
    assert len(swept.problems) >= 1
    assert live(world) == [instance]


def test_removals_that_are_refused_one_after_another_are_given_up(
    world: World, sweep: Sweep
) -> None:
    for number in range(20):
        name = f"runner-aaaaaaaa-i-{number:017x}"
        world.github.add_runner(REPOSITORY, name, ["x"], status="offline")
    path = f"DELETE /repos/{REPOSITORY}/actions/runners/"
    world.faults.add(Fault(path, status=403, times=None))
    swept = sweep()
    assert [row.outcome for row in swept.rows] == ["**NOT removed**"] * 20
    assert len(swept.problems) == 4
    assert swept.problems[-1].startswith("GitHub refuses one removal after another")
    assert world.calls.count(path) == 3


def test_a_sweep_tells_by_default_and_ends_when_told(actions: Actions, world: World) -> None:
    run_id = over(world)
    orphan, other = launch(world, run_id=run_id), launch(world, "eu-west-1", run_id=run_id)
    inputs = {
        "sweep": "orphans",
        "min_age_minutes": "0",
        "aws_region_name": "us-east-1 eu-west-1",
    }
    told = actions.run("stop-runner", inputs)
    assert told.status == 0, told.log
    assert live(world) == [orphan, other]
    assert "### Orphans, if this were not a dry run" in told.summary
    assert f"| instance | `{orphan}` | us-east-1 | 0 min |" in told.summary
    assert [item["outcome"] for item in json.loads(told.outputs["orphans"])] == [
        "would be terminated"
    ] * 2
    done = actions.run("stop-runner", inputs | {"dry_run": "false"})
    assert done.status == 0, done.log
    assert live(world) == []
    assert json.loads(done.outputs["orphans"])[0] == {
        "kind": "instance",
        "name": orphan,
        "region": "us-east-1",
        "run": f"{REPOSITORY} {run_id}-1",
        "why": "its run is completed",
        "outcome": "terminated",
    }


def test_a_registration_that_goes_with_its_instance_tells_the_run(
    world: World, sweep: Sweep
) -> None:
    """As a dry run foretells it, be the runner named after its instance or its label."""
    run_id = over(world)
    orphan = launch(world, run_id=run_id)
    other = launch(world, run_id=run_id, label="runner-bbbbbbbb")
    names = [f"runner-aaaaaaaa-{orphan}", f"runner-bbbbbbbb-jit-{run_id}-1"]
    for name in names:
        world.github.add_runner(REPOSITORY, name, [name[:15]], status="online")
    run = f"{REPOSITORY} {run_id}-1"
    expected = sorted((name, run) for name in (orphan, other, *names))
    assert sorted((row.name, row.run) for row in sweep(dry_run=True).rows) == expected
    assert sorted((row.name, row.run) for row in sweep().rows) == expected


def test_a_termination_that_is_refused_fails_the_sweep(world: World, sweep: Sweep) -> None:
    orphan = launch(world, run_id=over(world))
    world.faults.add(
        Fault("TerminateInstances", status=403, code="UnauthorizedOperation", times=None)
    )
    swept = sweep()
    assert rows(swept) == [(orphan, "its run is completed", "**NOT terminated**")]
    (line,) = swept.problems
    assert line.startswith("us-east-1: terminate: AWS refused TerminateInstances")
