"""The way back of a start: whatever it launched is taken back, however it failed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.errors import CloudError, gathered
from runner_fleet.github import GitHub
from runner_fleet.provisioning.attempts import Trail
from runner_fleet.provisioning.identity import FLEET_TAG, Fleet, fleet_mark
from runner_fleet.provisioning.placing import SEARCH_PAUSES
from runner_fleet.provisioning.report import counted
from runner_fleet.provisioning.take_back import take_back

PATIENCE = 5.0
"""Seconds in which a call to GitHub is repeated: it leaves a cancelled step 10 s."""


@dataclass(frozen=True)
class WayBack:
    """What is needed to undo a start. `say` gets progress lines, `warn` what is left behind."""

    fleet: Fleet
    count: int  # instances that were asked for
    github: GitHub
    clouds: Mapping[str, Ec2]  # by region
    trail: Trail  # filled while the start goes on
    say: Callable[[str], None]
    warn: Callable[[str], None]
    cancellation: Cancellation
    sleep: Callable[[float], None]

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
        self.github.patience.ends_in(PATIENCE)
        if not (self.trail.instances or self.trail.doubtful or self.trail.registered):
            return  # EC2 said no, each time it was asked: it launched nothing
        # Everything is in one region: a launch without a clear answer ends the walk, and so does
        # one that worked.
        ec2 = self.clouds[self.trail.region or next(iter(self.clouds))]
        self.say("Taking back what was started ...")
        problems: list[str] = []
        ids = [instance.id for instance in self.trail.instances]
        with gathered(problems):
            if self.trail.doubtful:
                ids += self._search(ec2, ids)
        taken = take_back(
            ids, [*self.fleet.labels, fleet_mark(self.fleet.id)], ec2, self.github, self.sleep
        )
        ended = len(taken.terminated) + len(taken.ended_before)
        self.trail.back = (
            f"{ended} of {counted(ids, 'instance')} ended, "
            f"{counted(taken.removed, 'registration')} removed"
        )
        self.say(self.trail.back)
        # The start knows that its own instances exist, whatever EC2 says of them so soon.
        left = len(taken.left) + len(taken.unknown)
        self.trail.left = [*problems, *taken.problems]
        if problems or left:
            self.trail.left.append(
                f"{left or self.count} instances may still run: give stop-runner the "
                f"fleet_id {self.fleet.id}. They end themselves after max_lifetime_minutes"
            )
        for line in self.trail.left:
            self.warn(line)

    def _search(self, ec2: Ec2, known: Collection[str]) -> list[str]:
        """Other instances, of a launch whose reply was lost; raises when EC2 never says."""
        failure: CloudError | None = None
        for pause in SEARCH_PAUSES:
            self.sleep(pause)
            try:
                failure = None
                found = ec2.instances_of(FLEET_TAG, self.fleet.id)
            except CloudError as error:
                failure = error
                continue
            if others := [key for key in found if key not in known]:
                return others
        if failure is not None:
            raise failure
        return []
