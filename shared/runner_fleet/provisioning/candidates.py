"""Where a fleet could be launched, in the order in which it is tried. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

SPOT, ON_DEMAND = "spot", "on-demand"


@dataclass(frozen=True)
class Candidate:
    """One place to ask for instances."""

    market: str  # SPOT or ON_DEMAND
    region: str
    instance_type: str
    subnet_id: str = ""  # empty: EC2 chooses one of the default VPC
    zone: str = ""  # of the subnet, where it is known
    usd_per_hour: float | None = None  # for one instance, where it is known

    def __str__(self) -> str:
        place = self.zone or self.region
        subnet = f" ({self.subnet_id})" if self.subnet_id else ""
        return f"{self.market} {self.instance_type} in {place}{subnet}"


def in_order(
    markets: Iterable[str],
    regions: Iterable[str],
    instance_types: Iterable[str],
    subnet_ids: Mapping[str, Iterable[str]],
) -> list[Candidate]:
    """All of them; the market changes last, the subnet first.

    `subnet_ids` are by region; a region without any gets the default VPC.
    """
    regions, instance_types = tuple(regions), tuple(instance_types)
    return [
        Candidate(market, region, instance_type, subnet_id)
        for market in markets
        for region in regions
        for instance_type in instance_types
        for subnet_id in subnet_ids.get(region) or ("",)
    ]


def placed(candidates: Iterable[Candidate], zones: Mapping[str, str]) -> list[Candidate]:
    """With the zone of each subnet, as far as `zones` knows it."""
    return [replace(each, zone=zones.get(each.subnet_id, "")) for each in candidates]


def not_offered(
    candidates: Iterable[Candidate], offers: Mapping[str, Collection[tuple[str, str]]]
) -> list[Candidate]:
    """Those whose zone does not have the instance type.

    `offers` are pairs of instance type and zone, by region; what is not known there is no reason.
    """
    return [
        each
        for each in candidates
        if each.zone
        and each.region in offers
        and (each.instance_type, each.zone) not in offers[each.region]
    ]


def cheapest_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """By price; equal ones stay in order, those whose price is not known come last."""
    unknown = float("inf")
    return sorted(
        candidates,
        key=lambda each: unknown if each.usd_per_hour is None else each.usd_per_hour,
    )
