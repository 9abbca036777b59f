"""TerminateInstances, StopInstances and StartInstances: all the instances asked for, or none."""

from __future__ import annotations

from typing import Any

from sandbox.ec2 import filters, wire
from sandbox.ec2.errors import Ec2Error, would_have_succeeded
from sandbox.ec2.lifecycle import Lifecycle
from sandbox.ec2.records import CODES
from sandbox.ec2.wire import Reply, Request

MOST = 1000
"""Instances that one call may name (EC2 API reference, TerminateInstances)."""


class Ending:
    """The calls that end instances, or bring stopped ones back."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle

    def terminate(self, request: Request) -> Reply:
        asked = self._asked(request)
        with self._lifecycle.lock:
            self._respect_protection(asked)
            before = {instance_id: self._model(instance_id).state for instance_id in asked}
            self._lifecycle.terminate(asked)
            after = {
                instance_id: "terminated" if state == "terminated" else "shutting-down"
                for instance_id, state in before.items()
            }
        return _changed("TerminateInstances", before, after)

    def _respect_protection(self, asked: list[str]) -> None:
        """One protected instance saves all that were asked for in its zone, and no others.

        EC2 API reference, TerminateInstances.
        """
        zones: dict[str, list[str]] = {}
        for instance_id in asked:
            zones.setdefault(self._lifecycle.records[instance_id].facts.zone, []).append(
                instance_id
            )
        protected = [key for key in asked if _is_protected(self._model(key))]
        if not protected:
            return
        for here in zones.values():
            if not any(key in here for key in protected):
                self._lifecycle.terminate(here)
        raise Ec2Error(
            "OperationNotPermitted",
            f"The instance '{protected[0]}' may not be terminated. Modify its "
            "'disableApiTermination' instance attribute and try again.",
        )

    def stop(self, request: Request) -> Reply:
        asked = self._asked(request)
        with self._lifecycle.lock:
            before = self._before(asked, {"running", "stopping", "stopped"}, "stopped")
            self._lifecycle.stop(asked, "Client.UserInitiatedShutdown")
            after = {i: s if s == "stopped" else "stopping" for i, s in before.items()}
        return _changed("StopInstances", before, after)

    def start(self, request: Request) -> Reply:
        asked = self._asked(request)
        with self._lifecycle.lock:
            before = self._before(asked, {"stopped", "pending", "running"}, "started")
            self._lifecycle.start(asked)
            after = {i: "pending" if s == "stopped" else s for i, s in before.items()}
        return _changed("StartInstances", before, after)

    def _before(self, asked: list[str], allowed: set[str], what: str) -> dict[str, str]:
        before = {instance_id: self._model(instance_id).state for instance_id in asked}
        for instance_id, state in before.items():
            if state not in allowed:
                msg = f"The instance '{instance_id}' is not in a state from which it can be {what}."
                raise Ec2Error("IncorrectInstanceState", msg)
        return before

    def _asked(self, request: Request) -> list[str]:
        """The instances a call is about, each once; all of them exist."""
        asked = list(dict.fromkeys(request.listed("InstanceId")))
        if not asked:
            raise Ec2Error("MissingParameter", "The request must contain the parameter InstanceId")
        if len(asked) > MOST:
            raise Ec2Error("InvalidParameterValue", f"At most {MOST} instance ids are allowed")
        filters.check_instance_ids(asked, self._lifecycle.known(request.region))
        if request.flag("DryRun"):
            raise would_have_succeeded()
        return asked

    def _model(self, instance_id: str) -> Any:
        return self._lifecycle.records[instance_id].model


def _is_protected(model: Any) -> bool:
    return str(model.disable_api_termination).lower() == "true"


def _changed(operation: str, before: dict[str, str], after: dict[str, str]) -> Reply:
    items = "".join(
        f"<item><instanceId>{instance_id}</instanceId>"
        f"<currentState><code>{CODES[after[instance_id]]}</code>"
        f"<name>{after[instance_id]}</name></currentState>"
        f"<previousState><code>{CODES[state]}</code><name>{state}</name></previousState></item>"
        for instance_id, state in before.items()
    )
    return wire.answer(operation, f"<instancesSet>{items}</instancesSet>")
