"""What a machine asks about itself: the instance metadata service, and the sandbox's own.

Served on a port of its own under `/<instance id>/`, where the stand-in commands find it: curl for
169.254.169.254 (version 2 only: a token, then the question), shutdown for its power switch.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from werkzeug.wrappers import Request, Response

from sandbox.ec2.machines import Facts

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class Power(Protocol):
    """What a machine can do to itself."""

    def facts(self, instance_id: str) -> Facts | None: ...
    def user_data(self, instance_id: str) -> str: ...
    def spot_action(self, instance_id: str) -> str | None: ...
    def shut_down(self, instance_id: str, after: float, reboot: bool) -> None: ...
    def cancel_shutdown(self, instance_id: str) -> None: ...
    def run_later(self, instance_id: str, after: float, arguments: list[str]) -> None: ...


class Metadata:
    """A WSGI application."""

    def __init__(self, power: Power) -> None:
        self._power = power
        self._tokens: dict[str, str] = {}  # token -> instance id
        self._lock = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        _, instance_id, *rest = request.path.split("/", 2)
        facts = self._power.facts(instance_id)
        if facts is None:
            return Response("no such machine\n", 404)(environ, start_response)
        path = rest[0] if rest else ""
        answer = self._own if path.startswith("sandbox/") else self._metadata
        return answer(request, facts, path)(environ, start_response)

    def _metadata(self, request: Request, facts: Facts, path: str) -> Response:
        if path == "latest/api/token":
            return self._token(request, facts)
        if request.method != "GET":
            return Response("", 405)
        with self._lock:
            holder = self._tokens.get(request.headers.get("X-aws-ec2-metadata-token", ""))
        if holder != facts.instance_id:
            return Response("", 401)
        value = self._value(facts, path.removeprefix("latest/"))
        return Response("", 404) if value is None else Response(value, 200)

    def _token(self, request: Request, facts: Facts) -> Response:
        if request.method != "PUT":
            return Response("", 405)
        lifetime = request.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        if not lifetime.isdigit() or not 1 <= int(lifetime) <= 21600:
            return Response("", 400)
        token = secrets.token_urlsafe(41) + "=="
        with self._lock:
            self._tokens[token] = facts.instance_id
        return Response(token, 200, headers={"X-aws-ec2-metadata-token-ttl-seconds": lifetime})

    def _value(self, facts: Facts, path: str) -> str | None:
        if path == "user-data":
            return self._power.user_data(facts.instance_id) or None
        if path == "meta-data/spot/instance-action":
            return self._power.spot_action(facts.instance_id)
        host = f"ip-{facts.address.replace('.', '-')}.ec2.internal"
        values: dict[str, Callable[[], str]] = {
            "ami-id": lambda: facts.image_id,
            "ami-launch-index": lambda: str(facts.launch_index),
            "hostname": lambda: host,
            "instance-id": lambda: facts.instance_id,
            "instance-type": lambda: facts.instance_type,
            "local-hostname": lambda: host,
            "local-ipv4": lambda: facts.address,
            "placement/availability-zone": lambda: facts.zone,
            "placement/region": lambda: facts.region,
        }
        name = path.removeprefix("meta-data/")
        if name == "":
            return "\n".join(sorted({key.split("/")[0] for key in values}))
        return values[name]() if name in values else None

    def _own(self, request: Request, facts: Facts, path: str) -> Response:
        if request.method != "POST":
            return Response("", 405)
        instance_id = facts.instance_id
        after = request.args.get("after", 0.0, float)
        match path:
            case "sandbox/shutdown":
                self._power.shut_down(instance_id, after, request.args.get("reboot") == "1")
            case "sandbox/cancel":
                self._power.cancel_shutdown(instance_id)
            case "sandbox/later":
                arguments = request.get_data().decode().split("\n")
                self._power.run_later(instance_id, after, arguments)
            case _:
                return Response("", 404)
        return Response("", 200)
