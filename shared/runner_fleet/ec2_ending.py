"""How instances end. A part of `ec2.Ec2`."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from runner_fleet.aws_failures import explained
from runner_fleet.ec2_clients import Clients
from runner_fleet.ec2_model import Instance, Termination
from runner_fleet.errors import CloudError

IDS_A_TERMINATION = 500
"""Instances that are terminated by one call (EC2 API reference, TerminateInstances: 1,000 at most,
better fewer)."""

REFUSALS = 20
"""Refusals in a row after which the rest is not tried any more."""

TERMINATED_POLL = 5.0  # seconds


class Ending(Clients):
    """Every method raises `CloudError`."""

    if TYPE_CHECKING:

        def instances(self, ids: Iterable[str]) -> dict[str, Instance]: ...

    def terminate(self, ids: Iterable[str], *, again: bool = False) -> Termination:
        """Terminate instances, up to `IDS_A_TERMINATION`; those that ended already stay so.

        EC2 terminates none when it does not know one of the ids, when a policy denies one, and in
        a zone where one is protected: the others are tried again without. A policy that permits
        by tag may deny an instance that has ended, whose tags EC2 drops after a while: those are
        looked for and left out. `again`: an earlier call may have had its effect, so that what
        shuts down does so because of us.
        """
        parts = [list(dict.fromkeys(ids))]
        done = Termination({}, [], [])
        asked = set(parts[0]) if again else set()
        looked, in_a_row = False, 0
        while parts and in_a_row < REFUSALS:
            part = parts.pop()
            if not part:
                continue
            try:
                self._terminate(part, asked, done)
            except CloudError as error:
                asked.update(part)
                strangers = set(part).intersection(error.unknown_ids)
                if strangers:
                    done.unknown.extend(strangers)
                    parts.append([key for key in part if key not in strangers])
                elif error.denied and not looked:
                    looked = True
                    parts.append(self._without_ended(part, done))
                elif error.named_ids or error.denied:
                    in_a_row += 1
                    parts += _without_refused(part, error, done)
                else:
                    raise
            else:
                in_a_row = 0
        return done

    def _terminate(self, part: Sequence[str], asked: Collection[str], done: Termination) -> None:
        with explained("terminate"):
            reply = self._client.terminate_instances(InstanceIds=part)
            for item in reply["TerminatingInstances"]:
                key, state = item["InstanceId"], item["PreviousState"]["Name"]
                ours = state == "shutting-down" and key in asked
                done.before[key] = "running" if ours else state

    def _without_ended(self, part: Sequence[str], done: Termination) -> list[str]:
        """Those that may live, after a denial; the others are noted."""
        try:
            found = self.instances(part)
        except CloudError:
            return list(part)
        done.before.update((key, item.state) for key, item in found.items() if item.ended)
        done.unknown.extend(key for key in part if key not in found)
        return [key for key, item in found.items() if not item.ended]

    def wait_terminated(
        self,
        ids: Sequence[str],
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Return when all are terminated, or forgotten; `CloudError` after `timeout` seconds.

        botocore's waiter fails at an answer from before the termination, which may come late.
        """
        end = clock() + timeout
        absent_before: set[str] = set()
        while True:
            found = self.instances(ids)
            absent = {key for key in ids if key not in found}
            left = [key for key, one in found.items() if one.state != "terminated"]
            left += absent - absent_before
            absent_before = absent
            if not left:
                return
            if clock() >= end:
                msg = f"wait: {', '.join(left)} did not terminate in time; EC2 goes on with it"
                raise CloudError(msg)
            sleep(TERMINATED_POLL)


def _without_refused(part: Sequence[str], error: CloudError, done: Termination) -> list[list[str]]:
    """What is worth another call: all but whom EC2 names, or if it names nobody, both halves."""
    named = [key for key in part if key in error.named_ids] or ([*part] if len(part) == 1 else [])
    if named:
        done.refused.append(error)
        return [[key for key in part if key not in named]]
    middle = len(part) // 2
    return [list(part[middle:]), list(part[:middle])]
