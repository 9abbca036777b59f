"""Whether instances would have the network they need: decided from what EC2 shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runner_fleet.ec2_checks import RouteTable, Subnet
from runner_fleet.provisioning.check import OK, PROBLEM, WARNING, Check


def subnet(name: str, found: Mapping[str, Subnet], needed: int) -> Check:
    """That a subnet exists, and has an address for each instance."""
    what = f"subnet {name}"
    known = found.get(name)
    if known is None:
        return Check(what, PROBLEM, no_subnet(name))
    if known.free < needed:
        return Check(
            what,
            PROBLEM,
            f"aws_subnet_id: {name} has {known.free} free addresses, and {needed} instances need "
            "one each",
        )
    return Check(what, OK, f"in {known.zone}, {known.free} free addresses")


def no_subnet(name: str) -> str:
    return f"aws_subnet_id: there is no subnet {name} in this region"


def group(name: str, found: Mapping[str, str], subnets: Iterable[Subnet]) -> Check:
    """That a security group exists, in the VPC of each subnet."""
    what = f"security group {name}"
    if name not in found:
        text = f"aws_security_group_id: there is no group {name} in this region"
        return Check(what, PROBLEM, text)
    apart = sorted(each.id for each in subnets if each.vpc != found[name])
    if apart:
        return Check(
            what,
            PROBLEM,
            f"aws_security_group_id: {name} is of {found[name]}, and {', '.join(apart)} is not",
        )
    return Check(what, OK, f"in {found[name]}")


def zone(instance_type: str, where: Iterable[Subnet], offered: Iterable[tuple[str, str]]) -> Check:
    """That a type is offered in the zone of a subnet: of one at least, where there are several."""
    what = f"zones of {instance_type}"
    pairs = set(offered)
    zones = sorted({each.zone for each in where})
    lacking = [name for name in zones if (instance_type, name) not in pairs]
    others = sorted(name for kind, name in pairs if kind == instance_type)
    if not lacking:
        return Check(what, OK, f"offered in {', '.join(zones)}")
    text = f"aws_subnet_id: {', '.join(lacking)} does not offer {instance_type}"
    hint = f"; {', '.join(others)} would" if others else ""
    return Check(what, WARNING if len(lacking) < len(zones) else PROBLEM, text + hint)


def way_out(where: Subnet, tables: Iterable[RouteTable], public_ip: bool | None) -> Check:
    """That instances in a subnet get to the internet, as far as routes tell.

    A route to an internet gateway serves only instances with a public address (VPC user guide,
    "Internet gateways"). A subnet without a table of its own has the VPC's main one.
    """
    what = f"way out of {where.id}"
    of_vpc = [table for table in tables if table.vpc == where.vpc]
    own = [table for table in of_vpc if where.id in table.subnets]
    table = next(iter(own or [table for table in of_vpc if table.main]), None)
    target = table.default if table else ""
    if not target:
        return Check(
            what,
            WARNING,
            f"{where.id} has no default route: runners reach GitHub only through a proxy",
        )
    if not target.startswith("igw-"):
        return Check(what, OK, f"through {target}")
    if public_ip or (public_ip is None and where.gives_public):
        return Check(what, OK, f"through {target}, with a public address")
    return Check(
        what,
        WARNING,
        f"{where.id} leads to an internet gateway, which serves public addresses only, and gives "
        "none: set associate_public_ip to true",
    )


def way_out_of_default(
    subnets: Iterable[Subnet], tables: Iterable[RouteTable], public_ip: bool | None
) -> list[Check]:
    """The same of the default VPC, where EC2 chooses: once, unless the subnets differ."""
    found, known = list(subnets), list(tables)
    each = [way_out(subnet, known, public_ip) for subnet in found]
    alike = {
        (check.outcome, check.detail.replace(subnet.id, "each of its subnets"))
        for check, subnet in zip(each, found, strict=True)
    }
    if len(alike) > 1:
        return each
    return [Check("default VPC: way out", outcome, detail) for outcome, detail in alike]
