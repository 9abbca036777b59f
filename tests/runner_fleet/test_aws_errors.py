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


@pytest.mark.parametrize(
    ("status", "code", "transient", "unsure"),
    [
        (500, "InternalError", True, True),
        (500, "ServerInternal", True, True),
        (503, "RequestLimitExceeded", True, False),
        (500, "InsufficientInstanceCapacity", False, False),
        (500, "Unsupported", False, False),
        (400, "VcpuLimitExceeded", False, False),
    ],
)
def test_a_failure_of_aws_itself_may_have_had_its_effect_by_whatever_name(
    status: int, code: str, transient: bool, unsure: bool
) -> None:
    reply = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    error = explain(ClientError(reply, "RunInstances"), "launch")  # type: ignore[arg-type]
    assert (error.transient, error.unsure) == (transient, unsure)
