"""When a call to GitHub is repeated, and after how long."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from github.GithubRetry import GithubRetry
from requests.structures import CaseInsensitiveDict

from runner_fleet.errors import GitHubError, RateLimitError

if TYPE_CHECKING:
    from urllib3 import HTTPResponse

SECONDARY_WAIT = 60.0
"""Seconds to wait after a secondary rate limit that names no time (docs, rate limits)."""

_SAFE_POSTS = ("/registration-token", "/remove-token", "/access_tokens", "/labels")
"""Ends of POST paths that may be repeated: a second token or label changes nothing."""


@dataclass
class Patience:
    """How long a call may be repeated; whoever is in a hurry lowers it."""

    seconds: float  # that one rate limit may cost
    deadline: float = math.inf  # on the monotonic clock: nothing is repeated after it

    def ends_in(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def left(self) -> float:
        return min(self.seconds, self.deadline - time.monotonic())


class Retry(GithubRetry):
    """PyGithub's policy, but a POST that could count twice is not repeated, 429 is a limit as 403
    is, and a wait longer than our patience is an error at once.

    urllib3 copies the object at each step; the copies share one `Patience`.
    """

    def __init__(self, patience: Patience, **options: Any) -> None:
        self._patience = patience
        options.setdefault("secondary_rate_wait", SECONDARY_WAIT)
        options.setdefault("status_forcelist", [429, *range(500, 600)])
        options.setdefault("allowed_methods", None)  # every method: increment() decides
        options.setdefault("raise_on_status", False)
        super().__init__(**options)

    def new(self, **options: Any) -> Any:
        return super().new(patience=self._patience, **options)

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: HTTPResponse | None = None,  # type: ignore[override]
        error: Exception | None = None,
        *rest: Any,
        **options: Any,
    ) -> Any:
        path = (url or "").partition("?")[0]
        limited = response is not None and _is_limit(response)
        if self._patience.left() <= 0 and not limited:
            raise error or GitHubError(
                f"GitHub answers {response.status if response else 0}",
                response.status if response else 0,
            )
        # Of a 403 PyGithub reads the text: a limit is waited for, anything else is an error.
        failed = response is None or response.status >= 500
        if method == "POST" and failed and not path.endswith(_SAFE_POSTS):
            status = 0
            if response is not None:
                status = response.status
                response.close()
            raise error or GitHubError(f"GitHub answered {method} {path} with a failure", status)
        if response is None or not limited:
            # PyGithub knows a secondary limit by its text, too.
            self.max_rate_limit_wait = max(0.0, self._patience.left())
            return super().increment(method, url, response, error, *rest, **options)
        wait = seconds_to_wait(response.headers)
        if wait > self._patience.left():
            response.close()
            raise rate_limit(response.headers, response.status)
        # PyGithub's own step would refuse a 403 that it cannot read; this is urllib3's.
        retry = super(GithubRetry, self).increment(method, url, response, error, *rest, **options)
        retry.get_backoff_time = lambda: wait  # type: ignore[method-assign]
        return retry


def _is_limit(response: HTTPResponse) -> bool:
    """Whether a reply is a rate limit; a 403 may also mean a missing permission."""
    if response.status == 429:
        return True
    headers = response.headers
    return response.status == 403 and (
        "Retry-After" in headers or headers.get("X-RateLimit-Remaining") == "0"
    )


def seconds_to_wait(headers: Mapping[str, Any]) -> float:
    """What a rate-limit reply asks for; one that names no time is a secondary limit."""
    after = _number(headers, "Retry-After")
    if after is not None:
        return float(after)
    reset = _reset(headers)
    return SECONDARY_WAIT if reset is None else max(0.0, reset - time.time()) + 1.0


def _reset(headers: Mapping[str, Any]) -> int | None:
    """When a limit that is exhausted begins anew, in seconds since the epoch."""
    exhausted = headers.get("X-RateLimit-Remaining") == "0"
    return _number(headers, "X-RateLimit-Reset") if exhausted else None


def _end(headers: Mapping[str, Any]) -> float | None:
    """When a limit is over, in seconds since the epoch, if the reply says so."""
    after = _number(headers, "Retry-After")
    return _reset(headers) if after is None else time.time() + after


def _number(headers: Mapping[str, Any], name: str) -> int | None:
    """None too for what is no number of seconds: `isdigit` takes superscripts, gmtime an end."""
    text = str(headers.get(name, ""))
    return int(text) if re.fullmatch("[0-9]{1,10}", text) else None


def rate_limit(headers: Mapping[str, Any], status: int) -> RateLimitError:
    """The error for a reply that is a limit."""
    headers = CaseInsensitiveDict(headers)
    end = _end(headers)
    until = "" if end is None else f" until {time.strftime('%H:%M:%S UTC', time.gmtime(end))}"
    message = (
        f"GitHub's rate limit for this token is exhausted{until}: wait, or use a GitHub App, which "
        "has a limit of its own"
    )
    return RateLimitError(message, status, seconds_to_wait(headers))
