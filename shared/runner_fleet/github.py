"""GitHub as this project needs it: the self-hosted runners of one repository.

PyGithub has no method for most runner calls of a repository, so its requester is used: auth,
connections and rate limits stay in one place. Its defaults are corrected: it repeats every POST
after a 5xx, pauses between requests, and gives up on a 429 without `Retry-After`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import github
import requests
from requests.utils import parse_header_links

from runner_fleet import __version__
from runner_fleet.errors import GitHubError
from runner_fleet.github_retry import Patience, Retry, limit_message

REQUEST_TIMEOUT = 15
"""Seconds for one request. GitHub gives up after 10 s itself (docs, REST API troubleshooting)."""

LONGEST_WAIT = 90.0
"""Seconds we wait for a rate limit, unless told otherwise, before we report it instead."""


@dataclass(frozen=True)
class Runner:
    """One registration, as the runner list shows it."""

    id: int
    name: str
    online: bool
    busy: bool
    labels: frozenset[str]  # lower case: GitHub compares labels without regard to case

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Runner:
        return cls(
            id=data["id"],
            name=data["name"],
            online=data["status"] == "online",
            busy=bool(data["busy"]),
            labels=frozenset(label["name"].lower() for label in data["labels"]),
        )


@dataclass(frozen=True)
class RunnerArchive:
    """A runner download. `architecture` and `os` are GitHub's names: x64, arm64; linux, win."""

    architecture: str
    url: str
    sha256: str
    os: str = "linux"


@dataclass(frozen=True)
class Budget:
    """The calls that a token may make in an hour, as the last reply told."""

    limit: int
    remaining: int
    reset: float  # when the hour is over, in seconds since the epoch


@dataclass
class _Page:
    etag: str
    body: Any
    following: str | None


@dataclass
class GitHub:
    """The runner endpoints of `repository` ("owner/name").

    Every method raises `GitHubError`; transient failures (5xx, lost connections, rate limits up
    to `LONGEST_WAIT`) are repeated where repeating is harmless.
    """

    token: str = field(repr=False)
    repository: str
    api_url: str = "https://api.github.com"
    agent: str = ""  # names the caller in the User-Agent
    attempts: int = 4
    _pages: dict[str, _Page] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.patience = Patience(LONGEST_WAIT)
        self._client = github.Github(
            auth=github.Auth.Token(self.token),
            base_url=self.api_url.rstrip("/"),
            timeout=REQUEST_TIMEOUT,
            user_agent=f"runner-fleet/{__version__} {self.agent}".strip(),
            retry=Retry(
                self.patience,
                total=self.attempts,
                connect=2,
                backoff_factor=0.5,
                backoff_jitter=0.5,
            ),
            seconds_between_requests=0,
            seconds_between_writes=0,
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    @property
    def budget(self) -> Budget | None:
        """What is left for the token; None when GitHub has not told, or sets no limit."""
        requester = self._client.requester
        remaining, limit = requester.rate_limiting
        if limit < 0 or not requester.rate_limiting_resettime:
            return None
        return Budget(limit, remaining, requester.rate_limiting_resettime)

    @property
    def _scope(self) -> str:
        return f"/repos/{self.repository}"

    def registration_token(self) -> str:
        """A token with which runners can register for one hour; any number of them."""
        path = f"{self._scope}/actions/runners/registration-token"
        reply = self._call("POST", path)
        with _understood("POST", path):
            token = reply["token"]
            if not isinstance(token, str) or not token:
                raise ValueError
            return token

    def runner_archives(self) -> list[RunnerArchive]:
        """The runner downloads for Linux and Windows that this GitHub offers, newest version."""
        path = f"{self._scope}/actions/runners/downloads"
        reply = self._call("GET", path)
        with _understood("GET", path):
            return [
                RunnerArchive(
                    item["architecture"], item["download_url"], item["sha256_checksum"], item["os"]
                )
                for item in reply
                if item["os"] in ("linux", "win") and item.get("sha256_checksum")
            ]

    def runners(self) -> list[Runner]:
        """All registered runners; one call for each 100. An unchanged page costs no rate limit."""
        found: dict[int, Runner] = {}
        url: str | None = f"{self._scope}/actions/runners?per_page=100"
        while url is not None:
            page = self._page(url)
            with _understood("GET", url):
                # Lists shift between pages: one runner may come twice.
                found.update((item["id"], Runner.parse(item)) for item in page.body["runners"])
            url = page.following
        return list(found.values())

    def delete_runner(self, runner_id: int) -> bool:
        """Remove a registration. False when it was gone already.

        A busy runner is refused: `GitHubError` with status 422.
        """
        try:
            self._call("DELETE", f"{self._scope}/actions/runners/{runner_id}")
        except GitHubError as error:
            if error.status == requests.codes.not_found:
                return False
            raise
        return True

    def get(self, path: str) -> Any:
        """The body that a path answers with; for what is not about runners."""
        return self._call("GET", path)

    def items(self, path: str, name: str) -> list[Any]:
        """All items of a list that comes in pages, each an object with the list under `name`."""
        found: list[Any] = []
        url: str | None = path
        while url is not None:
            page = self._page(url)
            with _understood("GET", url):
                found += page.body[name]
            url = page.following
        return found

    def _page(self, url: str) -> _Page:
        known = self._pages.get(url)
        status, headers, text = self._send(
            "GET", url, {"If-None-Match": known.etag} if known else {}
        )
        if known and status == requests.codes.not_modified:
            return known
        links = parse_header_links(headers.get("link", ""))
        page = _Page(
            etag=headers.get("etag", ""),
            body=self._parse("GET", url, status, text),
            following=next((link["url"] for link in links if link.get("rel") == "next"), None),
        )
        if page.etag:
            self._pages[url] = page
        return page

    def _call(self, method: str, path: str) -> Any:
        status, _, text = self._send(method, path, {})
        return self._parse(method, path, status, text)

    def _send(
        self, method: str, url: str, headers: dict[str, str]
    ) -> tuple[int, dict[str, Any], str]:
        try:
            return self._client.requester.requestJson(method, url, headers=headers)
        except github.RateLimitExceededException as error:
            raise GitHubError(limit_message(error.headers or {}), error.status) from None
        except github.GithubException as error:
            raise self._refused(method, url, error.status, _message(error.data)) from None
        except requests.RequestException as error:
            msg = (
                f"GitHub at {self.api_url} cannot be reached ({_reason(error)}): check the network "
                "of this job, and GITHUB_API_URL"
            )
            raise GitHubError(msg) from None
        except (AssertionError, RuntimeError, TypeError, ValueError, LookupError):
            # PyGithub's own doubts about what came back, redirects of writes among them.
            raise _puzzling(method, url) from None

    def _parse(self, method: str, url: str, status: int, text: str) -> Any:
        try:
            body = json.loads(text) if text else None
        except (ValueError, RecursionError):
            body = None
        if status >= requests.codes.bad_request:
            raise self._refused(method, url, status, _message(body))
        if status >= requests.codes.multiple_choices:
            msg = (
                f"GitHub answers {status} for {self.repository}: it was renamed or moved. Say its "
                "new name in the input repo"
            )
            raise GitHubError(msg, status)
        if body is None and status != requests.codes.no_content:
            raise _puzzling(method, url)
        return body

    def _refused(self, method: str, url: str, status: int, message: str) -> GitHubError:
        if status == requests.codes.unauthorized:
            text = (
                "GitHub does not accept the token in GH_PAT (401): it is wrong, expired or revoked"
            )
        elif status == requests.codes.forbidden or (
            status == requests.codes.not_found and method != "DELETE"
        ):
            text = (
                f"GitHub answers {status} ({message or 'no message'}) for the runners of "
                f"{self.repository}: there is no such repository, or the token in GH_PAT may not "
                "administrate it. It needs 'Administration: read and write' (fine-grained token "
                "or App), or the scope 'repo' of a user with admin rights (classic token); the "
                "workflow's own GITHUB_TOKEN can never do this"
            )
        else:
            text = f"GitHub refused {method} {url}: {status} {message}"
        return GitHubError(text, status)


def _message(body: Any) -> str:
    """What an error body says; empty when it is not GitHub's own."""
    return str(body.get("message", "")) if isinstance(body, dict) else ""


@contextmanager
def _understood(method: str, url: str) -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError):
        raise _puzzling(method, url) from None


def _puzzling(method: str, url: str) -> GitHubError:
    return GitHubError(f"GitHub's answer to {method} {url} is not what its API documents")


def _reason(error: BaseException) -> str:
    """The innermost cause's name: the rest repeats URLs and object addresses."""
    while True:
        inner = error.__cause__ or error.__context__
        if inner is None:
            return type(error).__name__
        error = inner
