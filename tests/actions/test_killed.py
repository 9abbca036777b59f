"""A sample of the kill campaign (tests/faults): what loses most when it fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sandbox.world import World

from tests.actions.harness import aws
from tests.faults.calls import name_of, pattern_of
from tests.faults.points import KINDS, SIGNALS, Point, points
from tests.faults.rows import ROWS
from tests.faults.strike import Campaign

SAMPLE = [
    "start SIGKILL before RunInstances 1",
    "start SIGKILL after RunInstances 1",
    "start SIGINT before RunInstances 1",
    "start SIGTERM after GET runners 1",
    "start dropped replies for good at RunInstances 1",
    "start-unheard SIGKILL after RunInstances 1",
    "failing-start SIGKILL before TerminateInstances 1",
    "stop SIGKILL after TerminateInstances 1",
    "stop SIGINT before DELETE runners/{id} 2",
    "stop not known yet at TerminateInstances 1",
    "stop-by-id stale list at DescribeInstances 1",
    "sweep SIGKILL before TerminateInstances 1",
    "sweep 404 at GET runs/{id} 2",
]
"""As `make test-faults ARGS=…` takes them, too."""


@pytest.mark.parametrize("name", SAMPLE)
def test_whatever_strikes_nothing_is_left_and_no_sibling_is_harmed(
    world: World, tmp_path: Path, name: str
) -> None:
    outcome = Campaign(world, aws(world, "ec2"), tmp_path).strike(Point.named(name))
    assert outcome.reached
    assert outcome.lost == [], "\n".join(outcome.logs)


def test_every_point_of_the_campaign_is_known_by_its_name() -> None:
    calls = ["GET runners", "DELETE runners/{id}", "RunInstances", "TerminateInstances"]
    made = [point for row in ROWS for point in points(row.name, calls)]
    assert [Point.named(str(point)) for point in made] == made
    assert {point.what for point in made} >= {*SIGNALS, *(kind.name for kind in KINDS)}


def test_what_is_left_or_harmed_is_noticed(world: World, tmp_path: Path) -> None:
    campaign = Campaign(world, aws(world, "ec2"), tmp_path)
    scene = campaign.scene()
    fleet = scene.fleet("octo-org/gpu-tests", scene.run_id, 1)
    ((instance, label),) = fleet.mapping.items()
    assert scene.left() == [f"instance {instance}", f"runner {label}-{instance}"]
    assert scene.harmed(run_is_over=False) == []
    for sibling in [scene.twin, *scene.strangers]:
        world.ec2.end(next(iter(sibling.mapping)))
    world.github.remove_runner(world.github.runners()[0].id)
    twin, one, other = (next(iter(each.mapping)) for each in [scene.twin, *scene.strangers])
    assert scene.harmed(run_is_over=False) == [
        *(f"{key} of a sibling" for key in (twin, one, other)),
        "build-server-1 of a sibling",
    ]
    assert scene.harmed(run_is_over=True) == [
        *(f"{key} of a sibling" for key in (one, other)),
        "build-server-1 of a sibling",
    ]


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("RunInstances", "RunInstances"),
        ("GET /repos/octo-org/gpu-tests/actions/runners", "GET runners"),
        ("DELETE /orgs/octo-org/actions/runners/17", "DELETE runners/{id}"),
        ("GET /repos/octo-org/gpu-tests/actions/runs/9/attempts/1/jobs",
         "GET runs/{id}/attempts/{id}/jobs"),
        ("GET /rate_limit", "GET /rate_limit"),
    ],
)  # fmt: skip
def test_a_call_has_a_short_name_that_matches_it(operation: str, name: str) -> None:
    assert name_of(operation) == name
    assert re.match(pattern_of(name), operation)
    assert not re.match(pattern_of(name), operation + "x")
