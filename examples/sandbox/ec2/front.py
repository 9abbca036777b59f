"""The WSGI application the AWS clients talk to: EC2's ways in front of moto."""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox.calls import Call, CallLog
from sandbox.ec2 import backend, describe, launch, wire
from sandbox.ec2.errors import Ec2Error, code_of
from sandbox.ec2.lifecycle import CODES, Lifecycle, Record
from sandbox.ec2.machines import Facts
from sandbox.ec2.rules import Place, Rules
from sandbox.ec2.wire import Reply, Request
from sandbox.faults import Fault, Faults

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_NO_MATCH = "i-00000000000000000"


@dataclass(frozen=True)
class _Launched:
    """A RunInstances call that was carried out, for its repetition."""

    asked: dict[str, str]
    reply: Reply
    instance_ids: tuple[str, ...]


class Front:
    """Logs every call, applies the faults, and corrects what moto does differently."""

    def __init__(self, lifecycle: Lifecycle, rules: Rules, log: CallLog, faults: Faults) -> None:
        self._lifecycle = lifecycle
        self._rules = rules
        self._log = log
        self._faults = faults
        self._tokens: dict[tuple[str, str, str], _Launched] = {}
        self._launching = threading.Lock()
        self._operations: dict[str, Callable[[Request], Reply]] = {
            "RunInstances": self._run_instances,
            "DescribeInstances": self._describe_instances,
            "DescribeInstanceStatus": self._describe_instance_status,
            "DescribeImages": self._describe_images,
            "TerminateInstances": self._terminate_instances,
            "StopInstances": self._stop_instances,
            "StartInstances": self._start_instances,
            "GetConsoleOutput": self._get_console_output,
        }

    def forget(self) -> None:
        """Forget the client tokens."""
        self._tokens.clear()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        began, arrived = time.monotonic(), self._log.clock()
        request = wire.read(environ)
        fault = self._faults.take(request.operation) if request.operation else None
        if fault and fault.delay:
            time.sleep(fault.delay)
        reply: Reply | None = None
        try:
            if request.service and request.region and request.region not in backend.regions():
                wire.hang_up(environ)  # there is no such host
            if fault and fault.status and fault.when == "before":
                reply = _faulty(request, fault)
            else:
                stale = fault.stale_seconds if fault and fault.when == "stale" else 0.0
                reply = self._carry_out(request, stale)
                if fault and fault.when == "drop":
                    reply = None
                    wire.hang_up(environ)
                if fault and fault.status and fault.when == "after":
                    reply = _faulty(request, fault)
            return wire.send(reply, start_response)
        finally:
            if request.operation:
                fields = request.without("UserData", "Action", "Version")
                self._log.add(
                    Call(
                        request.service,
                        request.operation,
                        reply.status if reply else 0,
                        arrived,
                        time.monotonic() - began,
                        str(environ.get("QUERY_STRING", "")),
                        str(environ.get("HTTP_USER_AGENT", "")),
                        fields,
                    )
                )

    def _carry_out(self, request: Request, stale: float) -> Reply:
        if request.service != "ec2":
            return wire.hand_on(backend.application(), request)
        try:
            backend.authorize(request)
            if stale and request.operation == "DescribeInstances":
                return self._describe_instances(request, self._log.clock() - stale)
            return self._operations.get(request.operation, self._moto)(request)
        except Ec2Error as error:
            return wire.error("ec2", error.code, error.message, error.status)

    def _moto(self, request: Request, parameters: dict[str, str] | None = None) -> Reply:
        backend.models(request.region)
        return wire.hand_on(backend.application(), request, parameters)

    # Launching

    def _run_instances(self, request: Request) -> Reply:
        wanted = launch.check(request)
        if request.flag("DryRun"):
            raise _would_have_succeeded()
        with self._launching:
            key, asked = _token_scope(request, wanted), request.without("ClientToken", "Action")
            if key and (before := self._tokens.get(key)):
                if before.asked != asked:
                    raise Ec2Error(
                        "IdempotentParameterMismatch",
                        "Arguments on this idempotent request are inconsistent with arguments "
                        "used in previous request(s).",
                    )
                return self._repeated(before)
            count, place = launch.admit(wanted, self._rules, self._lifecycle.living)
            parameters = wanted.parameters | {"MinCount": str(count), "MaxCount": str(count)}
            if not place.subnet and not request.structures("NetworkInterface"):
                parameters["Placement.AvailabilityZone"] = place.zone
            reply = self._moto(request, parameters)
            if reply.status != 200:
                return reply
            instance_ids = tuple(
                re.findall(r"<instanceId>(i-[0-9a-f]+)</instanceId>", _text(reply))
            )
            if key:
                self._tokens[key] = _Launched(asked, reply, instance_ids)
            self._take_over(request, wanted, place, instance_ids)
            return reply

    def _take_over(
        self, request: Request, wanted: launch.Launch, place: Place, instance_ids: tuple[str, ...]
    ) -> None:
        models = backend.models(request.region)
        records = []
        for instance_id in instance_ids:
            model = models.get_instance(instance_id)
            if not model.security_groups:
                model.security_groups = list(model.nics[0].group_set)
            facts = Facts(
                instance_id,
                place.instance_type,
                str(wanted.image.architecture),
                request.region,
                str(model.placement.zone),
                int(model.ami_launch_index),
                wanted.image.id,
                str(wanted.image.name),
                str(model.private_ip),
            )
            place_there = Place(place.instance_type, str(model.subnet_id), facts.zone)
            boot = self._rules.boot_of(place_there)
            records.append(
                Record(
                    model,
                    request.region,
                    place_there,
                    facts,
                    wanted.user_data,
                    wanted.shutdown_behaviour,
                    boot,
                    self._log.clock(),
                )
            )
        self._give_profile(models, request, instance_ids)
        self._lifecycle.launched(records)

    @staticmethod
    def _give_profile(models: Any, request: Request, instance_ids: tuple[str, ...]) -> None:
        """moto gives the instance profile to the first instance only."""
        name, arn = request.text("IamInstanceProfile.Name"), request.text("IamInstanceProfile.Arn")
        if name or arn:
            for instance_id in instance_ids[1:]:
                models.associate_iam_instance_profile(instance_id, name or None, arn or None)

    def _repeated(self, before: _Launched) -> Reply:
        """The same reservation again, with the states of now."""
        states = iter([self._lifecycle.records[i].state for i in before.instance_ids])

        def now(_: re.Match[str]) -> str:
            name = next(states)
            return f"<instanceState><code>{CODES[name]}</code><name>{name}</name></instanceState>"

        text = re.sub(r"<instanceState>.*?</instanceState>", now, _text(before.reply), flags=re.S)
        return Reply(200, text.encode(), before.reply.headers)

    # Describing

    def _describe_instances(self, request: Request, seen_at: float | None = None) -> Reply:
        models = backend.models(request.region)
        asked = request.listed("InstanceId")
        if asked and request.text("MaxResults"):
            msg = "The parameter instancesSet cannot be used with the parameter maxResults"
            raise Ec2Error("InvalidParameterCombination", msg)
        with self._lifecycle.lock:
            now = self._as_of(seen_at) if seen_at is not None else {}
            try:
                instances = [
                    (reservation.id, instance)
                    for reservation in models.all_reservations()
                    for instance in reservation.instances
                    if now.get(instance.id, "") is not None
                ]
                describe.check_instance_ids(asked, (instance.id for _, instance in instances))
                found = describe.matching(instances, request.parameters)
                if request.flag("DryRun"):
                    raise _would_have_succeeded()
                if asked:
                    found = [instance_id for instance_id in found if instance_id in asked]
                parameters = request.without("InstanceId", "Filter")
                parameters.setdefault("MaxResults", "1000")
                parameters["Filter.1.Name"] = "instance-id"
                for number, instance_id in enumerate(found or [_NO_MATCH], 1):
                    parameters[f"Filter.1.Value.{number}"] = instance_id
                return self._moto(request, parameters)
            finally:
                for instance_id, name in now.items():
                    if name is not None:
                        _show(self._lifecycle.records[instance_id], name)

    def _as_of(self, moment: float) -> dict[str, str | None]:
        """Show the states of a moment ago; the true ones (None: not launched by then)."""
        now: dict[str, str | None] = {}
        for instance_id, record in self._lifecycle.records.items():
            then = record.state_at(moment)
            if then is None:
                now[instance_id] = None
            elif then != record.state:
                now[instance_id] = record.state
                _show(record, then)
        return now

    def _describe_instance_status(self, request: Request) -> Reply:
        asked = request.listed("InstanceId")
        describe.check_instance_ids(asked, self._known(request.region))
        with self._lifecycle.lock:
            return self._moto(request)

    def _describe_images(self, request: Request) -> Reply:
        asked = request.listed("ImageId")
        launch.check_image_ids(asked)
        known = backend.models(request.region).amis
        if unknown := [image_id for image_id in asked if image_id not in known]:
            text = "image id" if len(unknown) == 1 else "image ids"
            verb = "does not exist" if len(unknown) == 1 else "do not exist"
            msg = f"The {text} '[{', '.join(unknown)}]' {verb}"
            raise Ec2Error("InvalidAMIID.NotFound", msg)
        return self._moto(request)

    def _get_console_output(self, request: Request) -> Reply:
        instance_id = request.text("InstanceId")
        describe.check_instance_ids([instance_id], self._known(request.region))
        record = self._lifecycle.records[instance_id]
        output = record.machine.console() if record.machine else ""
        encoded = base64.b64encode(output.encode()[-65536:]).decode()
        moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self._log.clock()))
        return wire.answer(
            "GetConsoleOutput",
            f"<instanceId>{instance_id}</instanceId><timestamp>{moment}</timestamp>"
            f"<output>{encoded}</output>",
        )

    # Ending

    def _terminate_instances(self, request: Request) -> Reply:
        asked = self._asked(request)
        with self._lifecycle.lock:
            for instance_id in asked:
                if str(self._model(instance_id).disable_api_termination).lower() == "true":
                    raise Ec2Error(
                        "OperationNotPermitted",
                        f"The instance '{instance_id}' may not be terminated. Modify its "
                        "'disableApiTermination' instance attribute and try again.",
                    )
            before = {instance_id: self._model(instance_id).state for instance_id in asked}
            self._lifecycle.terminate(asked)
            after = {
                instance_id: "terminated" if state == "terminated" else "shutting-down"
                for instance_id, state in before.items()
            }
        return _changed("TerminateInstances", before, after)

    def _stop_instances(self, request: Request) -> Reply:
        asked = self._asked(request)
        with self._lifecycle.lock:
            before = self._before(asked, {"running", "stopping", "stopped"}, "stopped")
            self._lifecycle.stop(asked, "Client.UserInitiatedShutdown")
            after = {i: s if s == "stopped" else "stopping" for i, s in before.items()}
        return _changed("StopInstances", before, after)

    def _start_instances(self, request: Request) -> Reply:
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
        describe.check_instance_ids(asked, self._known(request.region))
        if request.flag("DryRun"):
            raise _would_have_succeeded()
        return asked

    def _known(self, region: str) -> list[str]:
        records = list(self._lifecycle.records.items())
        return [instance_id for instance_id, record in records if record.region == region]

    def _model(self, instance_id: str) -> Any:
        return self._lifecycle.records[instance_id].model


def _token_scope(request: Request, wanted: launch.Launch) -> tuple[str, str, str] | None:
    """A token counts in a zone when the request names a subnet or a zone, else in the region."""
    token = request.text("ClientToken")
    return (
        (request.region, wanted.place.zone if wanted.named_zone else "", token) if token else None
    )


def _would_have_succeeded() -> Ec2Error:
    return Ec2Error("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")


def _show(record: Record, name: str) -> None:
    record.model._state.name = name
    record.model._state.code = CODES[name]


def _changed(operation: str, before: dict[str, str], after: dict[str, str]) -> Reply:
    items = "".join(
        f"<item><instanceId>{instance_id}</instanceId>"
        f"<currentState><code>{CODES[after[instance_id]]}</code>"
        f"<name>{after[instance_id]}</name></currentState>"
        f"<previousState><code>{CODES[state]}</code><name>{state}</name></previousState></item>"
        for instance_id, state in before.items()
    )
    return wire.answer(operation, f"<instancesSet>{items}</instancesSet>")


def _faulty(request: Request, fault: Fault) -> Reply:
    if fault.body is not None:
        reply = Reply(fault.status, fault.body.encode(), [("Content-Type", "text/xml")])
    else:
        code = fault.code or code_of(fault.status)
        message = fault.message or "The sandbox answers this by a fault rule."
        reply = wire.error(request.service, code, message, fault.status)
    given = {name.lower() for name in fault.headers}
    kept = [(name, value) for name, value in reply.headers if name.lower() not in given]
    return Reply(reply.status, reply.body, kept + list(fault.headers.items()))


def _text(reply: Reply) -> str:
    return reply.body.decode()
