"""Stop a fleet: whatever is left of it, in whatever state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from runner_fleet.ec2 import Ec2
from runner_fleet.errors import gathered
from runner_fleet.github import GitHub
from runner_fleet.provisioning.identity import FLEET_TAG, fleet_mark
from runner_fleet.provisioning.options.stop import StopOptions
from runner_fleet.provisioning.report import counted
from runner_fleet.provisioning.take_back import Taken, take_back

TERMINATION_TIMEOUT = 1200.0
"""Seconds to wait for `terminated`: GPU instances take more than five minutes
(bottlerocket-os/bottlerocket-test-system#337)."""


SEARCH_PAUSES = (0.0, 2.0, 4.0, 6.0)
"""Seconds between looks for a fleet without a mapping: its start may have been killed a moment ago,
with the launch under way (EC2 developer guide, eventual consistency)."""


@dataclass(frozen=True)
class Stop:
    """One stop: what it works with. Without `github` only the instances are ended."""

    options: StopOptions
    github: GitHub | None
    ec2: Ec2
    say: Callable[[str], None]
    hurried: Callable[[], bool] = lambda: False  # GitHub leaves a cancelled step 10 s
    sleep: Callable[[float], None] = time.sleep

    def take_back(self) -> Taken:
        """Everything taken back that can be; what could not is in `problems`."""
        problems = list(self.options.problems)
        ids = list(self.options.mapping)
        with gathered(problems):
            ids += self._search()
        labels = [*self.options.mapping.values(), fleet_mark(self.options.fleet_id)]
        taken = take_back(ids, labels, self.ec2, self.github, self.sleep)
        taken.problems[:0] = problems
        return taken

    def _search(self) -> list[str]:
        """The instances of the fleet; one look is enough when the mapping names them anyway."""
        fleet_id = self.options.fleet_id
        if not fleet_id:
            return []
        for pause in SEARCH_PAUSES[:1] if self.options.mapping else SEARCH_PAUSES:
            if pause and self.hurried():
                break
            self.sleep(pause)
            found = self.ec2.instances_of(FLEET_TAG, fleet_id)
            if found:
                return list(found)
        if not self.options.mapping:
            self.say(f"There is no instance of fleet {fleet_id} in {self.ec2.region}")
        return []

    def wait(self, taken: Taken) -> None:
        """If asked to, return when the instances are terminated; raises `CloudError`."""
        if self.options.wait and taken.terminated:
            self.say(f"Waiting until {counted(taken.terminated, 'instance')} ended ...")
            self.ec2.wait_terminated(taken.terminated, TERMINATION_TIMEOUT)
