"""A start that failed because of its instances: which, how far they came, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner_fleet.ec2_model import Instance
from runner_fleet.errors import FleetError
from runner_fleet.provisioning.causes import Cause
from runner_fleet.provisioning.progress import AWAITED, ONLINE

SHOWN = 10
"""So many instances are named one by one: GitHub shows ten annotations a step."""


@dataclass(frozen=True)
class Lost:
    """An instance that ended, or whose runner did not come online in time."""

    instance: Instance
    label: str
    phase: str
    why: Cause | None = None
    hint: str = ""  # why nobody knows more

    @property
    def reason(self) -> str:
        """Why, in one clause; empty when nothing is known."""
        return f"Why: {self.why}" if self.why else self.hint


class RunnerLostError(FleetError):
    """Instances ended, or did not come online in time.

    `late` says that time was up; empty when instances ended. `trouble`: the last bad moment of a
    service, when nothing may be wrong with the instances at all.
    """

    def __init__(self, lost: Sequence[Lost], late: str = "", trouble: str = "") -> None:
        self.lost = tuple(lost)
        self.late = late
        self.trouble = trouble
        super().__init__(*([_too_late(self)] if late else _died(self.lost)))


def _died(lost: Sequence[Lost]) -> list[str]:
    lines = [_one_died(item) for item in lost[:SHOWN]]
    if more := [item.instance.id for item in lost[SHOWN:]]:
        lines.append(f"{len(more)} more instances ended, too: {', '.join(more)}")
    return lines


def _one_died(item: Lost) -> str:
    instance = item.instance
    reason = instance.state_reason or "EC2 gives no reason"
    who = f"instance {instance.id} ({item.label}, {instance.type}) is {instance.state}"
    if item.phase == ONLINE:
        return (
            f"{who} before the others were online, as its own runner was: {reason}. {item.reason}"
        )
    console = (
        "When it powered itself off, its boot script failed, and its console says why: aws ec2 "
        f"get-console-output --output text --instance-id {instance.id}"
    )
    return f"{who} before its runner came online: {reason}. {item.reason or console}"


def _too_late(error: RunnerLostError) -> str:
    waiting = [f"{item.label} ({item.instance.id}) is {item.phase}" for item in error.lost[:SHOWN]]
    if len(error.lost) > SHOWN:
        waiting.append(f"and {len(error.lost) - SHOWN} more")
    parts = [f"{error.late}: {', '.join(waiting)}"]
    if error.trouble:
        parts.append(f"The last poll that failed: {error.trouble}")
    # Most have one cause in common.
    parts += dict.fromkeys(item.reason for item in error.lost if item.reason)
    if len(parts) == 1:
        phases = dict.fromkeys(item.phase for item in error.lost)
        parts.append("; ".join(f"'{phase}': {AWAITED[phase]}" for phase in phases))
    return ". ".join(parts)
