"""What EC2 offers in a region: instance types, zones, prices. A part of `ec2.Ec2`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

from runner_fleet.aws_failures import explained
from runner_fleet.ec2_clients import Clients

PRICE_LIST_REGION = "us-east-1"
"""Where the Price List API is (AWS Billing user guide, "Price List Query API endpoints")."""


class Offers(Clients):
    """Questions that cost nothing. Every method raises `CloudError`."""

    def architectures(self, types: Collection[str]) -> dict[str, tuple[str, ...]]:
        """By instance type the architectures it runs, e.g. ("x86_64",).

        A type that the region does not have is absent.
        """
        # A filter, not InstanceTypes: one unknown type there would fail the whole call.
        condition = {"Name": "instance-type", "Values": list(types)}
        with explained(f"aws_instance_type {', '.join(types)}"):
            pages = self._client.get_paginator("describe_instance_types").paginate(
                Filters=[condition]  # type: ignore[list-item]
            )
            return {
                str(data["InstanceType"]): tuple(
                    map(str, data.get("ProcessorInfo", {}).get("SupportedArchitectures", ()))
                )
                for page in pages
                for data in page["InstanceTypes"]
            }

    def zones_offering(self, types: Collection[str]) -> set[tuple[str, str]]:
        """All pairs of an instance type and a zone that has it."""
        condition = {"Name": "instance-type", "Values": list(types)}
        with explained(f"zones of {', '.join(types)}"):
            pages = self._client.get_paginator("describe_instance_type_offerings").paginate(
                LocationType="availability-zone",
                Filters=[condition],  # type: ignore[list-item]
            )
            return {
                (str(data["InstanceType"]), data["Location"])
                for page in pages
                for data in page["InstanceTypeOfferings"]
            }

    def spot_prices(self, types: Collection[str], *, windows: bool) -> dict[tuple[str, str], float]:
        """USD an hour now, by instance type and zone; for Linux, if not for Windows."""
        now = datetime.now(timezone.utc)
        with explained(f"spot prices of {', '.join(types)}"):
            pages = self._client.get_paginator("describe_spot_price_history").paginate(
                InstanceTypes=list(types),  # type: ignore[arg-type]
                ProductDescriptions=["Windows" if windows else "Linux/UNIX"],
                # From now on: the prices that hold at this moment (EC2 API reference).
                StartTime=now,
                EndTime=now,
            )
            return {
                (str(data["InstanceType"]), data["AvailabilityZone"]): float(data["SpotPrice"])
                for page in pages
                for data in page["SpotPriceHistory"]
            }

    @cached_property
    def _price_list(self) -> Any:
        return self._session.client("pricing", region_name=PRICE_LIST_REGION, config=self._config)

    def on_demand_price(self, instance_type: str, *, windows: bool) -> float | None:
        """USD an hour in this region; None when the price list does not say."""
        wanted = {
            "instanceType": instance_type,
            "regionCode": self.region,
            "operatingSystem": "Windows" if windows else "Linux",
            "licenseModel": "No License required",
            "tenancy": "Shared",
            "capacitystatus": "Used",
            "preInstalledSw": "NA",
        }
        with explained(f"on-demand price of {instance_type}"):
            reply = self._price_list.get_products(
                ServiceCode="AmazonEC2",
                Filters=[
                    {"Field": field, "Type": "TERM_MATCH", "Value": value}
                    for field, value in wanted.items()
                ],
            )
            return next((price for text in reply["PriceList"] for price in _listed(text)), None)


def _listed(text: str) -> Iterator[float]:
    """The hourly prices in one entry of the price list; in China they are not in USD."""
    entry: dict[str, Any] = json.loads(text)
    for term in entry["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            usd = float(dimension["pricePerUnit"].get("USD", 0))
            if usd > 0:
                yield usd
