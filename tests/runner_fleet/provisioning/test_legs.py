"""Which instances of a run a job without a fleet_id may end."""

from __future__ import annotations

import pytest
from runner_fleet.github_runs import Job
from runner_fleet.provisioning.legs import Leg, Starter, Verdict
from runner_fleet.provisioning.legs import whose as whose_of

MATRIX = "Run Matrix Test (g4dn.xlarge)"
OTHER = "Run Matrix Test (g4dn.2xlarge)"
START, STOP = "start", "stop"
LABELS = {"i-1": "runner-ab12cd34"}


def done(name: str, runner: str) -> Job:
    return Job(name, "completed", runner)


def running(name: str, runner: str) -> Job:
    return Job(name, "in_progress", runner)


def whose(started_by: dict[str, str], jobs: list[Job], runner: str) -> Verdict:
    """With the keys that the jobs of most tests have."""
    starters = {key: Starter(name, START) for key, name in started_by.items()}
    return whose_of(starters, LABELS, jobs, Starter(runner, STOP))


@pytest.mark.parametrize(
    ("name", "leg"),
    [
        ("stop", ("", "")),
        ("stop (a)", ("", "a")),
        ("stop (a, 1)", ("", "a, 1")),
        ("stop (a (b))", ("", "a (b)")),
        ("Run Matrix Test (a) / stop", ("Run Matrix Test (a)", "")),
        ("outer (a) / inner / stop (x)", ("outer (a) / inner", "x")),
        ("stop (", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_name_tells_the_leg(name: str, leg: tuple[str, str]) -> None:
    assert Leg.of(name) == leg


def test_instances_of_the_own_leg_are_ours_and_those_of_the_sibling_are_not() -> None:
    jobs = [
        done(f"{MATRIX} / start", "GitHub Actions 1"),
        done(f"{OTHER} / start", "GitHub Actions 2"),
        running(f"{OTHER} / test", "runner-ab12cd34-i-2"),
        running(f"{MATRIX} / stop", "GitHub Actions 3"),
    ]
    started_by = {"i-1": "GitHub Actions 1", "i-2": "GitHub Actions 2", "i-3": "GitHub Actions 1"}
    verdict = whose(started_by, jobs, "GitHub Actions 3")
    assert verdict == Verdict(ours=("i-1", "i-3"), theirs=("i-2",))


def test_entries_of_a_plain_matrix_are_told_apart_by_their_values() -> None:
    jobs = [done("start (a)", "A"), done("start (b)", "B"), running("stop (a)", "S")]
    assert whose({"i-1": "A", "i-2": "B"}, jobs, "S") == Verdict(ours=("i-1",), theirs=("i-2",))


def test_without_a_matrix_all_that_the_start_job_left_is_ours() -> None:
    jobs = [done("start", "A"), done("test", "X"), running("stop", "S")]
    assert whose({"i-1": "A", "i-2": "A"}, jobs, "S") == Verdict(ours=("i-1", "i-2"))


def test_start_and_stop_may_be_one_job() -> None:
    assert whose({"i-1": "S"}, [running("all", "S")], "S") == Verdict(ours=("i-1",))


def test_a_self_hosted_runner_of_one_leg_is_no_doubt() -> None:
    jobs = [done("start (a)", "own"), running("stop (a)", "own"), done("start (b)", "B")]
    assert whose({"i-1": "own", "i-2": "B"}, jobs, "own").ours == ("i-1",)


DOUBTS = {
    "this job is not listed": ([done("start", "A"), running("stop", "other")], True),
    "this job is not listed as running": ([done("start", "A"), done("stop", "S")], True),
    "two jobs of this runner": ([running("start", "S"), running("stop", "S")], True),
    "nobody is known as the starter": ([done("test", "X"), running("stop", "S")], False),
    "the starter had jobs of two legs": (
        [done("start (a)", "A"), done("start (b)", "A"), running("stop (a)", "S")],
        False,
    ),
    "only the starter has a matrix": ([done("start (a)", "A"), running("stop", "S")], False),
    "a job of the leg may use them": (
        [done("start", "A"), Job("test", "queued", ""), running("stop", "S")],
        True,
    ),
    "the start is not over": ([running("start", "A"), running("stop", "S")], True),
    "two jobs have one name": (
        [done("start", "A"), done("test", "X"), done("test", "Y"), running("stop", "S")],
        False,
    ),
    "the entry is shortened": (
        [done("start (aaaaa...", "A"), running("stop (aaaaaa...", "S")],
        False,
    ),
    "the names are shortened": (
        [done("m (aaa...) / start", "A"), running("m (aaa...) / stop", "S")],
        False,
    ),
}


@pytest.mark.parametrize(("jobs", "passing"), DOUBTS.values(), ids=DOUBTS)
def test_on_doubt_nothing_is_ours(jobs: list[Job], passing: bool) -> None:
    verdict = whose({"i-1": "A"}, jobs, "S")
    assert (verdict.ours, verdict.theirs, verdict.doubtful) == ((), (), ("i-1",))
    assert verdict.why
    assert verdict.passing == passing


def test_two_starters_in_one_leg_are_a_doubt() -> None:
    jobs = [done("start-a", "A"), done("start-b", "B"), running("stop-a", "S")]
    assert whose({"i-1": "A", "i-2": "B"}, jobs, "S").doubtful == ("i-1", "i-2")


def test_a_job_that_does_not_know_its_runner_has_no_instances() -> None:
    assert whose({"i-1": ""}, [running("stop", "")], "").doubtful == ("i-1",)


def test_an_instance_that_does_not_tell_its_starter_is_a_doubt() -> None:
    jobs = [done("start", "A"), Job("skipped", "completed", ""), running("stop", "S")]
    assert whose({"i-1": "", "i-2": "A"}, jobs, "S") == Verdict(
        ours=("i-2",),
        doubtful=("i-1",),
        why="jobs of several matrix entries, or none, ran on the runner ''",
    )


def test_keys_are_compared_as_tags_hold_them() -> None:
    """Of a_b a tag has a-b."""
    jobs = [done("start_it (a)", "A"), running("stop_it (a)", "S"), running("start_it (b)", "B")]
    starters = {"i-1": Starter("A", "start-it"), "i-2": Starter("B", "start-it")}
    verdict = whose_of(starters, {}, jobs, Starter("S", "stop-it"))
    assert verdict == Verdict(ours=("i-1",), theirs=("i-2",))


OTHERS_USE = {
    "a test beside two starts of one entry has a name of its own": (
        [done("start (a)", "B"), done("start-2 (a)", "A"), running("Bench a", "X")],
        "stop (a)",
    ),
    "its name looks like another entry": (
        [done("start (a)", "B"), done("start-2 (a)", "A"), running("test (gpu)", "X")],
        "stop (a)",
    ),
    "all names tell nothing but the kind": (
        [done("Start a", "B"), done("Start b", "A"), running("Test (b)", "X")],
        "Stop a",
    ),
    "the start is named like an entry": (
        [done("start (gpu)", "A"), Job("Test b", "queued", ""), running("test (b)", "X")],
        "stop (gpu)",
    ),
    "its name looks like one of another call": (
        [done("a / start", "A"), running("b / test", "runner-ab12cd34-i-1")],
        "a / stop",
    ),
    "the same on a runner that was made just in time": (
        [done("a / start", "A"), running("b / test", "runner-ab12cd34-jit-77-1")],
        "a / stop",
    ),
}


@pytest.mark.parametrize(("jobs", "stop"), OTHERS_USE.values(), ids=OTHERS_USE)
def test_a_job_that_may_have_any_name_keeps_instances(jobs: list[Job], stop: str) -> None:
    """Who stops never launched; what lives was started by another job, and is used by a third."""
    verdict = whose({"i-1": "A"}, [*jobs, running(stop, "S")], "S")
    assert (verdict.ours, verdict.doubtful, verdict.passing) == ((), ("i-1",), True)


def test_jobs_with_names_of_their_own_are_one_leg_when_all_others_are_over() -> None:
    jobs = [done("Start it", "A"), done("Test (x)", "X"), running("Stop it", "S")]
    assert whose({"i-1": "A"}, jobs, "S").ours == ("i-1",)
