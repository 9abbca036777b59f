"""Where a fleet could be launched, and in which order."""

from __future__ import annotations

from dataclasses import replace

from runner_fleet.provisioning.candidates import (
    Candidate,
    cheapest_first,
    in_order,
    not_offered,
    placed,
)
from runner_fleet.provisioning.prices import Prices, priced

A = Candidate("on-demand", "us-east-1", "g4dn.xlarge", "subnet-a", "us-east-1a")
B = replace(A, subnet_id="subnet-b", zone="us-east-1b")


def test_the_market_changes_last_then_region_then_type_and_the_subnet_first() -> None:
    found = in_order(
        ("spot", "on-demand"),
        ("us-east-1", "us-west-2"),
        ("g4dn.xlarge", "g5.xlarge"),
        {"us-east-1": ("subnet-a", "subnet-b")},
    )
    first = [
        Candidate("spot", "us-east-1", "g4dn.xlarge", "subnet-a"),
        Candidate("spot", "us-east-1", "g4dn.xlarge", "subnet-b"),
        Candidate("spot", "us-east-1", "g5.xlarge", "subnet-a"),
        Candidate("spot", "us-east-1", "g5.xlarge", "subnet-b"),
        Candidate("spot", "us-west-2", "g4dn.xlarge"),
        Candidate("spot", "us-west-2", "g5.xlarge"),
    ]
    assert found == first + [replace(each, market="on-demand") for each in first]


def test_a_candidate_tells_where_it_is() -> None:
    assert str(A) == "on-demand g4dn.xlarge in us-east-1a (subnet-a)"
    assert str(replace(A, market="spot", subnet_id="", zone="")) == "spot g4dn.xlarge in us-east-1"


def test_a_zone_without_the_type_is_not_offered() -> None:
    offers = {"us-east-1": {("g4dn.xlarge", "us-east-1a"), ("g5.xlarge", "us-east-1b")}}
    assert not_offered([A, B], offers) == [B]


def test_what_is_not_known_is_no_reason_to_leave_a_place_out() -> None:
    assert not_offered([A, B], {}) == []
    nowhere = placed([A, B], {"subnet-a": "us-east-1a"})
    assert [each.zone for each in nowhere] == ["us-east-1a", ""]
    assert not_offered(nowhere[1:], {"us-east-1": set()}) == []


def test_the_cheapest_comes_first_and_what_has_no_price_last_in_order() -> None:
    prices = [None, 0.5, 0.2, None, 0.5]
    given = [replace(A, subnet_id=str(n), usd_per_hour=usd) for n, usd in enumerate(prices)]
    assert [each.subnet_id for each in cheapest_first(given)] == ["2", "1", "4", "0", "3"]


def test_a_spot_price_is_that_of_the_zone_or_the_lowest_of_the_region() -> None:
    spot = {("g4dn.xlarge", "us-east-1a"): 0.3, ("g4dn.xlarge", "us-east-1b"): 0.2}
    prices = {"us-east-1": Prices(spot, {"g4dn.xlarge": 0.5})}
    here, anywhere = replace(A, market="spot"), replace(A, market="spot", zone="", subnet_id="")
    assert [each.usd_per_hour for each in priced([here, anywhere, A], {}, prices)] == [
        0.3,
        0.2,
        0.5,
    ]


def test_an_unknown_spot_price_is_at_most_the_one_on_demand() -> None:
    (found,) = priced([replace(A, market="spot")], {"g4dn.xlarge": 0.5}, {"us-east-1": Prices()})
    assert found.usd_per_hour == 0.5


def test_a_price_that_the_user_gives_beats_the_list() -> None:
    listed = {"us-east-1": Prices({}, {"g4dn.xlarge": 0.5})}
    assert priced([A], {"g4dn.xlarge": 0.4}, listed)[0].usd_per_hour == 0.4
    assert priced([A], {"g5.xlarge": 0.4}, {"us-east-1": Prices()})[0].usd_per_hour is None
