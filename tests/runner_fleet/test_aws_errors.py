"""What AWS's errors mean to whoever reads them."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from runner_fleet.aws_errors import explain


@pytest.mark.parametrize("code", ["VPCIdNotSpecified", "MissingInput"])
def test_without_a_default_vpc_a_subnet_is_asked_for(code: str) -> None:
    message = "No default VPC for this user."
    refused = ClientError({"Error": {"Code": code, "Message": message}}, "RunInstances")
    assert str(explain(refused, "2 instances")) == (
        f"2 instances: AWS refused RunInstances with {code}: No default VPC for this user; the "
        "account has no default VPC in this region: set aws_subnet_id"
    )
