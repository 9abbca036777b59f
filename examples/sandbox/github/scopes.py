"""Where runners are registered, and which repositories they serve."""

from __future__ import annotations

from urllib.parse import urlsplit

from sandbox.github.state import State

ENTERPRISE = "enterprise:"


def serves(scope: str, repository: str) -> bool:
    """Whether a runner of `scope` may run jobs of `repository`."""
    if scope.startswith(ENTERPRISE):
        return True
    if "/" in scope:
        return scope.lower() == repository.lower()
    return scope.lower() == repository.partition("/")[0].lower()


def canonical(state: State, scope: str) -> str | None:
    """The scope in the spelling it was created with, or None if it does not exist."""
    if scope.startswith(ENTERPRISE):
        return scope.lower()
    if "/" in scope:
        repository = state.repository(scope)
        return repository.full_name if repository else None
    found = state.organizations.get(scope.lower())
    return found[1] if found else None


def from_url(state: State, url: str) -> str | None:
    """The scope that the `--url` of config.sh names."""
    path = urlsplit(url).path.strip("/")
    if path.startswith("enterprises/"):
        return ENTERPRISE + path.partition("/")[2].lower()
    return canonical(state, path) if path.count("/") <= 1 and path else None
