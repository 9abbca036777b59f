"""Calls to GitHub's REST API: sent, repeated where that is harmless, their answers understood.

PyGithub has no method for most runner calls, so its requester is used: auth, connections and rate
limits stay in one place. Its defaults are corrected: it repeats every POST after a 5xx, pauses
between requests, and gives up on a 429 without `Retry-After`.
"""

from __future__ import annotations

import json
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import github
import requests
from requests.utils import parse_header_links

from runner_fleet import __version__
from runner_fleet.errors import GitHubError
from runner_fleet.github_retry import Patience, Retry, rate_limit

# PyGithub writes to the log of the step what it waits for; ours says what matters, once.
github.set_log_level(logging.WARNING)

REQUEST_TIMEOUT = 15
"""Seconds for one request. GitHub gives up after 10 s itself (docs, REST API troubleshooting)."""

ATTEMPTS = 4
"""So often a call is repeated that fails for the moment."""

LONGEST_WAIT = 90.0
"""Seconds we wait for a rate limit, unless told otherwise, before we report it instead."""


@dataclass
class Page:
    etag: str
    body: Any
    following: str | None


class Wire(ABC):
    """The API at `api_url`. May be used from several threads: each has its own connection."""

    def __init__(
        self,
        auth: github.Auth.Auth,
        api_url: str,
        agent: str = "",  # names the caller in the User-Agent
        patience: Patience | None = None,
    ) -> None:
        self.api_url = api_url
        self.patience = patience or Patience(LONGEST_WAIT)
        self._auth = auth
        self._agent = f"runner-fleet/{__version__} {agent}".strip()
        self._own = threading.local()
        self._clients: list[github.Github] = []
        self._pages: dict[str, Page] = {}

    def close(self) -> None:
        """Let go of the connections."""
        while self._clients:
            self._clients.pop().close()

    @abstractmethod
    def refusal(self, call: str, status: int, message: str) -> str:
        """What is said when GitHub refuses `call`, "METHOD path"."""

    def get(self, path: str) -> Any:
        """The JSON at a path of the API."""
        return self.call("GET", path)

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON of the answer, None when it has no content; raises `GitHubError`."""
        status, _, text = self._send(method, path, {}, body)
        return self._parse(method, path, status, text)

    def pages(self, url: str) -> Iterator[Any]:
        """The JSON of each page of a list. An unchanged page costs no rate limit."""
        following: str | None = url
        while following is not None:
            page = self._page(following)
            yield page.body
            following = page.following

    def items(self, path: str, name: str) -> list[Any]:
        """All items of a list that comes in pages, each an object with the list under `name`."""
        found: list[Any] = []
        for body in self.pages(path):
            with understood("GET", path):
                found += body[name]
        return found

    def _page(self, url: str) -> Page:
        known = self._pages.get(url)
        validator = {"If-None-Match": known.etag} if known else {}
        status, headers, text = self._send("GET", url, validator)
        if known and status == requests.codes.not_modified:
            return known
        links = parse_header_links(headers.get("link", ""))
        page = Page(
            etag=headers.get("etag", ""),
            body=self._parse("GET", url, status, text),
            following=next((link["url"] for link in links if link.get("rel") == "next"), None),
        )
        if page.etag:
            self._pages[url] = page
        return page

    @property
    def _client(self) -> github.Github:
        """The thread's own: PyGithub's connection holds one request at a time."""
        client: github.Github | None = getattr(self._own, "client", None)
        if client is None:
            client = self._own.client = github.Github(
                auth=self._auth,
                base_url=self.api_url.rstrip("/"),
                timeout=REQUEST_TIMEOUT,
                user_agent=self._agent,
                retry=Retry(
                    self.patience,
                    total=ATTEMPTS,
                    connect=2,
                    backoff_factor=0.5,
                    backoff_jitter=0.5,
                ),
                seconds_between_requests=0,
                seconds_between_writes=0,
            )
            self._clients.append(client)
        return client

    def _send(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: Mapping[str, Any] | None = None,
    ) -> tuple[int, dict[str, Any], str]:
        try:
            requester = self._client.requester
            return requester.requestJson(method, url, headers=headers, input=body)
        except github.RateLimitExceededException as error:
            raise rate_limit(error.headers or {}, error.status) from None
        except github.GithubException as error:
            raise self._refused(method, url, error.status, error.data) from None
        except requests.RequestException as error:
            msg = (
                f"GitHub at {self.api_url} cannot be reached ({_reason(error)}): check the network "
                "of this job, its proxy (HTTPS_PROXY, NO_PROXY), and GITHUB_API_URL"
            )
            raise GitHubError(msg) from None
        except (AssertionError, RuntimeError, TypeError, ValueError, LookupError):
            # PyGithub's own doubts about what came back, redirects of writes among them.
            raise puzzling(method, url) from None

    def _parse(self, method: str, url: str, status: int, text: str) -> Any:
        try:
            body = json.loads(text) if text else None
        except (ValueError, RecursionError):
            body = None
        if status >= requests.codes.bad_request:
            raise self._refused(method, url, status, body)
        if status >= requests.codes.multiple_choices:
            msg = (
                f"GitHub answers {status} for {method} {url}: it was renamed or moved. Say its new "
                "name in the input repo, organization or enterprise"
            )
            raise GitHubError(msg, status)
        if body is None and status != requests.codes.no_content:
            raise puzzling(method, url)
        return body

    def _refused(self, method: str, url: str, status: int, body: Any) -> GitHubError:
        return GitHubError(self.refusal(f"{method} {url}", status, _message(body)), status)


def _message(body: Any) -> str:
    """What an error body says, details too; empty when it is not GitHub's own."""
    if not isinstance(body, dict):
        return ""
    errors = body.get("errors")
    details = [item for item in errors if isinstance(item, str)] if isinstance(errors, list) else []
    return ": ".join([str(body.get("message", "")), *details])


@contextmanager
def understood(method: str, url: str) -> Iterator[None]:
    """A `GitHubError` for an answer that lacks what the block reads from it."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError):
        raise puzzling(method, url) from None


def puzzling(method: str, url: str) -> GitHubError:
    return GitHubError(f"GitHub's answer to {method} {url} is not what its API documents")


def _reason(error: BaseException) -> str:
    """The innermost cause's name: the rest repeats URLs and object addresses."""
    while True:
        inner = error.__cause__ or error.__context__
        if inner is None:
            return type(error).__name__
        error = inner
