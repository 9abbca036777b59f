"""Start a fleet: check before paying, launch it, wait for all; on any failure take all back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.errors import GitHubError
from runner_fleet.provisioning.attempts import Trail
from runner_fleet.provisioning.context import StartContext
from runner_fleet.provisioning.examine import Examination
from runner_fleet.provisioning.identity import runner_name
from runner_fleet.provisioning.loss import RunnerLostError
from runner_fleet.provisioning.placing import Placing
from runner_fleet.provisioning.prepare import Plan, Preparation
from runner_fleet.provisioning.progress import Progress
from runner_fleet.provisioning.registration import place_each, register_all
from runner_fleet.provisioning.report import counted
from runner_fleet.provisioning.undo import WayBack
from runner_fleet.provisioning.wait import wait_until_online


@dataclass(frozen=True)
class Start:
    """One start. `launched` gets the instances; `trail` tells afterwards what was tried."""

    context: StartContext
    launched: Callable[[dict[str, str], str], None]  # instance id to label; the region
    cancellation: Cancellation
    trail: Trail = field(default_factory=Trail)

    def run(self) -> Progress:
        """All runners online; or everything taken back, and the `FleetError` that says why."""
        context, trail = self.context, self.trail
        placement = context.options.placement
        plan = Preparation(context, caution=context.log.warning).plan()
        trail.skipped = plan.skipped
        with WayBack(context, trail, self.cancellation).open():
            placing = Placing(
                fleet=context.fleet,
                plan=plan,
                clouds=context.clouds,
                timeout=placement.timeout,
                trail=trail,
                say=context.log.say,
                launched=lambda _: self._tell(),
                cancellation=self.cancellation,
            )
            if context.options.registration.jit:
                self._place_each(placing, plan)
            else:
                placing.place(placement.count, placement.minimum, plan.script)
            progress = self._wait(context.clouds[trail.region])
            # From here on nobody would take the fleet back.
            self.cancellation.finish()
            return progress

    def _wait(self, ec2: Ec2) -> Progress:
        github, log = self.context.github, self.context.log
        timeout = self.context.options.timeout
        github.patience.ends_in(timeout)
        try:
            return wait_until_online(
                self.trail.instances,
                self.trail.labels,
                ec2,
                github,
                timeout=timeout,
                say=log.say,
                clock=time.monotonic,
                sleep=time.sleep,
            )
        except RunnerLostError as error:
            # Before the way back: afterwards the consoles of those that still run are gone.
            raise Examination(ec2, log.hide, log.group, time.sleep).explain(error) from None

    @property
    def runner_names(self) -> dict[str, str]:
        """Instance id to the name of its runner."""
        by_jit = self.context.options.registration.jit
        return {
            key: self.context.fleet.jit_name(label) if by_jit else runner_name(label, key)
            for key, label in self.trail.labels.items()
        }

    def _place_each(self, placing: Placing, plan: Plan) -> None:
        """An instance for each runner, which is registered before it."""
        self.trail.registered = True
        options, github, log = self.context.options, self.context.github, self.context.log
        extra, minimum = options.boot.extra_labels, options.placement.minimum
        configs = register_all(github, self.context.fleet, extra, plan.group_id)
        for config in configs.values():
            log.mask(config.encoded)
        left = place_each(placing, plan.script, configs, minimum)
        try:
            while left:
                github.delete_runner(left[0].runner_id)
                del left[0]
        except GitHubError as error:  # it keeps no fleet that is large enough waiting
            many = counted(left, "registration")
            log.warning(f"{many} left for stop-runner to remove: {error}")

    def _tell(self) -> None:
        self.launched(dict(self.trail.labels), self.trail.region)
