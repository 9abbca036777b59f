"""EC2 on loopback: moto, corrected where EC2 differs, with instances that really boot."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from sandbox.calls import CallLog
from sandbox.ec2 import backend
from sandbox.ec2.front import Front
from sandbox.ec2.lifecycle import Lifecycle
from sandbox.ec2.machines import Machine
from sandbox.ec2.metadata import Metadata
from sandbox.ec2.records import Event
from sandbox.ec2.rules import Rules
from sandbox.faults import Faults
from sandbox.serve import Server

__all__ = ["Ec2", "Event", "Instance", "Rules"]

NOTICE = '{"action": "terminate", "time": "2026-10-01T12:02:00Z"}'
"""What EC2 announces two minutes before it takes a spot instance back (EC2 user guide, spot
instance interruption notices)."""


@dataclass(frozen=True)
class Instance:
    """An instance as it is now. Times in seconds since the epoch."""

    id: str
    region: str
    type: str
    state: str
    tags: dict[str, str]
    launch_index: int
    architecture: str
    zone: str
    subnet: str
    market: str  # "on-demand" or "spot"
    image: str
    launched_at: float
    ended_at: float | None
    state_reason: str  # "" or a code as `Client.UserInitiatedShutdown`


class Ec2:
    """The simulated EC2; serve `wsgi` and give its URL to the AWS clients.

    `directory` holds a directory for each booted machine. `github_url` is the only other service
    the machines can reach.
    """

    def __init__(
        self, directory: Path, github_url: str = "", log: CallLog | None = None,
        faults: Faults | None = None,
    ) -> None:  # fmt: skip
        self.directory = directory.absolute()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.github_url = github_url
        self.log = log or CallLog()
        self.faults = faults or Faults()
        self.rules = Rules()
        self._lifecycle = Lifecycle(self.directory, self.rules, self.log.clock)
        self._metadata = Server(Metadata(self._lifecycle)).start()
        self._lifecycle.metadata_url = self._metadata.url
        self.wsgi = Front(self._lifecycle, self.rules, self.log, self.faults)
        backend.import_shared()
        self._warming = threading.Thread(target=backend.models, args=("us-east-1",), daemon=True)
        self._warming.start()

    @property
    def history(self) -> list[Event]:
        """Everything that happened to instances, in order."""
        return list(self._lifecycle.history)

    @property
    def machines(self) -> dict[str, Machine]:
        """The machines that have booted, by instance id."""
        with self._lifecycle.lock:
            return {i: r.machine for i, r in self._lifecycle.records.items() if r.machine}

    def instances(self, region: str | None = None) -> list[Instance]:
        """All instances in the order of their launch, terminated ones included."""
        with self._lifecycle.lock:
            return [
                Instance(
                    id=instance_id,
                    region=record.region,
                    type=record.place.instance_type,
                    state=record.state,
                    tags={tag["key"]: tag["value"] for tag in record.model.get_tags()},
                    launch_index=record.facts.launch_index,
                    architecture=record.facts.architecture,
                    zone=record.facts.zone,
                    subnet=record.place.subnet,
                    market=record.place.market,
                    image=record.facts.image_id,
                    launched_at=record.launched_at,
                    ended_at=record.ended_at,
                    state_reason=getattr(record.model.state_reason, "code", ""),
                )
                for instance_id, record in self._lifecycle.records.items()
                if region in (None, record.region)
            ]

    def user_data_of_living(self) -> list[str]:
        """The user data of every instance that is not terminated."""
        with self._lifecycle.lock:
            records = self._lifecycle.records.values()
            return [record.user_data for record in records if record.state != "terminated"]

    @property
    def user_data(self) -> dict[str, str]:
        """What each instance was launched with, terminated ones included."""
        with self._lifecycle.lock:
            return {key: record.user_data for key, record in self._lifecycle.records.items()}

    def console(self, instance_id: str) -> str:
        """What the instance has written on its console."""
        machine = self.machines.get(instance_id)
        return machine.console() if machine else ""

    def interrupt(self, instance_id: str, action: str = NOTICE) -> None:
        """Let the instance find a spot interruption notice in its metadata."""
        self._lifecycle.records[instance_id].spot_action = action

    def end(self, instance_id: str, reason: str = "Server.InternalError") -> None:
        """Take an instance away, as EC2 sometimes does."""
        self._lifecycle.terminate([instance_id], reason, grace=0)

    def advance(self, seconds: float) -> None:
        """Let time pass for boot delays, deaths and scheduled shutdowns."""
        self._lifecycle.timers.advance(seconds)

    def enforce_iam(self) -> None:
        """From now on every call needs credentials whose policies allow it, until `reset`.

        Users, keys, roles and policies are made through moto's IAM beforehand. EC2, IAM and SSM
        calls are judged with their resources and conditions (permissions.py), others by moto.
        """
        backend.enforce_iam()

    def settle(self) -> None:
        """Wait until terminated machines have no process left."""
        self._lifecycle.settle()

    def reset(self) -> None:
        """Everything as at the beginning: no instances, machines, rules, history."""
        with self.wsgi.shut():
            self._lifecycle.reset()
            self.rules.clear()
            backend.reset()

    def close(self) -> None:
        """End every process of every machine, and forget all."""
        self._warming.join()
        self._lifecycle.close()
        self._metadata.close()
        backend.reset()
