"""What the regions of a start have to offer, asked before anything is launched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Image
from runner_fleet.ec2_template import LaunchTemplate
from runner_fleet.errors import CloudError, InputError, gathered
from runner_fleet.provisioning import network
from runner_fleet.provisioning.candidates import (
    Candidate,
    cheapest_first,
    in_order,
    not_offered,
    placed,
)
from runner_fleet.provisioning.image import choose_images
from runner_fleet.provisioning.options.placement import Placement
from runner_fleet.provisioning.options.start import StartOptions
from runner_fleet.provisioning.prices import Prices, ask_prices, priced
from runner_fleet.provisioning.template import with_template


@dataclass(frozen=True)
class Survey:
    """One region: an image for each instance type it has (none with `problems`), zones, prices."""

    types: frozenset[str]  # of those that were asked for, the ones it has
    images: Mapping[str, Image]
    zones: Mapping[str, str]  # subnet to zone; empty when it was not asked, or may not be
    offers: frozenset[tuple[str, str]] | None  # instance type and zone; None: not known
    prices: Prices
    notes: tuple[str, ...]  # what could not be found out, and why
    problems: tuple[str, ...] = ()  # with image and subnets; the rest is known all the same
    template: LaunchTemplate | None = None


def survey(ec2: Ec2, options: StartOptions) -> Survey:
    """Ask a region. Raises `InputError` or `CloudError` for what makes a launch there hopeless."""
    ec2.check_region()
    ec2.check_credentials()
    options, template = with_template(ec2, options)
    placement, notes, problems = options.placement, list[str](), list[str]()
    if template and (ignored := template.overridden()):
        # Each template is said once: `to_try` tells notes apart by what is before the colon.
        notes.append(f"Launch template {template.id}, not taken over: {', '.join(ignored)}")
    known = ec2.architectures(placement.instance_types)
    supported = {name: known[name] for name in placement.instance_types if name in known}
    images: dict[str, Image] = {}
    with gathered(problems):
        images = choose_images(ec2, options.machine, supported)
    types, subnets = list(supported), placement.subnets_of(ec2.region)
    cheapest = placement.cheapest_first and placement.has_choice
    zones: dict[str, str] = {}
    offers: frozenset[tuple[str, str]] | None = None
    if types and (len(subnets) > 1 or (cheapest and subnets)):
        try:
            found = ec2.subnets(subnets)
            zones = {name: subnet.zone for name, subnet in found.items()}
            problems += (network.no_subnet(name) for name in subnets if name not in found)
            offers = frozenset(ec2.zones_offering(types))
        except CloudError as error:
            notes.append(f"Zones that lack an instance type are tried all the same: {error}")
    prices = ask_prices(ec2, placement, images, notes) if cheapest and images else Prices()
    return Survey(
        frozenset(types), images, zones, offers, prices, tuple(notes), tuple(problems), template
    )


def to_try(
    placement: Placement,
    surveys: Mapping[str, Survey],
    say: Callable[[str], None],
    skip: Callable[[str], None],
) -> list[Candidate]:
    """The candidates in the order of the strategy; none when a region has problems.

    `skip` gets a line for each place that cannot be. Raises `InputError` when there are none for
    another reason.
    """
    notes = [note for answer in surveys.values() for note in answer.notes]
    # What one region refuses the others usually refuse, too: each kind is said once.
    for note in {note.partition(":")[0]: note for note in reversed(notes)}.values():
        say(note)
    if not placement.instance_types:  # they are the launch template's
        types = dict.fromkeys(name for one in surveys.values() for name in one.types)
        placement = replace(placement, instance_types=tuple(types))
    _check_types(placement, surveys, skip)
    if any(one.problems for one in surveys.values()):
        return []
    zones = {subnet: zone for one in surveys.values() for subnet, zone in one.zones.items()}
    found = placed(
        (
            each
            for each in in_order(
                placement.markets,
                placement.regions,
                placement.instance_types,
                {region: placement.subnets_of(region) for region in placement.regions},
            )
            if each.instance_type in surveys[each.region].types
        ),
        zones,
    )
    offers = {name: one.offers for name, one in surveys.items() if one.offers is not None}
    skipped = not_offered(found, offers)
    for each in skipped:
        skip(f"Skipped: {each}: the zone does not offer the type")
    left = [each for each in found if each not in skipped]
    if not left:
        where = ", ".join(dict.fromkeys(f"{each.instance_type} in {each.zone}" for each in skipped))
        msg = f"aws_subnet_id: no zone of these subnets offers an instance type: {where}"
        raise InputError(msg)
    left = priced(left, placement.prices, {name: one.prices for name, one in surveys.items()})
    if not (placement.cheapest_first and placement.has_choice):
        return left
    unknown = [each for each in left if each.usd_per_hour is None]
    if unknown:
        say(f"Without a known price, and so tried last: {', '.join(map(str, unknown))}")
    return cheapest_first(left)


def _check_types(
    placement: Placement, surveys: Mapping[str, Survey], skip: Callable[[str], None]
) -> None:
    """Say which region lacks a type; raises `InputError` for those that all of them lack."""
    problems: list[str] = []
    for name in placement.instance_types:
        lacking = [region for region, found in surveys.items() if name not in found.types]
        if len(lacking) == len(surveys):
            problems.append(f"aws_instance_type: there is no {name} in {' or '.join(surveys)}")
        else:
            for region in lacking:
                skip(f"Skipped: {region} does not have {name}")
    if problems:
        raise InputError(*problems)
