"""A table of prices that several workflows share: more types than are asked for, or others."""

from __future__ import annotations

import pytest
from sandbox.world import World

from tests.actions.harness import Actions
from tests.actions.test_start import INPUTS

TYPES = "g4dn.xlarge, g5.xlarge"
UNKNOWN = "::warning::aws_prices: has no price for g4dn.xlarge, g5.xlarge"


@pytest.mark.parametrize(
    ("prices", "warnings", "estimate"),
    [
        ('{"g4dn.xlarge": 0.5, "p5.48xlarge": 50, "t3.small": 0.02}', 0, "About $0.5 an hour"),
        ('{"p5.48xlarge": 50, "t3.small": 0.02}', 1, ""),
        ("{}", 0, ""),
    ],
)
def test_a_start_takes_prices_of_other_types_and_says_when_there_are_only_those(
    actions: Actions, world: World, prices: str, warnings: int, estimate: str
) -> None:
    result = actions.run(
        "start-runner", INPUTS | {"aws_instance_type": TYPES, "aws_prices": prices}
    )
    assert result.status == 0, result.log
    assert result.log.count("::warning::") == result.log.count(UNKNOWN) == warnings
    assert estimate in result.summary
    assert ("an hour for all" in result.summary) == bool(estimate)


def test_a_dry_run_says_so_too(actions: Actions, world: World) -> None:
    inputs = {"aws_instance_type": TYPES, "aws_prices": '{"t3.small": 0.02}', "dry_run": "true"}
    result = actions.run("start-runner", INPUTS | inputs)
    assert result.status == 0, result.log
    assert result.log.count(UNKNOWN) == 1
    assert r"| warning | aws\_prices | - | aws\_prices: has no price for" in result.summary
