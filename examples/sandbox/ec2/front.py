"""The WSGI application the AWS clients talk to: EC2's ways in front of moto."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sandbox.calls import Call, CallLog
from sandbox.ec2 import backend, formation, permissions, templates, wire
from sandbox.ec2.describing import Describing
from sandbox.ec2.door import Door
from sandbox.ec2.ending import Ending
from sandbox.ec2.errors import Ec2Error, code_of
from sandbox.ec2.launching import Launching
from sandbox.ec2.lifecycle import Lifecycle
from sandbox.ec2.pricing import Pricing
from sandbox.ec2.rules import Rules
from sandbox.ec2.wire import Reply, Request
from sandbox.faults import Fault, Faults

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class Front:
    """Logs every call, applies the faults, and corrects what moto does differently."""

    def __init__(self, lifecycle: Lifecycle, rules: Rules, log: CallLog, faults: Faults) -> None:
        self._lifecycle = lifecycle
        self._log = log
        self._faults = faults
        self._launching = Launching(lifecycle, rules, log)
        self._describing = Describing(lifecycle, log)
        self._pricing = Pricing(rules)
        self._door = Door()
        ending = Ending(lifecycle)
        self._operations: dict[str, Callable[[Request], Reply]] = {
            "RunInstances": self._launching.run_instances,
            "DescribeInstances": self._describing.instances,
            "DescribeInstanceStatus": self._describing.instance_status,
            "DescribeImages": self._describing.images,
            "DescribeRouteTables": self._describing.route_tables,
            "GetConsoleOutput": self._describing.console_output,
            "DescribeSpotPriceHistory": self._pricing.spot_prices,
            "GetProducts": self._pricing.products,
            "TerminateInstances": ending.terminate,
            "StopInstances": ending.stop,
            "StartInstances": ending.start,
        }

    @contextmanager
    def shut(self) -> Iterator[None]:
        """For a reset: no call is under way, and those that a fault still delays are refused."""
        with self._door.shut():
            self._launching.forget()
            yield

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        began, arrived = time.monotonic(), self._log.clock()
        age, log_age, status = self._door.age, self._log.age, 0
        request = wire.read(environ)
        try:
            reply = self._reply(request, age)
            status = reply.status if reply else 0
        finally:  # the log has the call before the caller has the reply
            if request.operation:
                query = str(environ.get("QUERY_STRING", ""))
                client = str(environ.get("HTTP_USER_AGENT", ""))
                seconds = time.monotonic() - began
                fields = request.without("UserData", "Action", "Version")
                self._log.add(
                    Call(
                        request.service,
                        request.operation,
                        status,
                        arrived,
                        seconds,
                        query,
                        client,
                        fields,
                    ),
                    log_age,
                )
        if reply is None:
            wire.hang_up(environ)
        return wire.send(reply, start_response)

    def _reply(self, request: Request, age: int) -> Reply | None:
        """The reply; None: the connection is closed without one."""
        operation, region = request.operation, request.region
        fault = self._faults.take(operation, region) if operation else None
        if fault and fault.delay:
            self._faults.pause(fault.delay)
        with self._door.inside(age) as admitted:
            if not admitted:  # an error after which nobody asks again
                return wire.error(request.service, "RequestExpired", "The sandbox was reset.", 400)
            return self._struck(request, fault)

    def _struck(self, request: Request, fault: Fault | None) -> Reply | None:
        """The reply, with the fault that strikes this call if there is one."""
        if request.region and request.region not in backend.regions():
            return None  # there is no such host
        if fault is None:
            return self._carry_out(request)
        if fault.when == "stale":
            return self._carry_out(request, fault.stale_seconds)
        if fault.when == "before" and fault.status:
            return _faulty(request, fault)
        reply = self._carry_out(request)
        if fault.when == "drop":
            return None
        return _faulty(request, fault) if fault.status else reply

    def _carry_out(self, request: Request, stale: float = 0.0) -> Reply:
        if request.service == "cloudformation":
            formation.prepare()
        if request.service not in ("ec2", "iam", "ssm", "pricing"):
            return wire.hand_on(backend.application(), request)
        try:
            if request.operation == "RunInstances":
                request = templates.applied(request)
            permissions.authorize(request, self._lifecycle.records)
            if request.service in ("iam", "ssm"):
                return wire.hand_on(backend.application(), request)
            if stale and request.operation == "DescribeInstances":
                return self._describing.instances(request, self._log.clock() - stale)
            return self._operations.get(request.operation, backend.ask)(request)
        except Ec2Error as error:
            return wire.error(request.service, error.code, error.message, error.status)


def _faulty(request: Request, fault: Fault) -> Reply:
    if fault.body is not None:
        reply = Reply(fault.status, fault.body.encode(), [("Content-Type", "text/xml")])
    else:
        code = fault.code or code_of(fault.status)
        message = fault.message or "The sandbox answers this by a fault rule."
        message = message.replace("{InstanceId}", ", ".join(request.listed("InstanceId")))
        reply = wire.error(request.service, code, message, fault.status)
    given = {name.lower() for name in fault.headers}
    kept = [(name, value) for name, value in reply.headers if name.lower() not in given]
    return Reply(reply.status, reply.body, kept + list(fault.headers.items()))
