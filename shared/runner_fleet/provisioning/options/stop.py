"""What stop-runner was asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner_fleet.provisioning.identity import FLEET_ID, Caller
from runner_fleet.provisioning.inputs import InputReader, shown
from runner_fleet.provisioning.options.aws import check_aws, regions, says_a_region
from runner_fleet.provisioning.options.github import GitHubAccess, github_access

ACTION = "stop-runner"

_MIN_AGE = 60  # minutes


@dataclass(frozen=True)
class Sweep:
    """Look for what no run needs any more."""

    min_age: int  # seconds that an instance must have lived
    dry_run: bool


@dataclass(frozen=True)
class StopOptions:
    """Either what is named, or a sweep; if neither, what this run left."""

    caller: Caller
    github: GitHubAccess | None  # None: it cannot be used, for a reason in `problems`
    regions: tuple[str, ...]
    partial: bool  # another one is none: it may stand for the one where an instance lives
    region_timeout: float  # seconds for one of several regions
    mapping: dict[str, str]  # instance id to label
    fleet_id: str
    sweep: Sweep | None
    wait: bool
    problems: tuple[str, ...]  # with other inputs; what can be stopped is stopped all the same

    @property
    def named(self) -> bool:
        """Whether the inputs say what to stop."""
        return bool(self.mapping or self.fleet_id)

    @property
    def can_look(self) -> bool:
        """Whether this run's instances can be looked for by its identity."""
        return bool(self.regions and self.caller.repository and self.caller.run_id != "0")


def stop_options(inputs: Mapping[str, str], environ: Mapping[str, str]) -> StopOptions:
    """Raises `InputError` only for what makes stopping impossible.

    Everything else that is wrong must not keep an instance alive that the good inputs name: it is
    noted in `problems`, to be reported when the rest is done. Without names there need be no
    region: then nothing can be looked for.
    """
    read = InputReader(inputs, ACTION)
    mapping = read.mapping("instance_mapping")
    form = "a fleet_id of start-runner (run-attempt-job-8 characters)"
    fleet_id = read.matching("fleet_id", FLEET_ID, form)
    wait = read.boolean("wait")
    limit = read.integer("region_timeout", 60, maximum=3600)
    sweep = _sweep(read)
    named = bool(mapping or fleet_id)
    if named and sweep is not None:
        text = "cannot be combined with instance_mapping or fleet_id: sweep in a step of its own"
        read.problem("sweep", text)
    if sweep is not None and not named and wait:
        read.problem("wait", "is not for a sweep, which never waits: leave it out")
    # It may be asked for in so many words that nothing be ended.
    harmless = read.text("dry_run").lower() == "true"
    if harmless and not read.text("sweep"):
        read.problem("dry_run", "is only for a sweep: set sweep to orphans, or leave dry_run out")
    hopeless = bool(read.problems) and (harmless or not named)
    before = len(read.problems)
    github = github_access(read, environ)
    usable = len(read.problems) == before
    where: tuple[str, ...] = ()
    if named or sweep is not None or says_a_region(read, environ):
        where = regions(read, environ)
        hopeless |= not where or (sweep is not None and not usable)
    check_aws(read, environ)
    if hopeless:
        read.finish()
    return StopOptions(
        caller=Caller.read(environ),
        github=github if usable else None,
        regions=where,
        partial=read.wrong("aws_region_name"),
        region_timeout=limit,
        mapping=mapping,
        fleet_id=fleet_id,
        sweep=sweep,
        wait=wait,
        problems=read.report(),
    )


def _sweep(read: InputReader) -> Sweep | None:
    wanted = read.text("sweep")
    dry_run = read.boolean("dry_run", default=True)
    min_age = read.integer("min_age_minutes", _MIN_AGE, minimum=0)
    if wanted == "orphans":
        return Sweep(60 * min_age, dry_run)
    if wanted:
        read.problem("sweep", f"{shown(wanted)} is not 'orphans', the only thing to sweep for")
    elif min_age != _MIN_AGE:
        text = "is only for a sweep: set sweep to orphans, or leave it out"
        read.problem("min_age_minutes", text)
    return None
