"""What goes wrong with a call to AWS, as the errors of this project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
)
from botocore.parsers import ResponseParserError

from runner_fleet.aws_errors import explain
from runner_fleet.errors import CloudError, FleetError, InputError

NO_CREDENTIALS = (
    "no AWS credentials: run aws-actions/configure-aws-credentials before this step (the job needs "
    "'permissions: id-token: write' for a role), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)


# What botocore raises on an answer that is not EC2's, and what we do on one that lacks something.
_FAILURES = (
    ClientError,
    BotoCoreError,
    ResponseParserError,
    LookupError,
    TypeError,
    ValueError,
    OSError,
)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise what boto3 raises in the block as a `FleetError`; `what` says what was asked for."""
    try:
        yield
    except _FAILURES as error:
        raise _failure(error, what) from None


def _failure(error: Exception, what: str) -> FleetError:
    if isinstance(error, ClientError):
        return explain(error, what)
    if isinstance(error, (NoCredentialsError, PartialCredentialsError)):
        return InputError(NO_CREDENTIALS)
    if isinstance(error, ProfileNotFound):
        return InputError(f"AWS_PROFILE: {error}")
    if isinstance(error, BotoCoreError) and type(error) is not HTTPClientError:
        return CloudError(f"{what}: AWS gave no usable answer: {error}")
    # The text of others may hold what was sent, a credential for instance.
    return CloudError(f"{what}: AWS gave no usable answer ({type(error).__name__})")
