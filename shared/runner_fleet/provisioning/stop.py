"""Stop a fleet: whatever is left of it, in whatever state."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runner_fleet.at_once import Join, at_once
from runner_fleet.ec2 import Ec2
from runner_fleet.errors import gathered
from runner_fleet.github import GitHub
from runner_fleet.provisioning.identity import FLEET_TAG, fleet_mark
from runner_fleet.provisioning.options.stop import StopOptions
from runner_fleet.provisioning.own import Own
from runner_fleet.provisioning.report import counted
from runner_fleet.provisioning.take_back import (
    UNKNOWN_PAUSES,
    Taken,
    end_instances,
    own_label,
    remove_runners,
)

TERMINATION_TIMEOUT = 1200.0
"""Seconds to wait for `terminated`: GPU instances take more than five minutes
(bottlerocket-os/bottlerocket-test-system#337)."""


SEARCH_PAUSES = (0.0, 2.0, 4.0, 6.0)
"""Seconds between looks for a fleet without a mapping: its start may have been killed a moment ago,
with the launch under way (EC2 developer guide, eventual consistency)."""


@dataclass(frozen=True)
class Stop:
    """One stop: what it works with. Without `github` only the instances are ended.

    `own` is what the run's identity leads to, when the options name nothing.
    """

    options: StopOptions
    github: GitHub | None
    ec2: Mapping[str, Ec2]  # by region
    say: Callable[[str], None]
    own: Own = field(default_factory=Own)
    hurried: Callable[[], bool] = lambda: False  # GitHub leaves a cancelled step 10 s
    sleep: Callable[[float], None] = time.sleep
    join: Join = threading.Thread.join

    def take_back(self) -> Taken:
        """Everything taken back that can be; what could not is in `problems`."""
        taken = Taken(problems=[*self.options.problems, *self.own.problems])
        regions = list(self.ec2 if self.options.named else self.own.ours)
        failed = False
        for pause in self._pauses():
            if not regions or (pause and self.hurried()):
                break
            self.sleep(pause)
            before = taken.accounted
            troubled = self._in_each(regions, before, taken)
            failed = failed or bool(troubled)
            regions = [name for name in regions if name not in troubled]
            if self._complete(before, taken):
                break
        absent = [key for key in self.options.mapping if key not in taken.accounted]
        (taken.left if failed else taken.unknown).extend(absent)
        if self.options.named and not taken.accounted and not failed:
            where = ", ".join(self.ec2)
            self.say(f"There is no instance of fleet {self.options.fleet_id} in {where}")
        known = {key: own_label(one) for key, one in taken.seen.items()}
        mapping = dict.fromkeys(taken.accounted, "") | known | self.options.mapping
        # Registered beforehand by a start that launched nothing: there is no instance to tell.
        marks = (fleet_mark(self.options.fleet_id),) if self.options.fleet_id else ()
        if self.github is not None and (mapping or marks):
            remove_runners(mapping, marks, self.github, taken, self.sleep)
        return taken

    def _pauses(self) -> tuple[float, ...]:
        """Seconds before each look. A single region is asked to terminate what is named at once,
        and asked again for what it does not know."""
        if self.options.mapping:
            return (0.0, *UNKNOWN_PAUSES) if len(self.ec2) > 1 else (0.0,)
        return SEARCH_PAUSES if self.options.fleet_id else (0.0,)

    def _complete(self, before: set[str], taken: Taken) -> bool:
        """A fleet of which nobody knows the size is when another look shows no more of it."""
        if self.options.mapping:
            return taken.accounted.issuperset(self.options.mapping)
        return bool(before) and taken.accounted == before

    def _in_each(self, regions: list[str], before: set[str], taken: Taken) -> set[str]:
        """End what is in the regions, but for those instances of which it is known what became;
        the regions where something went wrong."""
        if len(self.ec2) == 1:
            (region,) = regions
            one = self._end(region, before)
            taken.add(one)
            return {region} if one.problems else set()
        answers = at_once(
            regions,
            lambda region: self._end(region, before),
            self.options.region_timeout,
            self.join,
        )
        for region, one in answers.found.items():
            one.problems = [f"{region}: {line}" for line in one.problems]
            taken.add(one)
        taken.problems += answers.problems
        return {*answers.failed, *(name for name, one in answers.found.items() if one.problems)}

    def _end(self, region: str, before: set[str]) -> Taken:
        """End what one region has of the instances, by id or as part of the fleet."""
        ec2, here = self.ec2[region], Taken()
        ids = [key for key in self.options.mapping if key not in before]
        wanted = ids if len(self.ec2) == 1 else []
        with gathered(here.problems):
            here.seen.update(self.own.ours.get(region, {}))
            if self.options.fleet_id:
                here.seen.update(ec2.instances_of(FLEET_TAG, self.options.fleet_id))
            if len(self.ec2) > 1 and not here.seen.keys() >= set(ids):
                here.seen.update(ec2.instances(ids))
        new = [key for key in (*wanted, *here.seen) if key not in before]
        end_instances(new, ec2, here, self.sleep)
        here.region_of.update(dict.fromkeys(here.accounted, region))
        return here

    def wait(self, taken: Taken) -> None:
        """If asked to, return when the instances are terminated; raises `CloudError`."""
        if not self.options.wait or not taken.terminated:
            return
        self.say(f"Waiting until {counted(taken.terminated, 'instance')} ended ...")
        end = time.monotonic() + TERMINATION_TIMEOUT
        for region, ec2 in self.ec2.items():
            ids = [key for key in taken.terminated if taken.region_of.get(key) == region]
            if ids:
                ec2.wait_terminated(ids, end - time.monotonic())
