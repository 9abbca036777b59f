"""How far each instance of a fleet has come, and how that is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runner_fleet.ec2_model import Instance
from runner_fleet.github import Runner

LAUNCHED, BOOTING, REGISTERED, ONLINE = "launched", "booting", "registered", "online"

AWAITED = {
    LAUNCHED: "EC2 has not started it yet",
    BOOTING: "boot script and registration under way",
    REGISTERED: "its runner is not connected yet",
}
"""What is awaited in a phase."""

_JUST_IN_TIME = "-jit-"
"""In the names of runners that are registered before their instance is launched."""


@dataclass
class Progress:
    """How far each instance has come, and after how many seconds it got there."""

    instances: dict[str, Instance]
    labels: Mapping[str, str]  # instance id to label
    phase: dict[str, str] = field(default_factory=dict)  # instance id to phase
    reached: dict[tuple[str, str], float] = field(default_factory=dict)  # (id, phase) to seconds
    trouble: str = ""  # the last bad moment of a service

    @property
    def complete(self) -> bool:
        return all(phase == ONLINE for phase in self.phase.values())

    def advance(self, seen: Mapping[str, str], seconds: float) -> list[str]:
        """Take in the phases now seen; returns the ids whose phase changed."""
        changed = [key for key, phase in seen.items() if self.phase.get(key) != phase]
        for key in changed:
            self.phase[key] = seen[key]
            self.reached.setdefault((key, seen[key]), seconds)
        return changed

    def arrivals(self, phases: Collection[str]) -> list[float]:
        """After how many seconds each instance that came so far was first seen in one of them."""
        seconds: dict[str, float] = {}
        for (key, phase), reached in self.reached.items():
            if phase in phases:
                seconds[key] = min(reached, seconds.get(key, reached))
        return sorted(seconds.values())

    def line(self, key: str, elapsed: float) -> str:
        """Where one instance stands."""
        instance = self.instances[key]
        return (
            f"{elapsed:6.1f} s  {self.phase[key]:<10}  {self.labels[key]}  {key}  "
            f"{instance.type}  {instance.zone}"
        )

    def awaited(self, elapsed: float) -> str:
        """What the wait is for, in one line."""
        counts = {phase: list(self.phase.values()).count(phase) for phase in AWAITED}
        parts = [
            f"{number} {phase} ({AWAITED[phase]})" for phase, number in counts.items() if number
        ]
        missing = sum(counts.values())
        return (
            f"{elapsed:6.1f} s  Still waiting for {missing} of {len(self.phase)}: "
            f"{', '.join(parts)}"
        )


def phases(
    instances: Mapping[str, Instance], labels: Mapping[str, str], runners: Sequence[Runner]
) -> dict[str, str]:
    """Where each instance of `labels` (id to label) stands.

    A runner is of the instance whose label it carries, whatever its name is. Only `online` counts:
    a runner is listed before it listens, and one with a just-in-time configuration before its
    instance is launched.
    """
    online = _labels(runner for runner in runners if runner.online)
    registered = online | _labels(runner for runner in runners if _JUST_IN_TIME not in runner.name)

    def phase(key: str, label: str) -> str:
        if label.lower() in registered:
            return ONLINE if label.lower() in online else REGISTERED
        instance = instances.get(key)
        return BOOTING if instance is not None and instance.state == "running" else LAUNCHED

    return {key: phase(key, label) for key, label in labels.items()}


def _labels(runners: Iterable[Runner]) -> set[str]:
    return {label for runner in runners for label in runner.labels}
