"""GitHub Apps: who they are (a signed JWT), where they are installed, the tokens they are given.

docs.github.com/apps: "Generating a JSON Web Token (JWT) for a GitHub App", "Authenticating as a
GitHub App installation".
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jwt

from sandbox.github.bodies import string_list
from sandbox.github.errors import ApiError, not_found
from sandbox.github.limits import HOURLY
from sandbox.github.records import Identity, Repository
from sandbox.github.state import State, number_of

LIFETIME = timedelta(hours=1)
LONGEST_JWT = timedelta(minutes=10)

_RANK = {"read": 1, "write": 2, "admin": 3}


@dataclass(frozen=True)
class App:
    id: str
    public_key: str  # PEM


@dataclass(frozen=True)
class Installation:
    """`repositories` are full names in lower case; None: all of the account."""

    id: int
    app_id: str
    account: str
    repositories: frozenset[str] | None
    permissions: Mapping[str, str]
    created_at: datetime

    def covers(self, repository: Repository) -> bool:
        if repository.owner.lower() != self.account.lower():
            return False
        return self.repositories is None or repository.full_name.lower() in self.repositories


def install(
    state: State,
    app_id: str,
    public_key: str,
    account: str,
    permissions: Mapping[str, str],
    repositories: Sequence[str] | None = None,
) -> Installation:
    """A GitHub App with this key (PEM), installed at an organization.

    `repositories` are full names; all of the account's when they are left out.
    """
    chosen = None if repositories is None else frozenset(name.lower() for name in repositories)
    with state.transaction():
        state.organizations.setdefault(account.lower(), (number_of(account), account))
        state.apps[app_id] = App(app_id, public_key)
        number = number_of(f"{app_id} {account}")
        found = Installation(number, app_id, account, chosen, permissions, state.now())
        state.installations[number] = found
    return found


def is_jwt(token: str) -> bool:
    return token.count(".") == 2


def identify(state: State, token: str, now: datetime) -> Identity:
    """The App that signed the JWT; 401 when it is not valid, 404 when there is no such App."""
    undecodable = ApiError(401, "A JSON web token could not be decoded")
    try:
        claimed = str(jwt.decode(token, options={"verify_signature": False}).get("iss"))
    except jwt.InvalidTokenError:
        raise undecodable from None
    app: App | None = state.apps.get(claimed)
    if app is None:
        raise ApiError(404, "Integration not found")
    try:
        # Times are judged by the simulator's clock, which may be virtual.
        claims = jwt.decode(
            token,
            app.public_key,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False},
        )
        issued, expires = float(claims["iat"]), float(claims["exp"])
    except (jwt.InvalidTokenError, LookupError, TypeError, ValueError):
        raise undecodable from None
    if issued > now.timestamp():
        msg = (
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion "
            "was issued"
        )
        raise ApiError(401, msg)
    if expires > now.timestamp() + LONGEST_JWT.total_seconds():
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    if expires <= now.timestamp():
        msg = (
            "'Expiration time' claim ('exp') must be a numeric value representing the future time "
            "at which the assertion expires"
        )
        raise ApiError(401, msg)
    return Identity(token, "app", number_of(app.id), app.id, HOURLY["app"])


def installation_for(
    state: State, app_id: str, *, repository: Repository | None = None, account: str = ""
) -> Installation:
    for found in state.installations.values():
        of_account = not account or found.account.lower() == account.lower()
        of_repository = repository is None or found.covers(repository)
        if found.app_id == app_id and of_account and of_repository:
            return found
    raise not_found()


def create_token(
    state: State, installation: Installation, body: Mapping[str, Any]
) -> tuple[Identity, list[Repository] | None]:
    """An installation token, and the repositories it is limited to. 422 for more than granted."""
    repositories = _narrowed(state, installation, body)
    permissions = dict(body.get("permissions") or installation.permissions)
    for name, level in permissions.items():
        if _RANK[level] > _RANK.get(installation.permissions.get(name, ""), 0):
            msg = "The permissions requested are not granted to this installation."
            raise ApiError(422, msg)
    reachable = [
        found
        for found in state.repositories.values()
        if installation.covers(found) and (repositories is None or found in repositories)
    ]
    identity = Identity(
        token="ghs_" + secrets.token_hex(18),
        kind="installation",
        id=installation.id,
        login=installation.app_id,
        limit=HOURLY["installation"],
        repos={found.full_name.lower(): "admin" for found in reachable},
        orgs={installation.account.lower(): "admin"},
        permissions={"metadata": "read", **permissions},
        expires_at=state.now() + LIFETIME,
    )
    state.identities[identity.token] = identity
    state.record(
        "installation_token_created",
        app_id=installation.app_id,
        permissions=dict(identity.permissions or {}),
        repositories=sorted(identity.repos),
    )
    return identity, repositories


def _narrowed(
    state: State, installation: Installation, body: Mapping[str, Any]
) -> list[Repository] | None:
    if "repositories" not in body:
        return None
    found = [
        state.repository(f"{installation.account}/{name}")
        for name in string_list(body, "repositories")
    ]
    if not all(one is not None and installation.covers(one) for one in found):
        msg = (
            "There is at least one repository that does not exist or is not accessible to the "
            "parent installation."
        )
        raise ApiError(422, msg)
    return [one for one in found if one is not None]
