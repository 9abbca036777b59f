"""Start a fleet: check before paying, launch all, wait for all; on any failure take all back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Instance
from runner_fleet.github import GitHub
from runner_fleet.provisioning.examine import Examination
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.loss import RunnerLostError
from runner_fleet.provisioning.options.start import StartOptions
from runner_fleet.provisioning.prepare import Preparation
from runner_fleet.provisioning.progress import Progress
from runner_fleet.provisioning.undo import WayBack
from runner_fleet.provisioning.wait import wait_until_online


@dataclass(frozen=True)
class Start:
    """One start: what it works with.

    `say` gets progress lines, `warn` what is left behind, `mask` secrets that must not show in
    the log, `launched` the instances. `hide` takes secrets out of what others wrote, `show` gets
    a title and such lines.
    """

    options: StartOptions
    fleet: Fleet
    github: GitHub
    ec2: Ec2
    say: Callable[[str], None]
    warn: Callable[[str], None]
    mask: Callable[[str], None]
    hide: Callable[[str], str]
    show: Callable[[str, Sequence[str]], None]
    launched: Callable[[dict[str, str]], None]  # instance id to label, as soon as it is known
    cancellation: Cancellation = field(default_factory=Cancellation)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def run(self) -> Progress:
        """All runners online; or everything taken back, and the `FleetError` that says why."""
        launch = Preparation(self.options, self.fleet, self.github, self.ec2, self.mask).launch()
        instances: list[Instance] = []
        with self._way_back().open(instances):
            # A reply that comes while we are being cancelled must not be lost.
            with self.cancellation.shield():
                stopping = self.cancellation.is_requested
                instances += self.ec2.launch(launch, self.sleep, give_up=stopping)
                self.launched(self._mapping(instances))
            return self._wait(instances)

    def _wait(self, instances: list[Instance]) -> Progress:
        self.github.patience.ends_in(self.options.timeout)
        try:
            return wait_until_online(
                instances,
                self._mapping(instances),
                self.ec2,
                self.github,
                timeout=self.options.timeout,
                say=self.say,
                clock=self.clock,
                sleep=self.sleep,
            )
        except RunnerLostError as error:
            # Before the way back: afterwards the consoles of those that still run are gone.
            raise Examination(self.ec2, self.hide, self.show, self.sleep).explain(error) from None

    def _way_back(self) -> WayBack:
        return WayBack(
            fleet=self.fleet,
            count=self.options.placement.count,
            github=self.github,
            ec2=self.ec2,
            say=self.say,
            warn=self.warn,
            cancellation=self.cancellation,
            sleep=self.sleep,
        )

    def _mapping(self, instances: list[Instance]) -> dict[str, str]:
        return {instance.id: self.fleet.labels[instance.launch_index] for instance in instances}
