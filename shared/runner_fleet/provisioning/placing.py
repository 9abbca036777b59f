"""Launch a fleet wherever EC2 has room for it: candidate after candidate, pass after pass."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runner_fleet.aws_errors import NEVER_HERE, NO_ROOM, QUOTAS
from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Instance, Launch
from runner_fleet.errors import THROTTLED, CapacityError, CloudError, FleetError
from runner_fleet.provisioning.attempts import Attempt, Trail, tally
from runner_fleet.provisioning.candidates import Candidate
from runner_fleet.provisioning.identity import LABEL_TAG, Fleet
from runner_fleet.provisioning.prepare import Plan
from runner_fleet.provisioning.walk import Pause, Walk
from runner_fleet.quotas import where_to_raise

SEARCH_PAUSES = (0.0, 1.0, 2.0, 4.0)
"""Seconds between looks for instances whose launch reply was lost: a new instance may take a
moment to be visible (EC2 developer guide, eventual consistency)."""


@dataclass
class Placing:
    """Launches for one fleet, all in one region. `say` gets progress lines.

    `launched` gets the new instances, which the trail has then, while signals are held back.
    """

    fleet: Fleet
    plan: Plan
    clouds: Mapping[str, Ec2]  # by region
    timeout: float  # seconds for all launches together, from the first attempt on
    trail: Trail
    say: Callable[[str], None]
    launched: Callable[[list[Instance]], None]
    cancellation: Cancellation
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._places = 0
        self._candidates = list(self.plan.candidates)

    def place(
        self,
        count: int,
        minimum: int,
        script: Callable[[], bytes],
        tags: Mapping[str, str] | None = None,
    ) -> list[Instance]:
        """Launch `count` instances, or at least `minimum` of them, in one place.

        `script` gives the user data, and is asked at the start of each pass; `tags` come on top of
        the fleet's. Raises `CapacityError` when no candidate had room, and at once the `CloudError`
        of a candidate that fails for another reason (a quota, a permission, a wrong id).
        """
        self._places += 1
        walk = Walk(self._candidates, self.timeout, self.chance)
        first = len(self.trail.attempts)
        user_data, number = b"", 0
        while step := walk.next(self._elapsed()):
            self.cancellation.raise_if_due()  # it may have come during a launch that failed
            if isinstance(step, Pause):
                self._pause(step, walk)
                continue
            if walk.passes != number:
                number, user_data = walk.passes, script()
            part = f"{self._places} {number} {step!r} {user_data!r} {sorted((tags or {}).items())}"
            launch = self.plan.launch(
                step,
                count=count,
                minimum=minimum,
                user_data=user_data,
                tags=tags or {},
                # The same token always means the same launch, so it is made of all that differs.
                client_token=self.fleet.client_token(part),
            )
            found = self._try(step, launch, walk)
            if found:
                walk.stay_in(step.region)
                self._candidates = walk.candidates
                return found
        raise CapacityError(self._nowhere(count, minimum, self.trail.attempts[first:]))

    def _elapsed(self) -> float:
        return self.clock() - self._began

    def _pause(self, pause: Pause, walk: Walk) -> None:
        why = (
            "AWS throttles the launches"
            if pause.throttled
            else f"No room yet in any of {len(walk.candidates)} places"
        )
        left = max(0.0, self.timeout - self._elapsed())
        self.say(f"{why}; again in {pause.seconds:.0f} s, for another {left:.0f} s at most")
        self.sleep(pause.seconds)

    def _try(self, candidate: Candidate, launch: Launch, walk: Walk) -> list[Instance]:
        """The instances; empty when the walk goes on."""
        began, found, code = self._elapsed(), list[Instance](), ""
        try:
            found = self._launch(candidate, launch)
        except CloudError as error:
            code = error.code
            self._decide(error, candidate, walk)
        finally:
            attempt = Attempt(
                number=walk.passes,
                candidate=candidate,
                code=code,
                launched=len(found),
                asked=launch.count,
                began=began,
                seconds=self._elapsed() - began,
            )
            self.trail.attempts.append(attempt)
            self.say(str(attempt))
        return found

    def _decide(self, error: CloudError, candidate: Candidate, walk: Walk) -> None:
        """Whether the walk goes on after a refusal; raises when it does not."""
        if error.unsure:
            raise error
        if error.code in NEVER_HERE:
            walk.rule_out(candidate)
        elif error.transient:
            walk.throttled(candidate)
        elif error.code in QUOTAS:
            quota = where_to_raise(candidate.instance_type, candidate.market, candidate.region)
            msg = f"{error}. This launch counts against the quota {quota}"
            raise CloudError(msg, error.code)
        elif error.code not in NO_ROOM:
            raise error

    def _launch(self, candidate: Candidate, launch: Launch) -> list[Instance]:
        # A reply that comes while we are being cancelled must not be lost.
        with self.cancellation.shield():
            self.trail.region, self.trail.doubtful = candidate.region, True
            ec2 = self.clouds[candidate.region]
            try:
                found = ec2.launch(launch, self.sleep, self.cancellation.is_requested, self.chance)
            except CloudError as error:
                if error.unsure:
                    found = self._adopted(ec2, launch, error)
                else:
                    self.trail.doubtful = False
                    raise
            except FleetError:
                self.trail.doubtful = False
                raise
            self.trail.doubtful = False
            self.trail.instances += found
            own = launch.tags.get(LABEL_TAG)
            self.trail.labels |= {
                one.id: own or self.fleet.labels[one.launch_index] for one in found
            }
            self.launched(found)
            return found

    def _adopted(self, ec2: Ec2, launch: Launch, error: CloudError) -> list[Instance]:
        """The instances of a launch that got no clear answer; raises its error if too few.

        Nothing else may be launched before it is known what this one did.
        """
        found: list[Instance] = []
        for pause in SEARCH_PAUSES:
            if self.cancellation.is_requested():
                raise error  # the way back looks for them
            self.sleep(pause)
            try:
                known = ec2.instances_of_launch(launch.client_token)
            except CloudError:
                continue
            found = [instance for instance in known.values() if not instance.gone]
            if len(found) >= launch.count:
                break
        if len(found) < (launch.minimum or launch.count):
            raise error
        self.say(f"EC2 gave no clear answer, and launched {len(found)} instances all the same")
        return sorted(found, key=lambda instance: instance.launch_index)

    def _nowhere(self, count: int, minimum: int, attempts: Sequence[Attempt]) -> str:
        wanted = f"{count} instances" if minimum == count else f"{minimum} to {count} instances"
        passes = max((attempt.number for attempt in attempts), default=0)
        counted = "1 pass" if passes == 1 else f"{passes} passes"
        tried = f"{self._elapsed():.0f} seconds and {counted}: {tally(attempts)}"
        if attempts and all(attempt.code in THROTTLED for attempt in attempts):
            return (
                f"AWS throttled every launch for {tried}. Other work in this account makes too "
                "many calls: try later, give more time in capacity_timeout, or name another "
                "aws_region_name"
            )
        if attempts and all(attempt.code in NEVER_HERE for attempt in attempts):
            return (
                f"EC2 offers this in none of the places: {tally(attempts)}. Name another subnet "
                "(zone) in aws_subnet_id, another aws_instance_type, aws_region_name or market"
            )
        return (
            f"no room for {'1 instance' if count == 1 else wanted} after {tried}. Try later, give "
            "more time in capacity_timeout, or name more places: another subnet (zone) in "
            "aws_subnet_id, more types in aws_instance_type, another aws_region_name or market"
        )
