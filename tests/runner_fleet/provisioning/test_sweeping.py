"""What a sweep takes for an orphan."""

from __future__ import annotations

import pytest
from runner_fleet.ec2_model import Instance
from runner_fleet.github import Runner
from runner_fleet.github_runs import WorkflowRun
from runner_fleet.provisioning.sweeping import (
    Known,
    RunKey,
    about_instance,
    about_runner,
    is_old,
    may_be_orphan,
    run_of,
)

REPOSITORY = "octo-org/gpu-tests"
ID = "i-0123456789abcdef0"
KEY = RunKey(REPOSITORY, "77")
ABSENT = "-"


def instance(state: str = "running", **tags: str) -> Instance:
    values = {
        "fleet-id": "77-2-start-ab12cd34",
        "run-repository": REPOSITORY,
        "run-id": "77",
        "run-attempt": "2",
    } | {key.replace("_", "-"): value for key, value in tags.items()}
    named = {f"runner-fleet:{key}": value for key, value in values.items() if value != ABSENT}
    return Instance(ID, state, "g4dn.xlarge", "us-east-1a", 0, launched_at=1000.0, tags=named)


def runner(name: str, *, online: bool = False, busy: bool = False) -> Runner:
    return Runner(1, name, online, busy, frozenset({name[:15]}))


@pytest.mark.parametrize(
    ("run", "orphan", "why"),
    [
        (WorkflowRun("completed", 2), True, "its run is completed"),
        (WorkflowRun("in_progress", 2), False, "it is in use"),
        (WorkflowRun("queued", 2), False, "it is in use"),
        (WorkflowRun("in_progress", 3), True, "its run is at attempt 3"),
        # An answer from before the re-run.
        (WorkflowRun("completed", 1), False, "it is in use"),
        (None, True, "its run is gone"),
    ],
)
def test_the_run_decides_about_an_instance(run: WorkflowRun | None, orphan: bool, why: str) -> None:
    opinion = about_instance(instance(), {KEY: run}, busy=False)
    assert (opinion.orphan, opinion.why) == (orphan, why)


@pytest.mark.parametrize(
    ("tags", "why"),
    [
        ({"run_id": "0"}, "it was started by hand"),
        ({"run_repository": ABSENT}, "it was started by hand"),
        ({"run_id": "78"}, "its run cannot be read"),
    ],
)
def test_an_instance_whose_run_is_not_known_is_left_and_said(
    tags: dict[str, str], why: str
) -> None:
    opinion = about_instance(instance(**tags), {KEY: None}, busy=False)
    assert (opinion.orphan, opinion.said, opinion.why) == (False, True, why)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fleet_id", ABSENT),
        ("fleet_id", ""),
        ("run_id", ABSENT),
        ("run_id", "main"),
        ("run_id", "77/../78"),
        ("run_id", "7\u0667"),
        ("run_repository", "octo-org"),
        ("run_repository", "octo-org/x/../y"),
        ("run_repository", "octo-org/x?y"),
        ("run_attempt", ABSENT),
        ("run_attempt", "x"),
        ("run_attempt", "²"),
    ],
)
def test_an_instance_that_has_not_all_our_tags_is_left_and_said(name: str, value: str) -> None:
    one = instance(**{name: value})
    for run in (None, WorkflowRun("completed", 2)):
        opinion = about_instance(one, {KEY: run, run_of(one): run}, busy=False)
        assert (opinion.orphan, opinion.said) == (False, True)
        assert opinion.why == "its tags are not those of start-runner"


@pytest.mark.parametrize("busy", [True, None])
def test_a_runner_that_may_have_a_job_keeps_its_instance(busy: bool | None) -> None:
    opinion = about_instance(instance(), {KEY: None}, busy=busy)
    assert (opinion.orphan, opinion.said) == (False, True)


@pytest.mark.parametrize(
    ("now", "launched_at", "old"),
    [(4600.0, 1000.0, True), (4599.0, 1000.0, False), (1e9, 0, False)],
)
def test_age_counts_from_the_launch(now: float, launched_at: float, old: bool) -> None:
    one = Instance(ID, "running", "", "", 0, launched_at=launched_at)
    assert is_old(one, now, 3600.0) == old


@pytest.mark.parametrize(
    ("name", "may"),
    [
        (f"runner-ab12cd34-{ID}", True),
        ("runner-ab12cd34-i-01234567", True),
        ("runner-ab12cd34-jit-77-2", True),
        (f"runner-ab12cd3-{ID}", False),
        (f"gpu-runner-ab12cd34-{ID}", False),
        (f"runner-ab12cd34-{ID}-2", False),
        ("runner-ab12cd34-jit-77", False),
        ("my-runner", False),
        ("runner-ab12cd34", False),
    ],
)
def test_only_names_of_ours_are_looked_at(name: str, may: bool) -> None:
    assert may_be_orphan(runner(name)) == may
    assert not may_be_orphan(runner(name, online=True))
    assert not may_be_orphan(runner(name, busy=True))


def known(*instances: Instance, complete: bool = True, exclusive: bool = True) -> Known:
    return Known({one.id: one for one in instances}, complete, exclusive)


@pytest.mark.parametrize(
    ("about", "orphan", "why"),
    [
        (known(), True, "its instance is gone"),
        (known(instance("terminated")), True, "its instance has ended"),
        (known(instance("terminated"), complete=False), True, "its instance has ended"),
        (known(instance("shutting-down")), True, "its instance has ended"),
        (known(instance()), False, "it is in use"),
        (known(instance("stopped")), False, "it is in use"),
        (known(complete=False), False, "a region that may have its instance cannot be read"),
        (
            known(exclusive=False),
            False,
            "its instance is unknown, and may be another repository's",
        ),
    ],
)
def test_the_instance_decides_about_a_registration(about: Known, orphan: bool, why: str) -> None:
    opinion = about_runner(runner(f"runner-ab12cd34-{ID}"), about, {}, (REPOSITORY,))
    assert (opinion.orphan, opinion.why) == (orphan, why)


@pytest.mark.parametrize(
    ("about", "run", "orphan"),
    [
        (known(), WorkflowRun("completed", 2), True),
        (known(), WorkflowRun("queued", 3), True),
        (known(), WorkflowRun("in_progress", 2), False),
        (known(), None, False),
        (known(complete=False), WorkflowRun("completed", 2), False),
        (known(instance(label="runner-ab12cd34")), WorkflowRun("completed", 2), False),
        (
            known(instance("terminated", label="runner-ab12cd34")),
            WorkflowRun("completed", 2),
            True,
        ),
    ],
)
def test_run_and_label_decide_about_a_just_in_time_registration(
    about: Known, run: WorkflowRun | None, orphan: bool
) -> None:
    one = runner("runner-ab12cd34-jit-77-2")
    assert about_runner(one, about, {KEY: run}, ("octo-org/other", REPOSITORY)).orphan == orphan
