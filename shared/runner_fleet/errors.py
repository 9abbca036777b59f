"""Every way to fail: one class an outcome.

A message is one line for the person at 2 a.m.: what is wrong, where, and what to do. It never
holds a secret. The edge (`action.py`) prints each line as one `::error::` and exits with
`exit_code`; nothing else prints a failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner_fleet.masking import redacted

_UNSURE_CODES = frozenset(
    {"", "InternalError", "InternalFailure", "Unavailable", "ServiceUnavailable"}
)
"""EC2's codes of which nobody can say whether the call took effect."""

THROTTLED = frozenset(
    {"RequestLimitExceeded", "Throttling", "ThrottlingException", "EC2ThrottledException"}
)
"""EC2's codes for "not now" (EC2 API reference, error codes; botocore, retryhandler)."""


class FleetError(Exception):
    """Anything that ends an action with a message instead of a traceback.

    Takes one message, or several when several independent things are wrong.
    """

    exit_code = 1

    def __init__(self, *messages: str) -> None:
        self.lines = tuple(redacted(" ".join(message.split())) for message in messages)
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
        garbled = 200 <= self.status < 300
        return self.status in (0, 429) or self.status >= 500 or garbled


class RateLimitError(GitHubError):
    """GitHub did nothing, and wants to be left alone for `seconds`, be it with 403 or with 429."""

    def __init__(self, message: str, status: int, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(message, status)

    @property
    def transient(self) -> bool:
        return True


class CloudError(FleetError):
    """EC2 refused a call or could not be reached.

    `code` is EC2's error code, empty when there was no reply. `transient`: the same call may well
    work in a while. `unsure`: a call that writes may have taken effect all the same, at this try
    or an earlier one (so when the reply is `unclear`). `denied`: a permission is missing.
    `unknown_ids`: ids EC2 does not know; `named_ids`: instances that it names as the reason for
    another refusal.
    """

    def __init__(
        self,
        message: str,
        code: str = "",
        *,
        denied: bool = False,
        unclear: bool = False,
        unknown_ids: tuple[str, ...] = (),
        named_ids: tuple[str, ...] = (),
    ) -> None:
        self.code = code
        self.denied = denied
        self.unknown_ids = unknown_ids
        self.named_ids = named_ids
        # A bare HTTP status stands where the reply was not EC2's own.
        self.unsure = unclear or code in _UNSURE_CODES or code.isdigit()
        self.transient = self.unsure or code in THROTTLED
        super().__init__(message)


class CapacityError(FleetError):
    """EC2 had room for the fleet in none of the places, for as long as we tried."""


class Cancelled(BaseException):
    """SIGINT or SIGTERM arrived. Not an `Exception`, so that no library swallows it."""

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number
        super().__init__(signal_number)


def internal_error(error: Exception) -> str:
    """A failure that is a bug of ours: its kind and place, and no value that could be a secret."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
    return (
        f"internal error: {type(error).__name__} at {where}. This is a bug in runner-fleet: please "
        "report it; re-run the job with debug logging enabled to see the traceback"
    )


@contextmanager
def gathered(problems: list[str]) -> Iterator[None]:
    """Note a failure of the block instead of raising it: what comes after must be done, too."""
    try:
        yield
    except FleetError as error:
        problems.extend(error.lines)
    except Exception as error:
        problems.append(internal_error(error))
