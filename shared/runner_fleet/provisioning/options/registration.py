"""How the runners of a start are registered."""

from __future__ import annotations

from dataclasses import dataclass

from runner_fleet.github_access import REPOSITORY
from runner_fleet.provisioning.inputs import InputReader, shown
from runner_fleet.provisioning.options.github import GitHubAccess

TOKEN, JIT = "token", "jit"

JIT_LABELS = 100
"""Labels of a runner that is registered beforehand (REST API, generate-jitconfig)."""

OWN_LABELS = 3
"""Labels of ours that such a runner carries at most: its own, the fleet's, the start's."""

_GROUP_LENGTH = 128


@dataclass(frozen=True)
class RegistrationOptions:
    kind: str  # TOKEN: the instance registers itself; JIT: registered before it is launched
    group: str  # name of the runner group; empty: the default one

    @property
    def jit(self) -> bool:
        return self.kind == JIT


def registration(
    read: InputReader, github: GitHubAccess, extra_labels: tuple[str, ...]
) -> RegistrationOptions:
    kind = read.one_of("registration", TOKEN, JIT)
    group = read.text("runner_group")
    if group and github.scope.startswith(REPOSITORY):
        read.problem(
            "runner_group",
            "only organizations and enterprises have runner groups: give one of these inputs",
        )
    elif group and (not group.isprintable() or len(group) > _GROUP_LENGTH):
        read.problem("runner_group", f"{shown(group)} is not the name of a runner group")
    if kind == JIT and len(extra_labels) > JIT_LABELS - OWN_LABELS:
        read.problem(
            "extra_gh_labels",
            f"{len(extra_labels)} labels; {JIT_LABELS - OWN_LABELS} are allowed with "
            "registration: jit",
        )
    return RegistrationOptions(kind, group)
