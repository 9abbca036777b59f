"""Who may do what, and how GitHub says no.

The permissions are those that docs.github.com/rest/authentication lists under "Permissions required
for GitHub Apps"; what a workflow's `permissions:` can hold is part of its syntax.
"""

from __future__ import annotations

from typing import Literal

from sandbox.github.errors import ApiError, not_found
from sandbox.github.records import Identity
from sandbox.github.scopes import ENTERPRISE

Level = Literal["read", "write"]

# What a role in a repository comes to, in the permissions of Apps and fine-grained tokens.
_ROLE_PERMISSIONS: dict[str, dict[str, Level]] = {
    "read": {"metadata": "read", "actions": "read", "contents": "read"},
    "write": {
        "metadata": "read",
        "actions": "write",
        "contents": "write",
        "actions_variables": "write",
    },
    "admin": {
        "metadata": "read",
        "actions": "write",
        "contents": "write",
        "actions_variables": "write",
        "administration": "write",
    },
}
# The `permissions:` of a workflow have no key for runners or variables.
_GITHUB_TOKEN = {"metadata", "actions", "contents"}
_RANK = {"none": 0, "read": 1, "write": 2}


def role(identity: Identity, scope: str) -> str | None:
    """The role of the token in the scope; None where it cannot see that it exists."""
    if scope.startswith(ENTERPRISE):
        return identity.enterprises.get(scope.removeprefix(ENTERPRISE).lower())
    if "/" in scope:
        return identity.repos.get(scope.lower())
    return identity.orgs.get(scope.lower())


def level(identity: Identity, scope: str, permission: str) -> str:
    """none, read or write."""
    held = role(identity, scope)
    if held is None:
        return "none"
    if "/" not in scope:
        granted = "write" if held == "admin" else "none"
    else:
        granted = _ROLE_PERMISSIONS[held].get(permission, "none")
        if identity.kind == "github-token" and permission not in _GITHUB_TOKEN:
            granted = "none"
    if identity.permissions is not None:
        narrowed = identity.permissions.get(permission, "none")
        granted = min(granted, narrowed, key=_RANK.__getitem__)
    return granted


def require(
    identity: Identity, scope: str, permission: str, needed: Level, *, run_control: bool = False
) -> None:
    """Raise what GitHub says to a token that may not; hidden things are simply not found."""
    if identity.kind == "anonymous":
        raise ApiError(401, "Requires authentication")
    held = role(identity, scope)
    by_app = identity.kind in ("installation", "github-token")
    if scope.startswith(ENTERPRISE) and identity.kind != "classic":
        held = None
    if held is None:
        raise not_found()
    if _RANK[level(identity, scope, permission)] >= _RANK[needed]:
        return
    headers = {"X-Accepted-GitHub-Permissions": f"{permission}={needed}"}
    if by_app:
        raise ApiError(403, "Resource not accessible by integration", headers=headers)
    if identity.kind == "fine-grained":
        message = "Resource not accessible by personal access token"
        raise ApiError(403, message, headers=headers)
    if run_control:
        raise ApiError(403, "Must have admin rights to Repository.")
    raise not_found()
