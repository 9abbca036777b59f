"""EC2's errors: a code, a message and the HTTP status that belongs to the code."""

from __future__ import annotations

# Codes that EC2 sends with another status than 400 (API reference, "Error codes": server errors
# are 5xx). botocore retries the 5xx by itself.
_STATUS = {
    "DryRunOperation": 412,
    "UnauthorizedOperation": 403,
    "AuthFailure": 401,
    "InternalError": 500,
    "InternalFailure": 500,
    "InsufficientInstanceCapacity": 500,
    "InsufficientHostCapacity": 500,
    "InsufficientCapacity": 500,
    "RequestLimitExceeded": 503,
    "Unavailable": 503,
    "ServiceUnavailable": 503,
}

_CODE = {401: "AuthFailure", 403: "UnauthorizedOperation", 500: "InternalError"}


def status_of(code: str) -> int:
    """The HTTP status EC2 sends with an error code."""
    return _STATUS.get(code, 400)


def code_of(status: int) -> str:
    """The code EC2 most likely means by a bare HTTP status."""
    if status == 503:
        return "RequestLimitExceeded"
    if status >= 500:
        return "InternalError"
    return _CODE.get(status, "InvalidParameterValue")


class Ec2Error(Exception):
    """A call EC2 refuses."""

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status_of(code) if status is None else status


def would_have_succeeded() -> Ec2Error:
    """What EC2 says to a DryRun that is in order."""
    return Ec2Error("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
