"""Which quota a launch counts against."""

from __future__ import annotations

import pytest
from runner_fleet.quotas import where_to_raise


@pytest.mark.parametrize(
    ("instance_type", "market", "name", "code"),
    [
        ("g4dn.xlarge", "on-demand", "Running On-Demand G and VT instances", "L-DB2E81BA"),
        ("g6.xlarge", "spot", "All G and VT Spot Instance Requests", "L-3819A6DF"),
        (
            "t3.small",
            "spot",
            "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
            "L-34B43A08",
        ),
        (
            "im4gn.large",
            "on-demand",
            "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
            "L-1216C47A",
        ),
        ("p4d.24xlarge", "spot", "All P4, P3 and P2 Spot Instance Requests", "L-7212CCBC"),
        ("p5en.48xlarge", "spot", "All P5 Spot Instance Requests", "L-C4BD4855"),
        ("p5.48xlarge", "on-demand", "Running On-Demand P instances", "L-417A185B"),
        ("inf2.xlarge", "on-demand", "Running On-Demand Inf instances", "L-1945791B"),
        ("u-6tb1.metal", "on-demand", "Running On-Demand High Memory instances", "L-43DA4232"),
    ],
)
def test_spot_and_on_demand_have_quotas_of_their_own_for_each_family(
    instance_type: str, market: str, name: str, code: str
) -> None:
    assert where_to_raise(instance_type, market, "eu-west-1") == (
        f"'{name}' of eu-west-1 at https://eu-west-1.console.aws.amazon.com/servicequotas/home/"
        f"services/ec2/quotas/{code}"
    )


@pytest.mark.parametrize(
    ("region", "console"),
    [("cn-north-1", "console.amazonaws.cn"), ("us-gov-west-1", "console.amazonaws-us-gov.com")],
)
def test_other_partitions_have_consoles_of_their_own(region: str, console: str) -> None:
    assert f"https://{region}.{console}/" in where_to_raise("m7i.large", "spot", region)


def test_a_family_that_is_not_known_leads_to_all_quotas() -> None:
    assert where_to_raise("new1.large", "spot", "us-east-1") == (
        "of new1.large at "
        "https://us-east-1.console.aws.amazon.com/servicequotas/home/services/ec2/quotas"
    )
