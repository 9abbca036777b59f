"""What a start works with, whether it launches or only checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from runner_fleet.ec2 import Ec2
from runner_fleet.github import GitHub
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.options.start import StartOptions


class Log(Protocol):
    """Where it is told what happens: `action.Reporter`, of which no domain module knows."""

    def say(self, line: str) -> None:
        """A line of progress."""

    def warning(self, message: str) -> None:
        """What may fail one day."""

    def error(self, message: str) -> None:
        """What is wrong, or left behind."""

    def group(self, title: str, lines: Sequence[str]) -> None:
        """Lines that are folded away under a title."""

    def mask(self, secret: str) -> None:
        """A secret that must not show in any later line."""

    def hide(self, text: str) -> str:
        """A text of others without secrets."""


@dataclass(frozen=True)
class StartContext:
    """What was asked for, for which fleet, and through whom it is done and told."""

    options: StartOptions
    fleet: Fleet
    github: GitHub
    clouds: Mapping[str, Ec2]  # by region
    log: Log
