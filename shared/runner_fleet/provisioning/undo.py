"""The way back of a start: whatever it launched is taken back, however it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Instance
from runner_fleet.errors import CloudError, gathered
from runner_fleet.github import GitHub
from runner_fleet.provisioning.identity import FLEET_TAG, Fleet
from runner_fleet.provisioning.report import counted
from runner_fleet.provisioning.take_back import take_back

PATIENCE = 5.0
"""Seconds in which a call to GitHub is repeated: it leaves a cancelled step 10 s."""

SEARCH_PAUSES = (0.0, 1.0, 2.0, 4.0)
"""Seconds between looks for instances whose launch reply was lost: a new instance may take a
moment to be visible (EC2 developer guide, eventual consistency)."""


@dataclass(frozen=True)
class WayBack:
    """What is needed to undo a start. `say` gets progress lines, `warn` what is left behind."""

    fleet: Fleet
    count: int  # instances that were asked for
    github: GitHub
    ec2: Ec2
    say: Callable[[str], None]
    warn: Callable[[str], None]
    cancellation: Cancellation
    sleep: Callable[[float], None]

    @contextmanager
    def open(self, instances: list[Instance]) -> Iterator[None]:
        """Undo everything when the block fails, however it fails, and let the failure go on.

        `instances` is filled inside the block with what was launched.
        """
        try:
            yield
        except BaseException as failure:
            with self.cancellation.shield():
                self._undo(instances, failure)
            raise

    def _undo(self, instances: list[Instance], failure: BaseException) -> None:
        self.github.patience.ends_in(PATIENCE)
        if not instances and isinstance(failure, CloudError) and not failure.unsure:
            return  # EC2 said no, each time it was asked: it launched nothing
        self.say("Taking back what was started ...")
        problems: list[str] = []
        ids = [instance.id for instance in instances]
        with gathered(problems):
            ids = ids or self._search()
        taken = take_back(ids, self.fleet.labels, self.ec2, self.github, self.sleep)
        ended = len(taken.terminated) + len(taken.ended_before)
        self.say(
            f"{ended} of {counted(ids, 'instance')} ended, "
            f"{counted(taken.removed, 'registration')} removed"
        )
        # The start knows that its own instances exist, whatever EC2 says of them so soon.
        left = len(taken.left) + len(taken.unknown)
        for problem in [*problems, *taken.problems]:
            self.warn(problem)
        if problems or left:
            self.warn(
                f"{left or self.count} instances may still run: give stop-runner the "
                f"fleet_id {self.fleet.id}. They end themselves after max_lifetime_minutes"
            )

    def _search(self) -> list[str]:
        """Instances of a launch whose reply was lost; raises when EC2 never says."""
        failure: CloudError | None = None
        for pause in SEARCH_PAUSES:
            self.sleep(pause)
            try:
                failure = None
                found = self.ec2.instances_of(FLEET_TAG, self.fleet.id)
            except CloudError as error:
                failure = error
                continue
            if found:
                return list(found)
        if failure is not None:
            raise failure
        return []
