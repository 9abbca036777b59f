"""Every way to fail: one class an outcome.

A message is one line for the person at 2 a.m.: what is wrong, where, and what to do. It never
holds a secret. The edge (`action.py`) prints each line as one `::error::` and exits with
`exit_code`; nothing else prints a failure.
"""

from __future__ import annotations

_TRANSIENT_CODES = frozenset(
    {"", "RequestLimitExceeded", "InternalError", "InternalFailure", "Unavailable"}
    | {"ServiceUnavailable", "Throttling"}
)
"""EC2's codes for "not now" (EC2 API reference, error codes)."""


class FleetError(Exception):
    """Anything that ends an action with a message instead of a traceback.

    Takes one message, or several when several independent things are wrong.
    """

    exit_code = 1

    def __init__(self, *messages: str) -> None:
        self.lines = tuple(" ".join(message.split()) for message in messages)
        super().__init__("; ".join(self.lines))


class InputError(FleetError):
    """Inputs, credentials or settings are wrong; nothing was started."""


class GitHubError(FleetError):
    """GitHub refused a call or could not be reached.

    `status` is the HTTP status, 0 when there was no reply.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        self.status = status
        super().__init__(message)

    @property
    def transient(self) -> bool:
        """Whether the same call may well work in a while."""
        return self.status == 0 or self.status == 429 or self.status >= 500


class CloudError(FleetError):
    """EC2 refused a call or could not be reached.

    `code` is EC2's error code; empty when there was no reply, and then a call that writes may
    have taken effect.
    """

    def __init__(self, message: str, code: str = "") -> None:
        self.code = code
        super().__init__(message)

    @property
    def transient(self) -> bool:
        """Whether the same call may well work in a while."""
        return self.code in _TRANSIENT_CODES


class RunnerLostError(FleetError):
    """An instance ended, or did not come online in time."""


class Cancelled(BaseException):
    """SIGINT or SIGTERM arrived. Not an `Exception`, so that no library swallows it."""

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number
        super().__init__(signal_number)
