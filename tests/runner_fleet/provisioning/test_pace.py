"""When a wait looks again: how many looks a start needs, and how late it notices."""

from __future__ import annotations

import pytest
from runner_fleet.ec2_model import Instance
from runner_fleet.github import Budget, Runner
from runner_fleet.provisioning import pace
from runner_fleet.provisioning.progress import Progress, phases

NOW = 1_750_000_000.0


def instance(number: int, state: str = "running") -> Instance:
    return Instance(f"i-{number}", state, "m7i.large", "us-east-1a", number)


def runner(number: int, *, online: bool = True, name: str = "any") -> Runner:
    return Runner(number, name, online, False, frozenset({f"runner-{number}"}))


def progress(count: int, **reached: float) -> Progress:
    """`running_0=9.5`: the first instance was seen running after 9.5 s."""
    names = {"running": "booting", "registered": "registered", "online": "online"}
    labels = {f"i-{number}": f"runner-{number}" for number in range(count)}
    made = Progress({key: instance(number) for number, key in enumerate(labels)}, labels)
    for name, seconds in reached.items():
        phase, _, number = name.partition("_")
        made.advance({f"i-{number}": names[phase]}, seconds)
    return made


@pytest.mark.parametrize(
    ("elapsed", "reached", "seconds"),
    [
        (0.1, {}, 0.5),
        (20.0, {"running_0": 9.0}, 5.0),
        (300.0, {"running_0": 9.0}, 10.0),
        (61.0, {"registered_0": 60.0}, 0.5),
        (64.0, {"registered_0": 60.0}, 2.0),
        (64.0, {"registered_0": 60.0, "online_0": 63.0}, 2.0),
        (64.2, {"registered_0": 60.0, "registered_1": 64.0}, 0.3),
        (74.0, {"registered_0": 60.0, "online_1": 64.0}, 2.5),
        (200.0, {"registered_0": 60.0, "online_1": 64.0}, 3.0),
    ],
)
def test_pauses_grow_with_the_time_since_the_last_milestone(
    elapsed: float, reached: dict[str, float], seconds: float
) -> None:
    assert pace.pause(progress(2, **reached), elapsed) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("reached", "seconds"),
    [
        ({}, None),
        ({"running_0": 0.02}, 0.52),
        ({"running_0": 9.0, "running_1": 12.0}, 18.0),
        ({"running_0": 45.0}, 65.0),
    ],
)
def test_an_instance_boots_at_least_as_long_as_it_took_to_start(
    reached: dict[str, float], seconds: float | None
) -> None:
    assert pace.boots_until(progress(2, **reached)) == (
        None if seconds is None else pytest.approx(seconds)
    )


@pytest.mark.parametrize(
    ("budget", "pages", "left", "seconds"),
    [
        (None, 10, 1200.0, 0.0),
        (Budget(5000, 5000, NOW + 3600), 1, 1200.0, 1200 / 4500),
        (Budget(5000, 5000, NOW + 3600), 10, 1200.0, 12000 / 4500),
        (Budget(5000, 620, NOW + 3600), 1, 1200.0, 10.0),
        (Budget(5000, 620, NOW + 60), 1, 1200.0, 0.5),
        (Budget(5000, 400, NOW + 3600), 1, 1200.0, 60.0),
        (Budget(5000, 400, NOW + 20), 1, 1200.0, 20.0),
        (Budget(5000, 5, NOW + 700), 10, 1200.0, 700.0),
        (Budget(100, 60, NOW + 3600), 1, 100.0, 10.0),
        (Budget(5000, 0, NOW - 5), 1, 1200.0, 0.0),
    ],
)
def test_listings_leave_calls_to_others(
    budget: Budget | None, pages: int, left: float, seconds: float
) -> None:
    assert pace.shortest_listing_pause(budget, pages, left, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(("runners", "pages"), [(0, 1), (100, 1), (101, 2), (1000, 10)])
def test_a_listing_costs_its_pages(runners: int, pages: int) -> None:
    assert pace.pages(runners) == pages


def test_a_runner_is_of_the_instance_whose_label_it_carries() -> None:
    instances = {f"i-{number}": instance(number) for number in range(3)}
    instances["i-3"] = instance(3, "pending")
    labels = {f"i-{number}": f"Runner-{number}" for number in range(4)}
    runners = [
        runner(0),
        runner(1, online=False),
        runner(2, online=False, name="runner-2-jit-77-1"),
        runner(9),
    ]
    assert phases(instances, labels, runners) == {
        "i-0": "online",
        "i-1": "registered",
        "i-2": "booting",  # its just-in-time registration is older than the instance
        "i-3": "launched",
    }


def test_what_is_awaited_is_one_line() -> None:
    made = progress(3, running_0=9.0, registered_1=60.0, online_2=61.0)
    assert made.awaited(91.04) == (
        "  91.0 s  Still waiting for 2 of 3: 1 booting (boot script and registration under way), "
        "1 registered (its runner is not connected yet)"
    )
