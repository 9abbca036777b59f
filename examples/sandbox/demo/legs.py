"""What is known about each leg of the matrix (each entry), gathered while it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Phase = Literal[
    "began",
    "launched",
    "booted",
    "registered",
    "online",
    "start returned",
    "job started",
    "job done",
    "deregistered",
    "terminated",
    "stop returned",
]
PHASES: tuple[Phase, ...] = Phase.__args__  # type: ignore[attr-defined]

# How an instance or a runner left, in words for a reader.
BY_ITSELF = "by itself, after its one job"
BY_START = "by start-runner"
BY_STOP = "by stop-runner"

_INSTANCE = re.compile(r"i-[0-9a-f]{8,17}")


@dataclass
class Leg:
    """One leg: what was launched for it, where its test ran, how it ended, and when.

    `at` holds the first moment of each phase in seconds since the epoch.
    """

    name: str  # the full names of its jobs begin with it
    title: str
    instance_type: str
    mapping: dict[str, str] = field(default_factory=dict)  # instance id -> label
    labels: list[str] = field(default_factory=list)  # runs-on of the test job
    instances: dict[str, str] = field(default_factory=dict)  # id -> "g4dn.xlarge, us-east-1a"
    runners: list[str] = field(default_factory=list)
    ran_on: list[str] = field(default_factory=list)  # runners that acquired a job
    results: dict[str, str] = field(default_factory=dict)  # job id -> act's result
    left_by: dict[str, str] = field(default_factory=dict)  # runner or instance -> how it went
    at: dict[Phase, float] = field(default_factory=dict)

    def reached(self, phase: Phase, at: float) -> bool:
        """Note the first time of a phase; false when it was known."""
        if phase in self.at:
            return False
        self.at[phase] = at
        return True

    def learn_output(self, name: str, value: str) -> None:
        """Take note of start-runner's outputs; others are none of our business."""
        if not value:  # act repeats the outputs of a composite action that has failed, empty
            return
        if name == "mapping":
            self.mapping = dict(json.loads(value))
        elif name == "instances":
            self.labels = list(json.loads(value))


class Legs:
    """The legs by the several names under which they are spoken of."""

    def __init__(self, values: Mapping[str, Mapping[str, str]]) -> None:
        self.all = [
            Leg(name, " ".join(axes.values()), axes.get("instance_type", ""))
            for name, axes in values.items()
        ]

    def of_job(self, leg_name: str) -> Leg | None:
        """By the name act's jobs share."""
        return next((leg for leg in self.all if leg.name == leg_name), None)

    def of_instance(self, instance_id: str, instance_type: str = "") -> Leg | None:
        """By start-runner's mapping; before there is one, by a type only one leg asks for."""
        known = [
            leg for leg in self.all if instance_id in leg.mapping or instance_id in leg.instances
        ]
        likely = [leg for leg in self.all if instance_type and leg.instance_type == instance_type]
        if known:
            return known[0]
        return likely[0] if len(likely) == 1 else None

    def of_runner(self, runner_name: str) -> Leg | None:
        """By the instance id in the runner's name."""
        match = _INSTANCE.search(runner_name)
        return self.of_instance(match[0]) if match else None
