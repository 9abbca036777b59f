"""What is left to try of what was listed, after the regions have answered."""

from __future__ import annotations

import pytest
from runner_fleet.ec2_model import Image
from runner_fleet.errors import InputError
from runner_fleet.provisioning.offers import Survey, to_try
from runner_fleet.provisioning.options.placement import Placement
from runner_fleet.provisioning.prices import Prices

IMAGE = Image("ami-11111111", "x", "x86_64", "/dev/sda1", ("/dev/sda1",), 8, "2026", False)
T4, A10 = "g4dn.xlarge", "g5.xlarge"
PLACEMENT = Placement(
    regions=("us-east-1", "us-west-2"),
    instance_types=(T4, A10),
    subnet_ids={"us-east-1": ("subnet-a", "subnet-b")},
    markets=("on-demand",),
    cheapest_first=False,
    count=1,
    minimum=1,
    timeout=0,
    prices={},
)


def survey(
    *types: str,
    zones: dict[str, str] | None = None,
    offers: set[tuple[str, str]] | None = None,
    notes: tuple[str, ...] = (),
) -> Survey:
    known = None if offers is None else frozenset(offers)
    images = dict.fromkeys(types, IMAGE)
    return Survey(frozenset(types), images, zones or {}, known, Prices(), notes)


def left(east: Survey, west: Survey) -> tuple[list[str], list[str]]:
    """The candidates, and what was said."""
    said: list[str] = []
    found = to_try(PLACEMENT, {"us-east-1": east, "us-west-2": west}, said.append, said.append)
    return [str(each) for each in found], said


def test_a_region_without_a_type_is_tried_with_the_others_and_that_is_said() -> None:
    found, said = left(survey(A10), survey(T4, A10))
    assert found == [
        "on-demand g5.xlarge in us-east-1 (subnet-a)",
        "on-demand g5.xlarge in us-east-1 (subnet-b)",
        "on-demand g4dn.xlarge in us-west-2",
        "on-demand g5.xlarge in us-west-2",
    ]
    assert said == ["Skipped: us-east-1 does not have g4dn.xlarge"]


def test_a_type_that_no_region_has_is_a_mistake() -> None:
    with pytest.raises(InputError) as caught:
        left(survey(A10), survey(A10))
    assert caught.value.lines == (
        "aws_instance_type: there is no g4dn.xlarge in us-east-1 or us-west-2",
    )


def test_a_zone_without_the_type_is_left_out_and_that_is_said() -> None:
    zones = {"subnet-a": "us-east-1a", "subnet-b": "us-east-1e"}
    offers = {(T4, "us-east-1a"), (A10, "us-east-1a"), (A10, "us-east-1e")}
    found, said = left(survey(T4, A10, zones=zones, offers=offers), survey(T4, A10))
    assert found[:3] == [
        "on-demand g4dn.xlarge in us-east-1a (subnet-a)",
        "on-demand g5.xlarge in us-east-1a (subnet-a)",
        "on-demand g5.xlarge in us-east-1e (subnet-b)",
    ]
    assert said == [
        "Skipped: on-demand g4dn.xlarge in us-east-1e (subnet-b): the zone does not offer the type"
    ]


def test_no_zone_with_any_type_is_a_mistake() -> None:
    zones = {"subnet-a": "us-east-1a", "subnet-b": "us-east-1e"}
    east = survey(T4, A10, zones=zones, offers=set())
    one = Placement(**{**vars(PLACEMENT), "regions": ("us-east-1",)})
    with pytest.raises(InputError, match="no zone of these subnets offers an instance type: g4dn"):
        to_try(one, {"us-east-1": east}, print, print)


def test_what_both_regions_refuse_is_said_once() -> None:
    notes = ("Spot prices are not known: denied in …",)
    _, said = left(survey(T4, A10, notes=notes), survey(T4, A10, notes=notes))
    assert said == list(notes)
