"""start-runner: launch ephemeral EC2 instances that are self-hosted runners of a repository."""

from __future__ import annotations

import json
import os

from runner_fleet import action
from runner_fleet.cancel import Cancellation
from runner_fleet.provisioning.options.start import start_options


def main(reporter: action.Reporter) -> None:
    cancellation = Cancellation()
    cancellation.install()
    options = start_options(action.inputs(), os.environ)
    for secret in options.github.secrets:
        reporter.mask(secret)

    # Loaded only now: whoever made a mistake in the inputs hears of it at once.
    from runner_fleet.ec2 import Ec2
    from runner_fleet.github import GitHub
    from runner_fleet.provisioning import report
    from runner_fleet.provisioning.identity import Fleet, label_source
    from runner_fleet.provisioning.loss import RunnerLostError
    from runner_fleet.provisioning.start import Start

    access = options.github
    draw = label_source(os.environ)
    fleet = Fleet.create(options.caller, access.repository, options.placement.count, draw)
    reporter.output("fleet_id", fleet.id)
    regions = ",".join(options.placement.regions)
    reporter.output("region", regions)
    reporter.say(f"Fleet {fleet.id} in {regions}, for {access.place}")

    def launched(mapping: dict[str, str], region: str) -> None:
        reporter.output("mapping", json.dumps(mapping))
        reporter.output("region", region)
        reporter.output("instances", json.dumps(list(mapping.values())))
        reporter.output("runs_on", json.dumps(fleet.runs_on))

    start = Start(
        options=options,
        fleet=fleet,
        github=GitHub.of(access, "start-runner", reporter.mask),
        clouds={region: Ec2(region, "start-runner") for region in options.placement.regions},
        say=reporter.say,
        caution=reporter.warning,
        warn=reporter.error,
        mask=reporter.mask,
        hide=reporter.hide,
        show=reporter.group,
        launched=launched,
        cancellation=cancellation,
    )
    try:
        progress = start.run()
    except BaseException as error:
        if isinstance(error, RunnerLostError):
            reporter.summary(report.lost(error))
        reporter.summary(report.failed(start.trail.attempts))
        raise
    lifetime = options.boot.max_lifetime
    reporter.summary(
        report.started(progress, start.runner_names, fleet.id, start.trail.attempts, lifetime)
    )


if __name__ == "__main__":
    action.run(main)
