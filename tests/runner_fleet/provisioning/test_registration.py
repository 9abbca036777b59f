"""Registering many runners beforehand: as fast as GitHub allows, and nothing after a failure."""

from __future__ import annotations

import itertools
import time
from contextlib import closing
from pathlib import Path

import pytest
from runner_fleet.errors import GitHubError
from runner_fleet.github import DEFAULT_GROUP, GitHub
from runner_fleet.provisioning.identity import Caller, Fleet, fleet_mark
from runner_fleet.provisioning.registration import Pace, register_all
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, TOKEN, World

JIT = f"POST /repos/{REPOSITORY}/actions/runners/generate-jitconfig$"
CALLER = Caller(REPOSITORY, "1658821493", "2", "start")


def fleet(count: int) -> Fleet:
    numbers = itertools.count(10_000_000)
    return Fleet.create(CALLER, REPOSITORY, count, lambda: f"runner-{next(numbers)}")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_eighty_go_at_once_and_the_rest_a_minute_after_the_one_as_far_back() -> None:
    clock = Clock()
    pace = Pace(clock, clock.sleep)
    for _ in range(80):
        pace.wait()
    assert clock.slept == []
    clock.now += 10
    pace.wait()
    assert clock.slept == [50.0]
    for _ in range(79):
        pace.wait()
    assert clock.slept == [50.0]
    pace.wait()
    assert clock.slept == [50.0, 60.0]


def test_each_label_gets_a_registration_of_its_own(world: World) -> None:
    wanted = fleet(9)
    with closing(GitHub(TOKEN, REPOSITORY, world.github.url)) as github:
        configs = register_all(github, wanted, ("gpu",), DEFAULT_GROUP)
    assert list(configs) == list(wanted.labels)
    by_id = {runner.id: runner for runner in world.github.runners()}
    assert len(by_id) == 9
    for label, config in configs.items():
        runner = by_id[config.runner_id]
        assert runner.name == f"{label}-jit-1658821493-2"
        assert runner.label_names == [label, "runner-10000009", fleet_mark(wanted.id), "gpu"]
    assert len({config.encoded for config in configs.values()}) == 9


def test_after_a_failure_one_that_waits_for_a_limit_is_not_waited_for(tmp_path: Path) -> None:
    """In a world of its own: a minute later it still registers, when another test is at work."""
    limit = Fault(JIT, status=429, headers={"Retry-After": "60"})
    with World(tmp_path) as world, closing(GitHub(TOKEN, REPOSITORY, world.github.url)) as github:
        world.faults.add(limit)
        world.faults.add(Fault(JIT, status=403, message="Forbidden", skip=5, times=None))
        began = time.monotonic()
        with pytest.raises(GitHubError, match="403"):
            register_all(github, fleet(50), (), DEFAULT_GROUP)
        assert limit.times == 0
        assert time.monotonic() - began < 30


def test_after_a_failure_no_further_ones_are_begun(world: World) -> None:
    world.faults.add(Fault(JIT, status=403, message="Forbidden", skip=5, times=None))
    with closing(GitHub(TOKEN, REPOSITORY, world.github.url)) as github:
        with pytest.raises(GitHubError, match="403"):
            register_all(github, fleet(50), (), DEFAULT_GROUP)
        tried = world.calls.count(JIT.removesuffix("$"))
        assert len(world.github.runners()) == 5
        assert tried < 20
        # Nothing is under way any more.
        assert world.calls.count(JIT.removesuffix("$")) == tried


def test_a_name_is_never_longer_than_a_runners_may_be() -> None:
    caller = Caller(REPOSITORY, "9" * 20, "9" * 10, "j" * 64)
    (label,) = Fleet.create(caller, REPOSITORY, 1).labels
    assert len(Fleet.create(caller, REPOSITORY, 1).jit_name(label)) <= 64


def test_a_mark_looks_like_the_labels_that_stop_runner_takes_for_its_own() -> None:
    assert fleet_mark("77-1-start-aws-runner-x7k2m9qa") == "runner-x7k2m9qa"
