"""Runner groups of an organization or enterprise: who may use the runners in them."""

from __future__ import annotations

from urllib.parse import quote

from runner_fleet.errors import InputError
from runner_fleet.github import GitHub
from runner_fleet.github_access import ORGANIZATION
from runner_fleet.github_wire import understood


def group_id(github: GitHub, name: str) -> int:
    """The id of the runner group `name` of the client's scope.

    Raises `InputError` when there is none, or when it is not for the client's repository: a job
    there would wait for ever.
    """
    path = f"/{github.scope}/actions/runner-groups?per_page=100"
    owner, _, repository = github.repository.partition("/")
    checked = github.scope.lower() == f"{ORGANIZATION}/{owner}".lower()
    if checked:
        usable = _groups(github, f"{path}&visible_to_repository={quote(repository)}")
        if name in usable:
            return usable[name]
    groups = _groups(github, path)
    if name not in groups:
        known = ", ".join(sorted(groups)) or "none"
        msg = f"runner_group: there is no runner group {name!r} (there are: {known})"
        raise InputError(msg)
    if checked:
        msg = (
            f"runner_group: the runner group {name!r} is not for {github.repository}: add the "
            "repository in the organization's settings, Actions, Runner groups"
        )
        raise InputError(msg)
    return groups[name]


def _groups(github: GitHub, path: str) -> dict[str, int]:
    with understood("GET", path):
        groups = github.items(path, "runner_groups")
        return {str(group["name"]): int(group["id"]) for group in groups}
