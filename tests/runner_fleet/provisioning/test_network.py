"""What a dry run concludes from subnets, groups, zones and routes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from runner_fleet.ec2_checks import RouteTable, Subnet
from runner_fleet.provisioning import network
from runner_fleet.provisioning.check import Check

EVERYWHERE = {"DestinationCidrBlock": "0.0.0.0/0"}
PRIVATE = Subnet("subnet-1", vpc="vpc-1", zone="us-east-1a", free=3, gives_public=False)
PUBLIC = replace(PRIVATE, id="subnet-2", zone="us-east-1b", gives_public=True)


def table(default: str, *subnets: str, vpc: str = "vpc-1") -> RouteTable:
    return RouteTable(vpc, frozenset(subnets), main=not subnets, default=default)


def test_a_subnet_needs_an_address_for_each_instance() -> None:
    found = {"subnet-1": PRIVATE}
    assert network.subnet("subnet-1", found, 3) == Check(
        "subnet subnet-1", "ok", "in us-east-1a, 3 free addresses"
    )
    assert network.subnet("subnet-1", found, 4) == Check(
        "subnet subnet-1",
        "problem",
        "aws_subnet_id: subnet-1 has 3 free addresses, and 4 instances need one each",
    )
    assert network.subnet("subnet-9", found, 1) == Check(
        "subnet subnet-9",
        "problem",
        "aws_subnet_id: there is no subnet subnet-9 in this region",
    )


def test_a_group_is_of_the_vpc_of_its_subnets() -> None:
    found = {"sg-1": "vpc-1"}
    assert network.group("sg-1", found, [PRIVATE, PUBLIC]).outcome == "ok"
    apart = network.group("sg-1", found, [PRIVATE, replace(PUBLIC, vpc="vpc-2")])
    assert (apart.outcome, apart.detail) == (
        "problem",
        "aws_security_group_id: sg-1 is of vpc-1, and subnet-2 is not",
    )
    missing = network.group("sg-2", found, [PRIVATE])
    assert (missing.outcome, missing.detail) == (
        "problem",
        "aws_security_group_id: there is no group sg-2 in this region",
    )


def test_one_zone_that_offers_the_type_is_enough() -> None:
    offered = {("g6.xlarge", "us-east-1b"), ("g6.xlarge", "us-east-1c"), ("t3.nano", "us-east-1a")}
    assert network.zone("g6.xlarge", [PUBLIC], offered).outcome == "ok"
    some = network.zone("g6.xlarge", [PRIVATE, PUBLIC], offered)
    assert (some.outcome, some.detail) == (
        "warning",
        "aws_subnet_id: us-east-1a does not offer g6.xlarge; us-east-1b, us-east-1c would",
    )
    assert network.zone("g6.xlarge", [PRIVATE], offered).outcome == "problem"
    assert network.zone("p5.48xlarge", [PRIVATE], offered).detail == (
        "aws_subnet_id: us-east-1a does not offer p5.48xlarge"
    )


@pytest.mark.parametrize(
    ("where", "tables", "public_ip", "outcome", "detail"),
    [
        (PUBLIC, [table("igw-1")], None, "ok", "through igw-1, with a public address"),
        (PRIVATE, [table("igw-1")], True, "ok", "through igw-1, with a public address"),
        (PRIVATE, [table("igw-1"), table("nat-1", "subnet-1")], None, "ok", "through nat-1"),
        (PRIVATE, [table("tgw-1")], False, "ok", "through tgw-1"),
        (
            PUBLIC,
            [table("igw-1")],
            False,
            "warning",
            (
                "subnet-2 leads to an internet gateway, which serves public addresses only, and "
                "gives none: set associate_public_ip to true"
            ),
        ),
        (PRIVATE, [table("igw-1")], None, "warning", "subnet-1 leads to an internet gateway"),
        (PRIVATE, [table("")], None, "warning", "subnet-1 has no default route: runners reach"),
        (PRIVATE, [table("nat-1", vpc="vpc-2")], None, "warning", "subnet-1 has no default route"),
    ],
)
def test_a_way_out_is_a_nat_or_a_public_address(
    where: Subnet, tables: list[RouteTable], public_ip: bool | None, outcome: str, detail: str
) -> None:
    check = network.way_out(where, tables, public_ip)
    assert (check.outcome, check.detail[: len(detail)]) == (outcome, detail)


@pytest.mark.parametrize(
    ("routes", "default"),
    [
        ([{"DestinationCidrBlock": "10.0.0.0/16", "GatewayId": "local"}], ""),
        ([{**EVERYWHERE, "GatewayId": "igw-1", "State": "active"}], "igw-1"),
        ([{**EVERYWHERE, "NatGatewayId": "nat-1", "State": "blackhole"}], ""),
        ([{**EVERYWHERE, "CoreNetworkArn": "arn:…"}], "another target"),
    ],
)
def test_only_a_default_route_that_works_is_one(routes: list[dict[str, str]], default: str) -> None:
    joined = [{"Main": True}, {"SubnetId": "subnet-1"}]
    parsed = RouteTable.parse({"VpcId": "vpc-1", "Associations": joined, "Routes": routes})
    assert parsed == RouteTable("vpc-1", frozenset({"subnet-1"}), main=True, default=default)
