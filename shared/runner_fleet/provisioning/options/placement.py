"""Where a fleet may be launched, and how many instances it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner_fleet.provisioning.candidates import ON_DEMAND, SPOT
from runner_fleet.provisioning.inputs import InputReader
from runner_fleet.provisioning.options.aws import of_region, regions

LARGEST_COUNT = 200
"""Instances of one start: as many as one filter of DescribeInstances may name (EC2 API reference,
Filter)."""

_TYPE = r"[a-z][a-z0-9-]*\.[a-z0-9-]+"
_TYPE_HINT = "an instance type like g4dn.xlarge"
_MARKETS = {
    ON_DEMAND: (ON_DEMAND,),
    SPOT: (SPOT,),
    "spot-then-on-demand": (SPOT, ON_DEMAND),
}


@dataclass(frozen=True)
class Placement:
    regions: tuple[str, ...]  # all lists: the preferred one first
    instance_types: tuple[str, ...]
    subnet_ids: Mapping[str, tuple[str, ...]]  # by region, "" for every one
    markets: tuple[str, ...]
    cheapest_first: bool
    count: int
    minimum: int  # instances, with which a start is content
    timeout: int  # seconds, for finding room; 0: every place is tried once
    prices: Mapping[str, float]  # USD an hour on demand, by instance type, as the user knows them

    def subnets_of(self, region: str) -> tuple[str, ...]:
        """In order; none: EC2 chooses one of the default VPC."""
        return of_region(self.subnet_ids, region) or ()

    @property
    def has_choice(self) -> bool:
        """Whether there is more than one place to try."""
        lists = (self.regions, self.instance_types, self.markets, *self.subnet_ids.values())
        return any(len(each) > 1 for each in lists)


def placement(read: InputReader, environ: Mapping[str, str]) -> Placement:
    count = read.integer("instance_count", 1, maximum=LARGEST_COUNT)
    most = LARGEST_COUNT if read.wrong("instance_count") else count
    return Placement(
        regions=regions(read, environ),
        instance_types=_instance_types(read),
        subnet_ids=read.by_region(
            "aws_subnet_id", r"subnet-[0-9a-f]{8,17}", "a subnet id (subnet-0123456789abcdef0)"
        ),
        markets=_MARKETS[read.one_of("market", *_MARKETS)],
        cheapest_first=read.one_of("placement_strategy", "in-order", "cheapest-first")
        == "cheapest-first",
        count=count,
        minimum=read.integer("min_count", count, maximum=most, absent="leave it out for all"),
        timeout=read.integer("capacity_timeout", 300, minimum=0),
        # Of other types, too: several workflows may share a table.
        prices=read.numbers("aws_prices", _TYPE, _TYPE_HINT),
    )


def _instance_types(read: InputReader) -> tuple[str, ...]:
    name = "aws_instance_type"
    types = read.words(name, _TYPE, _TYPE_HINT)
    if not (types or read.wrong(name) or read.text("aws_launch_template")):
        read.problem(name, "is required, for instance g4dn.xlarge")
    return types


def check_map(
    read: InputReader, name: str, values: Mapping[str, tuple[str, ...]], regions: tuple[str, ...]
) -> None:
    """Ids belong to one region each: with several regions each needs its own."""
    if "" in values:
        bound = any(value.startswith(("ami-", "subnet-", "sg-")) for value in values[""])
        if bound and len(regions) > 1:
            read.problem(
                name,
                "ids differ by region: for several regions give a JSON object like "
                f'{{"{regions[0]}": "…", "{regions[1]}": "…"}}',
            )
    elif values:
        for region in regions:
            if region not in values:
                read.problem(name, f"has no value for {region}, which aws_region_name lists")
