"""An instance as the sandbox keeps it, and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandbox.ec2.machines import Facts, Machine
from sandbox.ec2.rules import Boot, Place

CODES = {
    "pending": 0,
    "running": 16,
    "shutting-down": 32,
    "terminated": 48,
    "stopping": 64,
    "stopped": 80,
}
REASONS = {
    "Client.UserInitiatedShutdown": "User initiated shutdown",
    "Client.InstanceInitiatedShutdown": "Instance initiated shutdown",
    "Server.InternalError": "Internal error on launch",
    "Server.InsufficientInstanceCapacity": "Insufficient capacity",
    "Server.SpotInstanceTermination": "Spot instance termination",
}


@dataclass(frozen=True)
class Event:
    """Something that happened to an instance.

    Kinds: launched, running, boot_started, boot_finished (exit_status), shutdown_scheduled
    (after, in seconds), shutdown_cancelled, rebooted, shutting_down (reason), terminated
    (reason), stopped (reason), started.
    """

    at: float  # seconds since the epoch
    kind: str
    instance_id: str
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class Record:
    """An instance: moto's model of it and what moto does not keep."""

    model: Any
    region: str
    place: Place
    facts: Facts
    user_data: str
    shutdown_behaviour: str
    boot: Boot
    launched_at: float
    ended_at: float | None = None
    machine: Machine | None = None
    states: list[tuple[float, str]] = field(default_factory=list)
    spot_action: str | None = None

    @property
    def state(self) -> str:
        return str(self.model.state)

    def state_at(self, moment: float) -> str | None:
        """The state then; None when it had not been launched yet."""
        known = [name for at, name in self.states if at <= moment]
        return known[-1] if known else None
