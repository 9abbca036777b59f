"""The way back of a start: whatever it launched is taken back, however it failed."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.errors import CloudError, gathered
from runner_fleet.provisioning.attempts import Trail
from runner_fleet.provisioning.context import StartContext
from runner_fleet.provisioning.identity import FLEET_TAG, fleet_mark
from runner_fleet.provisioning.placing import SEARCH_PAUSES
from runner_fleet.provisioning.report import counted
from runner_fleet.provisioning.take_back import take_back

PATIENCE = 5.0
"""Seconds in which a call to GitHub is repeated: it leaves a cancelled step 10 s."""


@dataclass(frozen=True)
class WayBack:
    """What is needed to undo a start."""

    context: StartContext
    trail: Trail  # filled while the start goes on
    cancellation: Cancellation

    @contextmanager
    def open(self) -> Iterator[None]:
        """Undo everything when the block fails, however it fails, and let the failure go on."""
        try:
            yield
        except BaseException:
            with self.cancellation.shield():
                self._undo()
            raise

    def _undo(self) -> None:
        fleet, github = self.context.fleet, self.context.github
        clouds, log = self.context.clouds, self.context.log
        github.patience.ends_in(PATIENCE)
        if not (self.trail.instances or self.trail.doubtful or self.trail.registered):
            return  # EC2 said no, each time it was asked: it launched nothing
        # Everything is in one region: a launch without a clear answer ends the walk, and so does
        # one that worked.
        ec2 = clouds[self.trail.region or next(iter(clouds))]
        log.say("Taking back what was started ...")
        problems: list[str] = []
        ids = [instance.id for instance in self.trail.instances]
        with gathered(problems):
            if self.trail.doubtful:
                ids += self._search(ec2, ids)
        taken = take_back(ids, [*fleet.labels, fleet_mark(fleet.id)], ec2, github, time.sleep)
        ended = len(taken.terminated) + len(taken.ended_before)
        self.trail.back = (
            f"{ended} of {counted(ids, 'instance')} ended, "
            f"{counted(taken.removed, 'registration')} removed"
        )
        log.say(self.trail.back)
        # The start knows that its own instances exist, whatever EC2 says of them so soon.
        left = len(taken.left) + len(taken.unknown)
        self.trail.left = [*problems, *taken.problems]
        if problems or left:
            self.trail.left.append(
                f"{left or len(fleet.labels)} instances may still run: give stop-runner the "
                f"fleet_id {fleet.id}. They end themselves after max_lifetime_minutes"
            )
        for line in self.trail.left:
            log.error(line)

    def _search(self, ec2: Ec2, known: Collection[str]) -> list[str]:
        """Other instances, of a launch whose reply was lost; raises when EC2 never says."""
        failure: CloudError | None = None
        for pause in SEARCH_PAUSES:
            time.sleep(pause)
            try:
                failure = None
                found = ec2.instances_of(FLEET_TAG, self.context.fleet.id)
            except CloudError as error:
                failure = error
                continue
            if others := [key for key in found if key not in known]:
                return others
        if failure is not None:
            raise failure
        return []
