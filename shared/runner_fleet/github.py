"""GitHub as this project needs it: the self-hosted runners of one scope.

A scope is a repository, an organization or an enterprise: the endpoints are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import github
import requests

from runner_fleet import github_errors
from runner_fleet.errors import GitHubError, RateLimitError
from runner_fleet.github_access import REPOSITORY, GitHubAccess
from runner_fleet.github_retry import Patience
from runner_fleet.github_wire import LONGEST_WAIT, Wire, understood

DEFAULT_GROUP = 1
"""The id of the runner group that always exists; repositories have no other."""

THE_TOKEN = "the token in GH_PAT"  # noqa: S105
THE_APP = "the token of the GitHub App"


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
class JitConfig:
    """A registration made beforehand: good for one job, and as secret as a key."""

    runner_id: int
    encoded: str = field(repr=False)


@dataclass(frozen=True)
class Budget:
    """The calls that a token may make in an hour, as the last reply told."""

    limit: int
    remaining: int
    reset: float  # when the hour is over, in seconds since the epoch


class GitHub(Wire):
    """The runner endpoints of a scope; of `repository` ("owner/name") unless one is given.

    Every method raises `GitHubError`; transient failures (5xx, lost connections, rate limits up
    to `LONGEST_WAIT`) are repeated where repeating is harmless.
    """

    def __init__(
        self,
        token: str | github.Auth.Auth,
        repository: str,
        api_url: str = "https://api.github.com",
        agent: str = "",  # names the caller in the User-Agent
        *,
        scope: str = "",
        patience: Patience | None = None,
    ) -> None:
        by_token = isinstance(token, str)
        auth = github.Auth.Token(token) if isinstance(token, str) else token
        super().__init__(auth, api_url, agent, patience)
        self.repository = repository
        self.scope = scope or f"{REPOSITORY}/{repository}"
        self._holder = THE_TOKEN if by_token else THE_APP
        self._runners = f"/{self.scope}/actions/runners"

    @classmethod
    def of(cls, access: GitHubAccess, agent: str, mask: Callable[[str], None]) -> GitHub:
        """The client for what the inputs say. `mask` gets each token that an App is given.

        Raises `InputError` when the key of an App is none.
        """
        patience = Patience(LONGEST_WAIT)
        auth: str | github.Auth.Auth = access.token
        if access.app is not None:
            # Loaded only for an App: it brings cryptography with it.
            from runner_fleet.github_auth import Installation

            auth = Installation(access, access.app, agent, patience, mask)
        return cls(
            auth,
            access.repository,
            access.api_url,
            agent,
            scope=access.scope,
            patience=patience,
        )

    def refusal(self, call: str, status: int, message: str) -> str:
        return github_errors.refusal(self.scope, self._holder, call, status, message)

    @property
    def budget(self) -> Budget | None:
        """What is left for the token; None when GitHub has not told, or sets no limit."""
        requester = self._client.requester
        remaining, limit = requester.rate_limiting
        if limit < 0 or not requester.rate_limiting_resettime:
            return None
        return Budget(limit, remaining, requester.rate_limiting_resettime)

    def registration_token(self) -> str:
        """A token with which runners can register for one hour; any number of them."""
        return self._token("registration-token")

    def remove_token(self) -> str:
        """A token with which a runner can remove itself (config.sh remove) for one hour."""
        return self._token("remove-token")

    def _token(self, kind: str) -> str:
        path = f"{self._runners}/{kind}"
        reply = self.call("POST", path)
        with understood("POST", path):
            token = reply["token"]
            if not isinstance(token, str) or not token:
                raise ValueError
            return token

    def jit_config(
        self, name: str, labels: Iterable[str], group_id: int = DEFAULT_GROUP
    ) -> JitConfig:
        """Register a runner for one job. It gets these labels and no other, not even defaults.

        The name must be nobody else's: a registration of that name that is in the way is removed,
        and so is one of which the reply was lost.
        """
        path = f"{self._runners}/generate-jitconfig"
        body = {"name": name, "runner_group_id": group_id, "labels": list(labels)}
        try:
            reply = self.call("POST", path, body)
        except RateLimitError:
            raise  # nothing happened, and nothing more may be asked now
        except GitHubError as error:
            if error.status != requests.codes.conflict and not error.transient:
                raise
            self._remove_named(name)
            reply = self._last_try(path, body)
        with understood("POST", path):
            return JitConfig(int(reply["runner"]["id"]), str(reply["encoded_jit_config"]))

    def _last_try(self, path: str, body: Mapping[str, Any]) -> Any:
        try:
            return self.call("POST", path, body)
        except GitHubError as error:
            if error.transient:
                with suppress(GitHubError):
                    self._remove_named(body["name"])
            raise

    def _remove_named(self, name: str) -> None:
        # Whether GitHub looks for the whole name or a part of it is not documented.
        for runner in self._listed(f"{self._runners}?per_page=100&name={quote(name)}"):
            if runner.name == name:
                self.delete_runner(runner.id)

    def runner_archives(self) -> list[RunnerArchive]:
        """The runner downloads for Linux and Windows that this GitHub offers, newest version."""
        path = f"{self._runners}/downloads"
        reply = self.get(path)
        with understood("GET", path):
            return [
                RunnerArchive(
                    item["architecture"], item["download_url"], item["sha256_checksum"], item["os"]
                )
                for item in reply
                if item["os"] in ("linux", "win") and item.get("sha256_checksum")
            ]

    def runners(self) -> list[Runner]:
        """All registered runners; one call for each 100. An unchanged page costs no rate limit."""
        return self._listed(f"{self._runners}?per_page=100")

    def _listed(self, url: str) -> list[Runner]:
        with understood("GET", url):
            # Lists shift between pages: one runner may come twice.
            found = {item["id"]: Runner.parse(item) for item in self.items(url, "runners")}
        return list(found.values())

    def delete_runner(self, runner_id: int) -> bool:
        """Remove a registration. False when it was gone already.

        A busy runner is refused: `GitHubError` with status 422.
        """
        try:
            self.call("DELETE", f"{self._runners}/{runner_id}")
        except GitHubError as error:
            if error.status == requests.codes.not_found:
                return False
            raise
        return True
