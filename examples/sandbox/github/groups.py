"""Runner groups: which repositories the runners of an organization or enterprise serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.github.errors import not_found
from sandbox.github.state import State, number_of

DEFAULT = 1


@dataclass(frozen=True)
class RunnerGroup:
    """`repositories` are full names in lower case; None: all."""

    id: int
    name: str
    scope: str
    repositories: frozenset[str] | None = None

    def serves(self, repository: str) -> bool:
        return self.repositories is None or repository.lower() in self.repositories


def add(
    state: State, scope: str, name: str, repositories: Sequence[str] | None = None
) -> RunnerGroup:
    """A group of an organization or enterprise, for these repositories (full names) or all."""
    chosen = None if repositories is None else frozenset(one.lower() for one in repositories)
    with state.transaction():
        found = RunnerGroup(number_of(f"{scope} {name}"), name, scope, chosen)
        state.groups[found.id] = found
    return found


def of(state: State, scope: str) -> list[RunnerGroup]:
    """The groups of a scope; a repository has only the default one."""
    default = RunnerGroup(DEFAULT, "Default", scope)
    return [default, *(found for found in state.groups.values() if found.scope == scope)]


def by_id(state: State, scope: str, number: Any) -> RunnerGroup:
    for found in of(state, scope):
        if found.id == number:
            return found
    raise not_found()


def by_name(state: State, scope: str, name: str) -> RunnerGroup:
    """Case-sensitive or not is not documented; the name as it was written is safe."""
    for found in of(state, scope):
        if found.name == name:
            return found
    raise not_found()


def body(group: RunnerGroup, runners_url: str) -> dict[str, Any]:
    return {
        "id": group.id,
        "name": group.name,
        "visibility": "all" if group.repositories is None else "selected",
        "default": group.id == DEFAULT,
        "runners_url": runners_url,
        "inherited": False,
        "allows_public_repositories": group.id == DEFAULT,
        "restricted_to_workflows": False,
        "selected_workflows": [],
        "workflow_restrictions_read_only": False,
    }
