"""What stop-runner was asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner_fleet.provisioning.inputs import InputReader
from runner_fleet.provisioning.options.aws import check_aws, region
from runner_fleet.provisioning.options.github import GitHubAccess, github_access


@dataclass(frozen=True)
class StopOptions:
    github: GitHubAccess | None  # None: it cannot be used, for a reason in `problems`
    region: str
    mapping: dict[str, str]  # instance id to label
    fleet_id: str
    wait: bool
    problems: tuple[str, ...]  # with other inputs; what can be stopped is stopped all the same

    @property
    def nothing_to_stop(self) -> bool:
        return not self.mapping and not self.fleet_id


def stop_options(inputs: Mapping[str, str], environ: Mapping[str, str]) -> StopOptions:
    """Raises `InputError` only for what makes stopping impossible.

    Everything else that is wrong must not keep an instance alive that the good inputs name: it is
    noted in `problems`, to be reported when the rest is done.
    """
    read = InputReader(inputs)
    mapping = read.mapping("instance_mapping")
    fleet_id = read.matching("fleet_id", r"[A-Za-z0-9._-]{1,256}", "a fleet_id of start-runner")
    wait = read.boolean("wait")
    if not mapping and not fleet_id:
        read.finish()
        return StopOptions(None, "", {}, "", wait, ())
    before = len(read.problems)
    github = github_access(read, environ)
    usable = len(read.problems) == before
    where = region(read, environ)
    check_aws(read, environ)
    if not where:
        read.finish()
    return StopOptions(
        github=github if usable else None,
        region=where,
        mapping=mapping,
        fleet_id=fleet_id,
        wait=wait,
        problems=tuple(read.problems),
    )
