"""stop-runner: take back what start-runner started, whatever became of it; or all leftovers."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner_fleet import action
from runner_fleet.cancel import Cancellation
from runner_fleet.errors import FleetError, InputError, gathered
from runner_fleet.github_access import REPOSITORY
from runner_fleet.provisioning.input_order import in_order
from runner_fleet.provisioning.options.stop import ACTION, StopOptions, Sweep, stop_options

if TYPE_CHECKING:
    from runner_fleet.ec2 import Ec2
    from runner_fleet.github import GitHub

NOTHING = "Nothing to stop: instance_mapping is empty and there is no fleet_id"


def main(reporter: action.Reporter) -> None:
    cancellation = Cancellation()
    cancellation.install()
    options = stop_options(action.inputs(), os.environ)
    if not options.named and options.sweep is None and not options.can_look:
        reporter.notice(f"{NOTHING}, and no region or no run whose instances could be looked for")
        reporter.output("orphans", "[]")
        return

    from runner_fleet.ec2 import Ec2
    from runner_fleet.ec2_clients import READ_TIMEOUT
    from runner_fleet.github import GitHub

    github, access = None, options.github
    if access is not None:
        for secret in access.secrets:
            reporter.mask(secret)
        github = GitHub.of(access, ACTION, reporter.mask)
    several = len(options.regions) > 1 or options.sweep is not None
    patience = options.region_timeout if several else READ_TIMEOUT
    ec2: dict[str, Ec2] = {}
    problems = list(options.problems)
    for region in options.regions:
        with gathered(problems):
            client = Ec2(region, ACTION, patience)
            client.check_region()
            ec2[region] = client
    problems = in_order(problems, ACTION)
    if not ec2:
        raise InputError(*problems)
    partial = options.partial or len(ec2) < len(options.regions)
    options = replace(options, problems=tuple(problems), partial=partial)
    if options.sweep is not None and not options.named and github is not None:
        _sweep(options, options.sweep, github, ec2, reporter)
    else:
        _stop(options, github, ec2, cancellation, reporter)


def _stop(
    options: StopOptions,
    github: GitHub | None,
    ec2: dict[str, Ec2],
    cancellation: Cancellation,
    reporter: action.Reporter,
) -> None:
    """Stop what is named; if nothing is, what this run is known to have left."""
    from runner_fleet.provisioning import report
    from runner_fleet.provisioning.own import Own, OwnSearch
    from runner_fleet.provisioning.stop import Stop
    from runner_fleet.provisioning.take_back import Taken

    # A cancelled clean-up is a clean-up all the same: finish within the time GitHub leaves.
    with cancellation.shield():
        hurried = cancellation.is_requested
        own = Own()
        if not options.named:
            own = OwnSearch(options, github, ec2, hurried).find()
            for line in own.said:
                reporter.say(line)
            for line in own.warnings:
                reporter.warning(line)
            if not (own.ours or own.problems or options.partial):
                if own.doubtful:
                    left = report.counted(own.doubtful, "instance")
                    reporter.notice(f"Nothing was stopped; {left} left alone")
                    reporter.summary(report.stopped(Taken(), time.time(), ec2, own))
                else:
                    reporter.notice(f"{NOTHING}, and no instance of this run is this job's")
                reporter.output("orphans", "[]")
                return
        stop = Stop(options, github, ec2, reporter.say, own, hurried)
        taken = stop.take_back()
        for name in taken.unknown:
            where = " and ".join(ec2)
            reporter.say(f"{name}: EC2 does not know this instance in {where}, or it has ended")
        for name in taken.busy:
            reporter.warning(f"{name} still had a job; its instance is terminated all the same")
        for problem in taken.problems:
            reporter.error(problem)
        reporter.say(
            f"{report.counted(taken.terminated, 'instance')} terminated, "
            f"{len(taken.ended_before)} had ended, "
            f"{report.counted(taken.removed, 'registration')} removed"
        )
        reporter.summary(report.stopped(taken, time.time(), ec2, own))
        reporter.output("orphans", "[]")
    stop.wait(taken)
    if taken.problems:
        raise FleetError  # each was said above


def _sweep(
    options: StopOptions,
    sweep: Sweep,
    github: GitHub,
    ec2: dict[str, Ec2],
    reporter: action.Reporter,
) -> None:
    """End what no run of the repository needs any more; or say what that would be."""
    from runner_fleet.provisioning import report
    from runner_fleet.provisioning.sweep import Sweeper

    repositories = dict.fromkeys((github.repository, options.caller.repository))
    swept = Sweeper(
        repository=github.repository,
        run_repositories=tuple(name for name in repositories if name),
        # Elsewhere than in a repository others' runners are registered, too.
        exclusive=github.scope.startswith(REPOSITORY),
        github=github,
        ec2=ec2,
        min_age=sweep.min_age,
        dry_run=sweep.dry_run,
        region_timeout=options.region_timeout,
        partial=options.partial,
    ).run()
    problems = [*options.problems, *swept.problems]
    for row in swept.rows:
        reporter.say(f"{row.kind} {row.name}: {row.outcome}: {row.why}")
    for problem in problems:
        reporter.error(problem)
    orphans = [row for row in swept.rows if row.orphan]
    reporter.say(f"{report.counted(orphans, 'orphan')} in {', '.join(ec2)}")
    reporter.summary(report.swept(swept.rows, problems, dry_run=sweep.dry_run))
    reporter.output("orphans", json.dumps([row.plain() for row in orphans]))
    if problems:
        raise FleetError  # each was said above


if __name__ == "__main__":
    action.run(main, "Stop")
