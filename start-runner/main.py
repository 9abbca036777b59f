"""start-runner: launch ephemeral EC2 instances that are self-hosted runners of a repository."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from runner_fleet import action
from runner_fleet.cancel import Cancellation
from runner_fleet.errors import FleetError
from runner_fleet.provisioning.check import PROBLEM, WARNING, Check
from runner_fleet.provisioning.options.start import ACTION, start_options


def main(reporter: action.Reporter) -> None:
    cancellation = Cancellation()
    cancellation.install()
    options = start_options(action.inputs(), os.environ)
    for secret in options.github.secrets:
        reporter.mask(secret)

    # Loaded only now: whoever made a mistake in the inputs hears of it at once.
    from runner_fleet.ec2 import Ec2
    from runner_fleet.github import GitHub
    from runner_fleet.provisioning import report_start as report
    from runner_fleet.provisioning.context import StartContext
    from runner_fleet.provisioning.identity import Fleet, label_source
    from runner_fleet.provisioning.loss import RunnerLostError
    from runner_fleet.provisioning.preflight import Preflight
    from runner_fleet.provisioning.start import Start

    access = options.github
    draw = label_source(os.environ)
    fleet = Fleet.create(options.caller, access.repository, options.placement.count, draw)
    reporter.output("fleet_id", fleet.id)
    regions = ",".join(options.placement.regions)
    reporter.output("region", regions)
    reporter.say(f"Fleet {fleet.id} in {regions}, for {access.place}")

    github = GitHub.of(access, ACTION, reporter.mask)
    clouds = {region: Ec2(region, ACTION) for region in options.placement.regions}
    context = StartContext(options, fleet, github, clouds, log=reporter)
    if options.dry_run:
        conclude(reporter, Preflight(context).run())
        return

    def launched(mapping: dict[str, str], region: str) -> None:
        reporter.output("mapping", json.dumps(mapping))
        reporter.output("region", region)
        reporter.output("instances", json.dumps(list(mapping.values())))
        reporter.output("runs_on", json.dumps(fleet.runs_on))

    start = Start(context, launched, cancellation)
    try:
        progress = start.run()
    except BaseException as error:
        reporter.detail(report.taken_back(start.trail))
        if isinstance(error, RunnerLostError):
            reporter.detail(report.lost(error))
        reporter.detail(report.attempts(start.trail))
        raise
    if fewer := report.fewer(len(progress.instances), options.placement):
        reporter.warning(fewer)
    reporter.summary(report.started(progress, start.runner_names, fleet.id, start.trail, options))


def conclude(reporter: action.Reporter, checks: Sequence[Check]) -> None:
    """Tell what a dry run found. Raises `FleetError` when something is wrong."""
    from runner_fleet.provisioning import report_start as report

    several = len({check.region for check in checks if check.region}) > 1
    for check in checks:
        where = f"{check.region}: " if several and check.region else ""
        reporter.say(f"{check.outcome}: {where}{check.what}: {check.detail}")
    for warning in told(checks, WARNING, several=several):
        reporter.warning(warning)
    reporter.summary(report.checked(checks))
    problems = told(checks, PROBLEM, several=several)
    for problem in problems:
        reporter.error(problem)
    if problems:
        raise FleetError  # each was said above
    reporter.say("Nothing that was checked speaks against a launch. Nothing was launched")


def told(checks: Sequence[Check], outcome: str, *, several: bool) -> list[str]:
    """The details of an outcome, each once, with all regions that have it."""
    regions: dict[str, list[str]] = {}
    for check in checks:
        if check.outcome == outcome:
            regions.setdefault(check.detail, []).append(check.region)
    return [
        f"{', '.join(dict.fromkeys(where))}: {detail}" if several and all(where) else detail
        for detail, where in regions.items()
    ]


if __name__ == "__main__":
    action.run(main, "Start")
