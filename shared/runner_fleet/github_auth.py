"""A GitHub App as the one who asks: its installation is found, its tokens are made when needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import github
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from runner_fleet.errors import GitHubError, InputError
from runner_fleet.github_access import ORGANIZATION, AppKey, GitHubAccess, place
from runner_fleet.github_retry import Patience
from runner_fleet.github_wire import Wire, understood

RENEWED_BEFORE = 300.0
"""Seconds of life that a token must have left to be used; GitHub makes it for an hour."""

_UNAUTHORIZED, _NOT_FOUND, _INVALID = 401, 404, 422

_NO_SUCH_APP = "Integration not found"
"""GitHub's 404 for the JWT of an App that does not exist."""

Mask = Callable[[str], None]


class Installation(github.Auth.Auth):
    """The App's installation where the runners are registered, as PyGithub's requester asks it.

    PyGithub has such a class; it cannot find the installation, and asks for a token that is good
    for all its repositories. `now` gives seconds since the epoch.
    """

    token_type = "token"  # noqa: S105 (the scheme of the header, not a secret)

    def __init__(
        self,
        access: GitHubAccess,
        app: AppKey,
        agent: str,
        patience: Patience,
        mask: Mask,
        now: Callable[[], float] = time.time,
    ) -> None:
        _check(app)
        self._access = access
        self._wire = _AppWire(access, app, agent, patience)
        self._mask = mask
        self._now = now
        self._lock = threading.Lock()
        self._found: tuple[int, dict[str, str]] | None = None
        self._token, self._until = "", 0.0

    @property
    def token(self) -> str:
        with self._lock:
            if self._until - self._now() < RENEWED_BEFORE:
                self._renew()
            return self._token

    def _renew(self) -> None:
        number, granted = self._found or self._find()
        self._found = number, granted
        path = f"/app/installations/{number}/access_tokens"
        reply = self._first_accepted(path, _requests(self._access, granted))
        with understood("POST", path):
            self._until = datetime.fromisoformat(
                reply["expires_at"].replace("Z", "+00:00")
            ).timestamp()
            self._token = str(reply["token"])
        self._mask(self._token)

    def _find(self) -> tuple[int, dict[str, str]]:
        path = f"/{self._access.scope}/installation"
        reply = self._wire.get(path)
        with understood("GET", path):
            number, granted = int(reply["id"]), dict(reply["permissions"])
        permission, name = _permission(self._access.scope)
        if granted.get(permission) != "write":
            msg = (
                f"the GitHub App of github_app_id is installed for {self._access.place}, without "
                f"the permission '{name}: read and write': add it in the App's settings, then "
                "accept the new permission where it is installed"
            )
            raise GitHubError(msg, 403)
        return number, granted

    def _first_accepted(self, path: str, bodies: list[dict[str, Any]]) -> Any:
        for body in bodies[:-1]:
            try:
                return self._wire.call("POST", path, body)
            except GitHubError as error:
                if error.status != _INVALID:
                    raise
        return self._wire.call("POST", path, bodies[-1])


class _AppWire(Wire):
    """The few calls that the App makes as itself."""

    def __init__(self, access: GitHubAccess, app: AppKey, agent: str, patience: Patience) -> None:
        auth = github.Auth.AppAuth(app.id, app.private_key)
        super().__init__(auth, access.api_url, agent, patience)
        self._where = place(access.scope)

    def refusal(self, call: str, status: int, message: str) -> str:
        said = f"{status} ({message or 'no message'})"
        if status == _NOT_FOUND and call.startswith("GET ") and message != _NO_SUCH_APP:
            return (
                f"GitHub answers {said}: the GitHub App of github_app_id is not installed for "
                f"{self._where}, or there is no such place: install the App there, and let it "
                "have this repository"
            )
        if status in (_UNAUTHORIZED, _NOT_FOUND):
            return (
                f"GitHub does not accept the GitHub App: {said}. github_app_private_key is not a "
                "key of github_app_id, was deleted in the App's settings, or the clock of this "
                "machine is wrong"
            )
        return f"GitHub gives the GitHub App no token for {self._where}: {said}"


def _permission(scope: str) -> tuple[str, str]:
    """What managing runners of a scope needs: in the API, and in the settings of an App."""
    if scope.startswith(ORGANIZATION):
        return "organization_self_hosted_runners", "Organization permissions, Self-hosted runners"
    return "administration", "Repository permissions, Administration"


def _requests(access: GitHubAccess, granted: dict[str, str]) -> list[dict[str, Any]]:
    """The tokens to ask for, the first that GitHub gives is taken: no more than is needed.

    Reading workflow runs is for sweeping; who does not sweep need not grant it.
    """
    needed = {_permission(access.scope)[0]: "write"}
    runs = {"actions": "read"} if granted.get("actions") in ("read", "write") else {}
    owner, _, name = access.repository.partition("/")
    one = {"repositories": [name]}
    if not access.scope.startswith(ORGANIZATION):
        return [{"permissions": needed | runs, **one}]
    # An installation for selected repositories need not include this one.
    full = (
        [{"permissions": needed | runs, **one}] if runs and access.scope == f"orgs/{owner}" else []
    )
    return [*full, {"permissions": needed}]


def _check(app: AppKey) -> None:
    try:
        key = load_pem_private_key(app.private_key.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        msg = (
            "github_app_private_key: cannot be read as an RSA private key: store the whole .pem "
            "file that GitHub gave you, unchanged"
        )
        raise InputError(msg)
