"""stop-runner: take back what start-runner started, whatever became of it."""

from __future__ import annotations

import os

from runner_fleet import action
from runner_fleet.cancel import Cancellation
from runner_fleet.errors import FleetError
from runner_fleet.provisioning.options.stop import stop_options


def main(reporter: action.Reporter) -> None:
    cancellation = Cancellation()
    cancellation.install()
    options = stop_options(action.inputs(), os.environ)
    if options.nothing_to_stop:
        reporter.notice("Nothing to stop: instance_mapping is empty and there is no fleet_id")
        return

    from runner_fleet.ec2 import Ec2
    from runner_fleet.github import GitHub
    from runner_fleet.provisioning import report
    from runner_fleet.provisioning.stop import Stop

    github, access = None, options.github
    if access is not None:
        for secret in access.secrets:
            reporter.mask(secret)
        github = GitHub.of(access, "stop-runner", reporter.mask)
    stop = Stop(
        options=options,
        github=github,
        ec2=Ec2(options.region, "stop-runner"),
        say=reporter.say,
        hurried=cancellation.is_requested,
    )
    # A cancelled clean-up is a clean-up all the same: finish within the time GitHub leaves.
    with cancellation.shield():
        taken = stop.take_back()
        for name in taken.unknown:
            reporter.say(f"{name}: EC2 does not know this instance, or it has ended")
        for name in taken.busy:
            reporter.warning(f"{name} still had a job; its instance is terminated all the same")
        for problem in taken.problems:
            reporter.error(problem)
        reporter.say(
            f"{report.counted(taken.terminated, 'instance')} terminated, "
            f"{len(taken.ended_before)} had ended, "
            f"{report.counted(taken.removed, 'registration')} removed"
        )
        reporter.summary(report.stopped(taken))
    stop.wait(taken)
    if taken.problems:
        raise FleetError  # each was said above


if __name__ == "__main__":
    action.run(main)
