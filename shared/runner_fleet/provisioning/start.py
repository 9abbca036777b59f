"""Start a fleet: check before paying, launch it, wait for all; on any failure take all back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.errors import GitHubError
from runner_fleet.github import GitHub
from runner_fleet.provisioning.attempts import Trail
from runner_fleet.provisioning.examine import Examination
from runner_fleet.provisioning.identity import Fleet, runner_name
from runner_fleet.provisioning.loss import RunnerLostError
from runner_fleet.provisioning.options.start import StartOptions
from runner_fleet.provisioning.placing import Placing
from runner_fleet.provisioning.prepare import Plan, Preparation
from runner_fleet.provisioning.progress import Progress
from runner_fleet.provisioning.registration import place_each, register_all
from runner_fleet.provisioning.undo import WayBack
from runner_fleet.provisioning.wait import wait_until_online


@dataclass(frozen=True)
class Start:
    """One start: what it works with.

    `say` gets progress lines, `caution` what may fail one day, `warn` what is left behind, `mask`
    secrets that must not show in the log, `launched` the instances. `hide` takes secrets out of
    what others wrote, `show` gets a title and such lines. `trail` tells afterwards what was tried.
    """

    options: StartOptions
    fleet: Fleet
    github: GitHub
    clouds: Mapping[str, Ec2]  # by region
    say: Callable[[str], None]
    caution: Callable[[str], None]
    warn: Callable[[str], None]
    mask: Callable[[str], None]
    hide: Callable[[str], str]
    show: Callable[[str, Sequence[str]], None]
    launched: Callable[[dict[str, str], str], None]  # instance id to label; the region
    trail: Trail = field(default_factory=Trail)
    cancellation: Cancellation = field(default_factory=Cancellation)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def run(self) -> Progress:
        """All runners online; or everything taken back, and the `FleetError` that says why."""
        placement, trail = self.options.placement, self.trail
        plan = Preparation(
            self.options,
            self.fleet,
            self.github,
            self.clouds,
            mask=self.mask,
            say=self.say,
            caution=self.caution,
            clock=self.clock,
        ).plan()
        trail.skipped = plan.skipped
        with self._way_back().open():
            placing = Placing(
                fleet=self.fleet,
                plan=plan,
                clouds=self.clouds,
                timeout=placement.timeout,
                trail=trail,
                say=self.say,
                launched=lambda _: self._tell(),
                cancellation=self.cancellation,
                clock=self.clock,
                sleep=self.sleep,
            )
            if self.options.registration.jit:
                self._place_each(placing, plan)
            else:
                placing.place(placement.count, placement.minimum, plan.script)
            progress = self._wait(self.clouds[trail.region])
            # From here on nobody would take the fleet back.
            self.cancellation.finish()
            return progress

    def _wait(self, ec2: Ec2) -> Progress:
        self.github.patience.ends_in(self.options.timeout)
        try:
            return wait_until_online(
                self.trail.instances,
                self.trail.labels,
                ec2,
                self.github,
                timeout=self.options.timeout,
                say=self.say,
                clock=self.clock,
                sleep=self.sleep,
            )
        except RunnerLostError as error:
            # Before the way back: afterwards the consoles of those that still run are gone.
            raise Examination(ec2, self.hide, self.show, self.sleep).explain(error) from None

    @property
    def runner_names(self) -> dict[str, str]:
        """Instance id to the name of its runner."""
        by_jit = self.options.registration.jit
        return {
            key: self.fleet.jit_name(label) if by_jit else runner_name(label, key)
            for key, label in self.trail.labels.items()
        }

    def _place_each(self, placing: Placing, plan: Plan) -> None:
        """An instance for each runner, which is registered before it."""
        self.trail.registered = True
        extra, minimum = self.options.boot.extra_labels, self.options.placement.minimum
        configs = register_all(self.github, self.fleet, extra, plan.group_id, self.clock)
        for config in configs.values():
            self.mask(config.encoded)
        for config in place_each(placing, plan.script, configs, minimum):
            try:
                self.github.delete_runner(config.runner_id)
            except GitHubError as error:  # no reason to give up a fleet that is large enough
                self.caution(f"A registration is left for stop-runner to remove: {error}")

    def _way_back(self) -> WayBack:
        return WayBack(
            fleet=self.fleet,
            count=self.options.placement.count,
            github=self.github,
            clouds=self.clouds,
            trail=self.trail,
            say=self.say,
            warn=self.warn,
            cancellation=self.cancellation,
            sleep=self.sleep,
        )

    def _tell(self) -> None:
        self.launched(dict(self.trail.labels), self.trail.region)
