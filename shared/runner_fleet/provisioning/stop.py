"""Stop a fleet: whatever is left of it, in whatever state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from runner_fleet.ec2 import Ec2
from runner_fleet.errors import CloudError, FleetError
from runner_fleet.github import GitHub
from runner_fleet.provisioning.identity import FLEET_TAG
from runner_fleet.provisioning.options import StopOptions
from runner_fleet.provisioning.take_back import Taken, take_back

TERMINATION_TIMEOUT = 1200.0
"""Seconds to wait for `terminated`: GPU instances take more than five minutes
(bottlerocket-os/bottlerocket-test-system#337)."""


@dataclass(frozen=True)
class Stop:
    """One stop: what it works with."""

    options: StopOptions
    github: GitHub
    ec2: Ec2
    say: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep

    def take_back(self) -> Taken:
        """Everything taken back that can be; what could not is in `problems`."""
        problems = list(self.options.problems)
        ids = list(self.options.mapping)
        if self.options.fleet_id:
            try:
                found = self.ec2.instances_of(FLEET_TAG, self.options.fleet_id)
            except FleetError as error:
                problems.extend(error.lines)
            else:
                ids += [key for key in found if key not in self.options.mapping]
        labels = self.options.mapping.values()
        taken = take_back(ids, labels, self.ec2, self.github, self.say, self.sleep)
        taken.problems[:0] = problems
        return taken

    def wait(self, taken: Taken) -> None:
        """If asked to, return when the instances are terminated; a failure goes to `problems`."""
        if not self.options.wait or not taken.terminated:
            return
        self.say(f"Waiting until {len(taken.terminated)} instances are terminated ...")
        try:
            self.ec2.wait_terminated(taken.terminated, TERMINATION_TIMEOUT)
        except CloudError as error:
            taken.problems.extend(error.lines)
