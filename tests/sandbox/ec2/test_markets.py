"""Spot and on-demand instances, and what they cost, in the sandbox."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

SPOT = {"MarketType": "spot", "SpotOptions": {"SpotInstanceType": "one-time"}}


def test_a_spot_instance_says_so(cloud: Any) -> None:
    [spot] = cloud.launch(InstanceMarketOptions=SPOT)
    [other] = cloud.launch()
    assert cloud.instance(spot["InstanceId"])["InstanceLifecycle"] == "spot"
    assert "InstanceLifecycle" not in cloud.instance(other["InstanceId"])
    assert [one.market for one in cloud.ec2.instances()] == ["spot", "on-demand"]


def test_a_rule_may_be_for_one_market_or_one_region(cloud: Any, refusal: Any) -> None:
    cloud.ec2.rules.refuse(market="spot", code="MaxSpotInstanceCountExceeded")
    cloud.ec2.rules.refuse(region="us-west-2")
    cloud.launch()
    _, code, _ = refusal(cloud.run, InstanceMarketOptions=SPOT)
    assert code == "MaxSpotInstanceCountExceeded"
    west = cloud.of("ec2", "us-west-2")
    status, code, _ = refusal(
        west.run_instances,
        ImageId="ami-0c240000000000002",
        InstanceType="g6.xlarge",
        MinCount=1,
        MaxCount=1,
    )
    assert (status, code) == (500, "InsufficientInstanceCapacity")


def test_spot_prices_are_those_of_the_rules_by_zone(cloud: Any) -> None:
    cloud.ec2.rules.price(0.3, instance_type="g6.xlarge", market="spot")
    cloud.ec2.rules.price(0.2, instance_type="g6.xlarge", market="spot", zone="us-east-1b")
    now = datetime.now(timezone.utc)
    found = cloud.client.describe_spot_price_history(
        InstanceTypes=["g6.xlarge"],
        ProductDescriptions=["Linux/UNIX"],
        StartTime=now,
        EndTime=now,
    )["SpotPriceHistory"]
    prices = {item["AvailabilityZone"]: item["SpotPrice"] for item in found}
    assert prices["us-east-1a"] == "0.300000"
    assert prices["us-east-1b"] == "0.200000"
    assert "us-east-1e" not in prices  # has no such type


def test_the_price_list_has_one_entry_for_a_type_in_a_region(cloud: Any) -> None:
    cloud.ec2.rules.price(0.8, instance_type="g6.xlarge", region="us-west-2")
    wanted = {"instanceType": "g6.xlarge", "regionCode": "us-west-2"}
    reply = cloud.of("pricing").get_products(
        ServiceCode="AmazonEC2",
        Filters=[
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in wanted.items()
        ],
    )
    [entry] = map(json.loads, reply["PriceList"])
    assert entry["product"]["attributes"] == wanted
    [term] = entry["terms"]["OnDemand"].values()
    [dimension] = term["priceDimensions"].values()
    assert dimension["pricePerUnit"] == {"USD": "0.8"}
