"""What can be asked of AWS about a launch without launching. A part of `ec2.Ec2`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from runner_fleet.aws_failures import explained
from runner_fleet.ec2_clients import Clients
from runner_fleet.ec2_model import Launch


@dataclass(frozen=True)
class Subnet:
    """One subnet as DescribeSubnets shows it."""

    id: str
    vpc: str
    zone: str
    free: int  # addresses
    gives_public: bool  # whether instances get a public IPv4 address by default

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Subnet:
        return cls(
            id=data["SubnetId"],
            vpc=data["VpcId"],
            zone=data.get("AvailabilityZone", ""),
            free=data.get("AvailableIpAddressCount", 0),
            gives_public=data.get("MapPublicIpOnLaunch", False),
        )


@dataclass(frozen=True)
class RouteTable:
    """One route table: whose it is, and where its default route leads."""

    vpc: str
    subnets: frozenset[str]
    main: bool  # of all subnets of the VPC that have none of their own
    default: str  # the target's id as igw-…, nat-…; empty: no default route that works

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> RouteTable:
        joined = data.get("Associations", [])
        return cls(
            vpc=data["VpcId"],
            subnets=frozenset(item["SubnetId"] for item in joined if "SubnetId" in item),
            main=any(item.get("Main") for item in joined),
            default=next(
                (
                    _target(route)
                    for route in data.get("Routes", [])
                    if route.get("DestinationCidrBlock") == "0.0.0.0/0"
                    and route.get("State", "active") == "active"
                ),
                "",
            ),
        )


def _target(route: Mapping[str, Any]) -> str:
    names = ("GatewayId", "NatGatewayId", "TransitGatewayId", "NetworkInterfaceId", "InstanceId")
    known = (str(route[name]) for name in names if route.get(name))
    return next(known, "another target")


class Checks(Clients):
    """Questions that cost nothing and change nothing. Every method raises `CloudError`."""

    def dry_run(self, launch: Launch) -> None:
        """Return when EC2 would launch this; capacity and quotas are not looked at."""
        request = launch.request()
        request["DryRun"] = True
        with explained(f"launch of {launch.market} {launch.instance_type}"):
            try:
                self._hasty_client.run_instances(**request)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") != "DryRunOperation":
                    raise

    def subnets(self, ids: Collection[str]) -> dict[str, Subnet]:
        """Those that exist, by id."""
        return self._subnets({"Name": "subnet-id", "Values": list(ids)}) if ids else {}

    def default_subnets(self) -> dict[str, Subnet]:
        """The default VPC's, by id."""
        return self._subnets({"Name": "default-for-az", "Values": ["true"]})

    def _subnets(self, condition: Mapping[str, Any]) -> dict[str, Subnet]:
        with explained("subnets"):
            pages = self._client.get_paginator("describe_subnets").paginate(
                Filters=[condition]  # type: ignore[list-item]
            )
            found = [Subnet.parse(data) for page in pages for data in page["Subnets"]]
        return {subnet.id: subnet for subnet in found}

    def groups(self, ids: Collection[str]) -> dict[str, str]:
        """The VPC of each security group that exists."""
        if not ids:
            return {}
        with explained("security groups"):
            pages = self._client.get_paginator("describe_security_groups").paginate(
                Filters=[{"Name": "group-id", "Values": list(ids)}]
            )
            return {
                data["GroupId"]: data.get("VpcId", "")
                for page in pages
                for data in page["SecurityGroups"]
            }

    def route_tables(self, vpcs: Collection[str]) -> list[RouteTable]:
        if not vpcs:
            return []
        with explained("route tables"):
            pages = self._client.get_paginator("describe_route_tables").paginate(
                Filters=[{"Name": "vpc-id", "Values": list(vpcs)}]
            )
            return [RouteTable.parse(data) for page in pages for data in page["RouteTables"]]

    def roles_of_profile(self, profile: str) -> list[str]:
        """The role (one, or none) in an instance profile, given by name or ARN."""
        with explained(f"aws_iam_role {profile}"):
            client = self._session.client("iam", config=self._config)
            found = client.get_instance_profile(InstanceProfileName=profile.rpartition("/")[2])
            return [role["RoleName"] for role in found["InstanceProfile"]["Roles"]]
