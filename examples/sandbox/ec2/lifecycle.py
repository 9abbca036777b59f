"""The states an instance goes through, and when; moto jumps from one end to the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from pathlib import Path

from sandbox.ec2 import machines
from sandbox.ec2.machines import Facts, Machine, Tools
from sandbox.ec2.processes import Guard
from sandbox.ec2.records import CODES, REASONS, Event, Record
from sandbox.ec2.rules import Place, Rules
from sandbox.ec2.timers import Timers


class Lifecycle:
    """All instances, of all regions. Thread-safe."""

    def __init__(
        self, directory: Path, rules: Rules, clock: Callable[[], float] = time.time
    ) -> None:
        self.lock = threading.RLock()
        self.timers = Timers()
        self.records: dict[str, Record] = {}
        self.history: list[Event] = []
        self.metadata_url = ""
        self._clock = clock
        self._rules = rules
        self._directory = directory
        self._tools: Tools | None = None
        self._guard: Guard | None = None
        self._under_way: list[threading.Thread] = []

    # Launching

    def launched(self, records: list[Record]) -> None:
        """Take over instances that moto has just made."""
        with self.lock:
            for record in records:
                self.records[record.model.id] = record
                self._state(record, "pending")
                record.model.state_reason = None
                self._tell("launched", record, type=record.place.instance_type)
            for record in records:
                self._come_up(record)

    def _come_up(self, record: Record) -> None:
        boot, key = record.boot, record.model.id
        if boot.never and boot.stays == "pending":
            if boot.dies_after is not None:
                self._later(boot.dies_after, key, "die", lambda: self._die(record))
        elif boot.delay > 0:
            self._later(boot.delay, key, "run", lambda: self._run(record))
        else:
            self._run(record)

    def _run(self, record: Record) -> None:
        with self.lock:
            if record.state != "pending" or not self._is_known(record):
                return
            self._state(record, "running")
            self._tell("running", record)
            boot = record.boot
            if boot.dies_after is not None:
                self._later(boot.dies_after, record.model.id, "die", lambda: self._die(record))
            if boot.never or record.machine is not None:
                return
            if self._tools is None:
                self._tools = Tools(self._directory)
                self._guard = Guard(self._directory)
            root = self._directory / record.model.id
            record.machine = Machine(root, record.facts, self._tools, self.metadata_url)
            self._tell("boot_started", record)
            record.machine.boot(
                record.user_data,
                lambda status: self._tell("boot_finished", record, exit_status=str(status)),
            )

    def _die(self, record: Record) -> None:
        with self.lock:
            if self._is_known(record):
                self.terminate([record.model.id], record.boot.reason, grace=0)

    # Ending

    def terminate(
        self,
        instance_ids: Iterable[str],
        reason: str = "Client.UserInitiatedShutdown",
        grace: float = machines.GRACE,
    ) -> None:
        """Shut down and terminate; those that are already are left alone."""
        with self.lock:
            ending = [
                record
                for record in map(self.records.__getitem__, instance_ids)
                if record.state not in ("shutting-down", "terminated")
            ]
            for record in ending:
                self.timers.cancel(f"{record.model.id}/")
                self._state(record, "shutting-down")
                self._reason(record, reason)
                self._tell("shutting_down", record, reason=reason)
        self._end(ending, grace, lambda record: self._terminated(record, reason))

    def stop(self, instance_ids: Iterable[str], reason: str) -> None:
        with self.lock:
            ending = [
                record
                for record in map(self.records.__getitem__, instance_ids)
                if record.state in ("pending", "running")
            ]
            for record in ending:
                self.timers.cancel(f"{record.model.id}/")
                self._state(record, "stopping")
                self._reason(record, reason)
        self._end(ending, machines.GRACE, lambda record: self._stopped(record, reason))

    def start(self, instance_ids: Iterable[str]) -> None:
        """Start stopped instances; cloud-init does not run user data a second time."""
        with self.lock:
            for record in map(self.records.__getitem__, instance_ids):
                if record.state == "stopped":
                    record.model.start()
                    self._state(record, "pending")
                    self._tell("started", record)
                    self._run(record)

    def _end(self, records: list[Record], grace: float, then: Callable[[Record], None]) -> None:
        booted = [record.machine for record in records if record.machine]
        delay = self._rules.termination_delay

        def all_over() -> None:
            for record in records:
                then(record)

        def finish() -> None:
            machines.end(booted, grace)
            if delay and records:
                self._later(delay, records[0].model.id, "end", all_over)
            else:
                all_over()

        if not booted:
            finish()
            return
        self._in_the_background("ec2-end", finish)

    def _terminated(self, record: Record, reason: str) -> None:
        with self.lock:
            if record.state == "terminated" or not self._is_known(record):
                return
            record.model.terminate()  # its volumes and interfaces
            self._state(record, "terminated")
            self._reason(record, reason)
            record.ended_at = self._clock()
            self._tell("terminated", record, reason=reason)

    def _stopped(self, record: Record, reason: str) -> None:
        with self.lock:
            if record.state != "stopping" or not self._is_known(record):
                return
            record.model.stop()
            self._state(record, "stopped")
            self._reason(record, reason)
            self._tell("stopped", record, reason=reason)

    # The machine's own doing (sandbox.ec2.metadata.Power)

    def facts(self, instance_id: str) -> Facts | None:
        record = self.records.get(instance_id)
        return record.facts if record else None

    def user_data(self, instance_id: str) -> str:
        return self.records[instance_id].user_data

    def spot_action(self, instance_id: str) -> str | None:
        return self.records[instance_id].spot_action

    def shut_down(self, instance_id: str, after: float, reboot: bool) -> None:
        record = self.records[instance_id]
        if after <= 0:
            self._switch_off(record, reboot)
            return
        self._tell("shutdown_scheduled", record, after=f"{after:g}")
        self._later(after, instance_id, "shutdown", lambda: self._switch_off(record, reboot))

    def cancel_shutdown(self, instance_id: str) -> None:
        if self.timers.cancel(f"{instance_id}/shutdown"):
            self._tell("shutdown_cancelled", self.records[instance_id])

    def run_later(self, instance_id: str, after: float, arguments: list[str]) -> None:
        record = self.records[instance_id]

        def start() -> None:
            with self.lock:
                known = record.state == "running" and self._is_known(record)
                if known and record.machine is not None:
                    record.machine.run(arguments)

        self._later(after, instance_id, f"later/{time.monotonic_ns()}", start)

    def _switch_off(self, record: Record, reboot: bool) -> None:
        reason = "Client.InstanceInitiatedShutdown"
        with self.lock:
            if record.state != "running" or not self._is_known(record):
                return
            if reboot:
                self._tell("rebooted", record)
                self._end([record], machines.GRACE, lambda _: None)
            elif record.shutdown_behaviour == "terminate":
                self.terminate([record.model.id], reason)
            else:
                self.stop([record.model.id], reason)

    # Housekeeping

    def living(self) -> list[Place]:
        """The places that are taken."""
        with self.lock:
            return [
                record.place
                for record in self.records.values()
                if record.state not in ("shutting-down", "terminated")
            ]

    def known(self, region: str) -> list[str]:
        """The ids of a region's instances."""
        with self.lock:
            return [i for i, record in self.records.items() if record.region == region]

    def settle(self, seconds: float = 60) -> None:
        """Wait until the processes of ended machines are gone."""
        with self.lock:
            under_way = list(self._under_way)
        for thread in under_way:
            thread.join(timeout=seconds)

    def reset(self) -> None:
        """End and forget every machine; its files go soon after."""
        with self.lock:
            self.timers.cancel("")
            gone = list(self.records.values())
            self.records = {}
            self.history = []
        booted = [record.machine for record in gone if record.machine]
        machines.end(booted, grace=0)
        self.settle()
        self.timers.cancel("")  # what the ends under way have begun
        if booted:
            self._in_the_background("ec2-remove", lambda: machines.remove(booted))

    def close(self) -> None:
        """End every machine; its files stay, for whoever wants to know why."""
        self.timers.close()
        with self.lock:
            booted = [record.machine for record in self.records.values() if record.machine]
        machines.end(booted, grace=0)
        self.settle()
        if self._guard is not None:
            self._guard.close()

    def _is_known(self, record: Record) -> bool:
        """Not forgotten by a reset meanwhile."""
        return self.records.get(record.model.id) is record

    def _in_the_background(self, name: str, do: Callable[[], None]) -> None:
        thread = threading.Thread(target=do, name=name, daemon=True)
        with self.lock:
            self._under_way = [*(t for t in self._under_way if t.is_alive()), thread]
            thread.start()

    def _later(self, seconds: float, instance_id: str, what: str, do: Callable[[], None]) -> None:
        self.timers.after(seconds, f"{instance_id}/{what}", do)

    def _state(self, record: Record, name: str) -> None:
        record.model._state.name = name
        record.model._state.code = CODES[name]
        record.states.append((self._clock(), name))

    def _reason(self, record: Record, code: str) -> None:
        from moto.ec2.models.instances import StateReason

        text = REASONS.get(code, "The instance was ended by the sandbox")
        record.model.state_reason = StateReason(f"{code}: {text}", code)
        moment = datetime.fromtimestamp(self._clock(), timezone.utc)
        who = "User initiated" if code.startswith("Client.User") else code
        record.model._reason = f"{who} ({moment:%Y-%m-%d %H:%M:%S} GMT)"

    def _tell(self, kind: str, record: Record, **fields: str) -> None:
        with self.lock:
            if self._is_known(record):
                self.history.append(Event(self._clock(), kind, record.model.id, fields))
