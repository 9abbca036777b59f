"""What candidates cost, as far as it can be found out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Image
from runner_fleet.errors import CloudError
from runner_fleet.provisioning.candidates import ON_DEMAND, SPOT, Candidate
from runner_fleet.provisioning.options.placement import Placement


@dataclass(frozen=True)
class Prices:
    """USD an hour for one instance in one region."""

    spot: Mapping[tuple[str, str], float] = field(default_factory=dict)  # by type and zone
    on_demand: Mapping[str, float] = field(default_factory=dict)  # by type


def ask_prices(
    ec2: Ec2, placement: Placement, images: Mapping[str, Image], notes: list[str]
) -> Prices:
    """One call for all spot prices, one for each on-demand price that the user did not give.

    `images` are by instance type. What cannot be found out is noted: a price is no reason to fail.
    """
    spot: dict[tuple[str, str], float] = {}
    on_demand: dict[str, float] = {}
    windows = any(image.windows for image in images.values())
    if SPOT in placement.markets:
        try:
            spot = ec2.spot_prices(list(images), windows=windows)
        except CloudError as error:
            notes.append(f"Spot prices are not known: {error}")
    missing = [name for name in images if name not in placement.prices]
    try:
        for name in missing if ON_DEMAND in placement.markets else ():
            price = ec2.on_demand_price(name, windows=windows)
            if price is not None:
                on_demand[name] = price
    except CloudError as error:
        notes.append(f"On-demand prices are not known, and not given in aws_prices: {error}")
    return Prices(spot, on_demand)


def unpriced(given: Mapping[str, float], candidates: Iterable[Candidate]) -> str:
    """What is to be said when the user gives prices, but none of what is tried; else empty."""
    types = list(dict.fromkeys(each.instance_type for each in candidates))
    if not given or not types or not given.keys().isdisjoint(types):
        return ""
    return f"aws_prices: has no price for {', '.join(types)}, and so no use here"


def priced(
    candidates: Iterable[Candidate], given: Mapping[str, float], found: Mapping[str, Prices]
) -> list[Candidate]:
    """The candidates with their prices. `given` (by type) beats what was `found` (by region)."""
    return [
        replace(each, usd_per_hour=_price(each, given, found[each.region])) for each in candidates
    ]


def _price(candidate: Candidate, given: Mapping[str, float], found: Prices) -> float | None:
    on_demand = given.get(candidate.instance_type, found.on_demand.get(candidate.instance_type))
    if candidate.market == ON_DEMAND:
        return on_demand
    spot = [
        price
        for (name, zone), price in found.spot.items()
        if name == candidate.instance_type and candidate.zone in ("", zone)
    ]
    # EC2 chooses the zone where none is named. And nobody pays more than the on-demand price
    # (EC2 user guide, Spot Instance pricing), so that one serves as the limit of an unknown one.
    return min(spot, default=on_demand)
