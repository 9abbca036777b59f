"""What EC2 says of instances and images; moto's replies to the questions it understands."""

from __future__ import annotations

import base64
import time

from sandbox.calls import CallLog
from sandbox.ec2 import backend, filters, launch, wire
from sandbox.ec2.errors import Ec2Error, would_have_succeeded
from sandbox.ec2.lifecycle import Lifecycle
from sandbox.ec2.records import CODES, Record
from sandbox.ec2.wire import Reply, Request

_NO_MATCH = "i-00000000000000000"


class Describing:
    """The calls that only look."""

    def __init__(self, lifecycle: Lifecycle, log: CallLog) -> None:
        self._lifecycle = lifecycle
        self._log = log

    def instances(self, request: Request, seen_at: float | None = None) -> Reply:
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
                filters.check_instance_ids(asked, (instance.id for _, instance in instances))
                found = filters.matching(instances, request.parameters)
                if request.flag("DryRun"):
                    raise would_have_succeeded()
                if asked:
                    found = [instance_id for instance_id in found if instance_id in asked]
                parameters = request.without("InstanceId", "Filter")
                parameters.setdefault("MaxResults", "1000")
                parameters["Filter.1.Name"] = "instance-id"
                for number, instance_id in enumerate(found or [_NO_MATCH], 1):
                    parameters[f"Filter.1.Value.{number}"] = instance_id
                return backend.ask(request, parameters)
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

    def instance_status(self, request: Request) -> Reply:
        asked = request.listed("InstanceId")
        filters.check_instance_ids(asked, self._lifecycle.known(request.region))
        with self._lifecycle.lock:
            return backend.ask(request)

    def images(self, request: Request) -> Reply:
        asked = request.listed("ImageId")
        launch.check_image_ids(asked)
        known = backend.models(request.region).amis
        if unknown := [image_id for image_id in asked if image_id not in known]:
            text = "image id" if len(unknown) == 1 else "image ids"
            verb = "does not exist" if len(unknown) == 1 else "do not exist"
            msg = f"The {text} '[{', '.join(unknown)}]' {verb}"
            raise Ec2Error("InvalidAMIID.NotFound", msg)
        return backend.ask(request)

    def route_tables(self, request: Request) -> Reply:
        """A default VPC leads to an internet gateway (VPC user guide, "Default VPCs"); moto's does
        not."""
        models = backend.models(request.region)
        vpc, gateways = models.default_vpc, models.internet_gateways.values()
        if vpc and not any(gateway.vpc and gateway.vpc.id == vpc.id for gateway in gateways):
            gateway = models.create_internet_gateway()
            models.attach_internet_gateway(gateway.id, vpc.id)
            main = next(
                each
                for each in models.route_tables.values()
                if each.vpc_id == vpc.id and each.main_association_id
            )
            models.create_route(main.id, "0.0.0.0/0", gateway_id=gateway.id)
        return backend.ask(request)

    def console_output(self, request: Request) -> Reply:
        instance_id = request.text("InstanceId")
        filters.check_instance_ids([instance_id], self._lifecycle.known(request.region))
        record = self._lifecycle.records[instance_id]
        output = record.machine.console() if record.machine else ""
        encoded = base64.b64encode(output.encode()[-65536:]).decode()
        moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self._log.clock()))
        return wire.answer(
            "GetConsoleOutput",
            f"<instanceId>{instance_id}</instanceId><timestamp>{moment}</timestamp>"
            f"<output>{encoded}</output>",
        )


def _show(record: Record, name: str) -> None:
    record.model._state.name = name
    record.model._state.code = CODES[name]
