"""A start that launches nothing: everything that can be known beforehand, asked and listed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_checks import Subnet
from runner_fleet.ec2_model import Launch
from runner_fleet.errors import FleetError
from runner_fleet.provisioning import network
from runner_fleet.provisioning.check import NOT_CHECKED, OK, PROBLEM, WARNING, Check, tried
from runner_fleet.provisioning.context import StartContext
from runner_fleet.provisioning.identity import FLEET_TAG, Fleet
from runner_fleet.provisioning.once import TRIAL, once
from runner_fleet.provisioning.options.aws import of_region
from runner_fleet.provisioning.prepare import Plan, Preparation
from runner_fleet.provisioning.problems import UnpreparedError
from runner_fleet.provisioning.user_data import size_of

T = TypeVar("T")

_AT_ONCE = 8  # calls to one region; EC2 allows bursts of dozens


@dataclass(frozen=True)
class Wanted:
    """What would be launched in a region, as far as it is known."""

    instance_types: tuple[str, ...]
    subnet_ids: tuple[str, ...]  # empty: one of the default VPC
    group_ids: tuple[str, ...]
    profile: str
    public_ip: bool | None
    addresses: int  # that a subnet must have
    launches: tuple[Launch, ...]  # empty: their preparation failed


@dataclass(frozen=True)
class Preflight:
    """One dry run."""

    context: StartContext

    def run(self) -> list[Check]:
        """All checks. Raises nothing but for bugs: what is wrong is a `Check`, too."""
        plan, checks, stale = None, list[Check](), list[str]()
        try:
            plan = Preparation(self.context, caution=stale.append).plan()
        except UnpreparedError as error:
            checks += (Check(one.what, PROBLEM, one.line, one.region) for one in error.found)
        checks += (Check(line.partition(":")[0], WARNING, line) for line in stale)
        launches = self._launches(plan) if plan else {}
        if plan:
            checks += self._prepared(plan)
        clouds, fleet = self.context.clouds, self.context.fleet
        with ThreadPoolExecutor(len(clouds)) as pool:
            found = {
                region: pool.submit(
                    RegionCheck(ec2, fleet, self._wanted(region, launches.get(region, ()))).run
                )
                for region, ec2 in clouds.items()
            }
        for region, asked in found.items():
            checks += (check.of(region) for check in asked.result())
        return once(checks)

    def _launches(self, plan: Plan) -> dict[str, tuple[Launch, ...]]:
        """What a start would try, by region."""
        placement = self.context.options.placement
        found: dict[str, list[Launch]] = {}
        for number, candidate in enumerate(plan.candidates):
            launch = plan.launch(
                candidate,
                count=placement.count,
                minimum=placement.minimum,
                user_data=plan.script(),
                tags={},
                client_token=self.context.fleet.client_token(f"dry run {number}"),
            )
            found.setdefault(candidate.region, []).append(launch)
        return {region: tuple(each) for region, each in found.items()}

    def _prepared(self, plan: Plan) -> Iterator[Check]:
        yield tried(f"GitHub, {self.context.options.github.place}", self._may_register)
        for (region, kind), image in plan.images.items():
            named = f"{image.id} ({image.name}) for {image.architecture}"
            yield Check(f"image for {kind}", OK, named, region)
        yield Check("user data", OK, size_of(plan.script()))

    def _may_register(self) -> str:
        if self.context.options.registration.jit:  # the preparation has not asked yet
            self.context.log.mask(self.context.github.registration_token())
        return "the token may register runners"

    def _wanted(self, region: str, launches: tuple[Launch, ...]) -> Wanted:
        options = self.context.options
        placement, machine = options.placement, options.machine
        template = launches[0].template if launches else None
        groups = of_region(machine.security_group_ids, region) or ()
        subnets = placement.subnets_of(region)
        if template:
            groups = groups or template.security_group_ids
            subnets = subnets or tuple(filter(None, (template.subnet_id,)))
        types = (*placement.instance_types, *(launch.instance_type for launch in launches))
        return Wanted(
            instance_types=tuple(dict.fromkeys(types)),
            subnet_ids=subnets,
            group_ids=groups,
            profile=machine.instance_profile or (template.instance_profile if template else ""),
            public_ip=machine.public_ip,
            addresses=placement.minimum,
            launches=launches,
        )


@dataclass(frozen=True)
class RegionCheck:
    """The checks of one region; its questions are asked at once."""

    ec2: Ec2
    fleet: Fleet
    wanted: Wanted

    def run(self) -> list[Check]:
        try:
            self.ec2.check_region()
            self.ec2.check_credentials()
            self.ec2.connect()
        except FleetError:  # the preparation has said so
            return []
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(self._ask(pool))

    def _ask(self, pool: ThreadPoolExecutor) -> Iterator[Check]:
        wanted, ec2 = self.wanted, self.ec2
        tries = [pool.submit(self._dry_run, launch) for launch in wanted.launches]
        finding = pool.submit(tried, "ec2:DescribeInstances", self._find)
        profile = pool.submit(self._profile) if wanted.profile else None
        groups = pool.submit(ec2.groups, wanted.group_ids)
        offers = pool.submit(ec2.zones_offering, wanted.instance_types)
        listing = (
            pool.submit(ec2.subnets, wanted.subnet_ids)
            if wanted.subnet_ids
            else pool.submit(ec2.default_subnets)
        )
        subnets, failure = _answer(listing, "subnets", "ec2:DescribeSubnets")
        yield from failure
        for found in subnets:
            yield from self._in_subnets(pool, found, groups, offers)
        if profile:
            yield profile.result()
        for attempt in tries:
            yield attempt.result()
        if not tries:
            text = "the launch could not be prepared"
            yield Check(TRIAL, NOT_CHECKED, text)
        yield finding.result()
        yield Check("ec2:TerminateInstances", NOT_CHECKED, "it takes an instance to try it on")

    def _in_subnets(
        self,
        pool: ThreadPoolExecutor,
        found: dict[str, Subnet],
        groups: Future[dict[str, str]],
        offers: Future[set[tuple[str, str]]],
    ) -> Iterator[Check]:
        wanted = self.wanted
        tables = pool.submit(self.ec2.route_tables, {each.vpc for each in found.values()})
        if wanted.subnet_ids:
            yield from (network.subnet(name, found, wanted.addresses) for name in wanted.subnet_ids)
        elif not found:
            text = "the account has no default VPC in this region: set aws_subnet_id"
            yield Check("default VPC", PROBLEM, text)
        vpcs, failure = _answer(groups, "security groups", "ec2:DescribeSecurityGroups")
        yield from failure
        for known in vpcs:
            yield from (network.group(name, known, found.values()) for name in wanted.group_ids)
        pairs, failure = _answer(offers, "zones", "ec2:DescribeInstanceTypeOfferings")
        yield from failure
        for offered in pairs if found else ():
            there = {name for name, _ in offered}
            # Of a type that the region lacks the preparation has said so.
            for kind in (name for name in wanted.instance_types if name in there):
                # Of the default VPC's, EC2 takes one that has the type.
                fit = [each for each in found.values() if (kind, each.zone) in offered]
                chosen = bool(wanted.subnet_ids) or not fit
                yield network.zone(kind, found.values() if chosen else fit, offered)
        routes, failure = _answer(tables, "way out", "ec2:DescribeRouteTables")
        yield from failure
        for each in routes:
            if wanted.subnet_ids:
                yield from (network.way_out(one, each, wanted.public_ip) for one in found.values())
            else:
                yield from network.way_out_of_default(found.values(), each, wanted.public_ip)

    def _dry_run(self, launch: Launch) -> Check:
        def ask() -> str:
            self.ec2.dry_run(launch)
            return "EC2 would launch it, capacity and quotas aside"

        place = f" in {launch.subnet_id}" if launch.subnet_id else ""
        kind = f"{launch.market} {launch.instance_type}"
        return tried(f"{TRIAL}, {kind}{place}", ask)

    def _find(self) -> str:
        self.ec2.instances_of(FLEET_TAG, self.fleet.id)
        return "permitted"

    def _profile(self) -> Check:
        profile = self.wanted.profile

        def ask() -> str:
            roles = self.ec2.roles_of_profile(profile)
            return f"with the role {roles[0]}" if roles else ""

        check = tried(f"instance profile {profile}", ask, "iam:GetInstanceProfile")
        if check.outcome == OK and not check.detail:
            return Check(check.what, PROBLEM, f"aws_iam_role: {profile} holds no role")
        return check


def _answer(asked: Future[T], what: str, permission: str) -> tuple[list[T], list[Check]]:
    """The one answer, or the one check that says why there is none."""
    found: list[T] = []

    def ask() -> str:
        found.append(asked.result())
        return ""

    check = tried(what, ask, permission)
    return found, [] if found else [check]
