"""Look into EC2 and set its rules from other processes: `/_sandbox`, JSON, beside GitHub's.

`GET    /_sandbox/instances`                all instances, in the order of their launch
`GET    /_sandbox/instances/{id}/console`   what the instance has written on its console, as text
`GET    /_sandbox/rules`                    the rules in force
`POST   /_sandbox/rules`                    {"refuse": …, "capacity": …, "price": …, "boot": …},
                                            each an object (or a list of them) with the
                                            arguments of that method of `sandbox.ec2.rules.Rules`
`DELETE /_sandbox/rules`                    none is in force any more
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from sandbox import arguments
from sandbox.ec2 import Ec2

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_RULES = ("refuse", "capacity", "price", "boot")


class Control:
    """WSGI middleware in front of the simulated GitHub, whose address users know."""

    def __init__(self, github: WSGIApplication, ec2: Ec2) -> None:
        self._github = github
        self._ec2 = ec2

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        parts = str(environ.get("PATH_INFO", "")).strip("/").split("/")
        if parts[0] != "_sandbox" or parts[1:2] not in (["instances"], ["rules"]):
            return self._github(environ, start_response)
        request = Request(environ)
        try:
            response = self._answer(request, parts[1:])
        except arguments.ArgumentError as error:
            response = _json({"message": str(error)}, 400)
        return response(environ, start_response)

    def _answer(self, request: Request, parts: list[str]) -> Response:
        match request.method, parts:
            case "GET", ["instances"]:
                return _json([asdict(one) for one in self._ec2.instances()])
            case "GET", ["instances", instance_id, "console"]:
                return self._console(instance_id)
            case "GET", ["rules"]:
                return _json(self._rules())
            case "POST", ["rules"]:
                self._add(request)
                return Response(status=204)
            case "DELETE", ["rules"]:
                self._ec2.rules.clear()
                return Response(status=204)
        return _json({"message": f"there is no {request.method} {request.path}"}, 404)

    def _console(self, instance_id: str) -> Response:
        if instance_id not in {one.id for one in self._ec2.instances()}:
            return _json({"message": f"there is no instance {instance_id}"}, 404)
        return Response(self._ec2.console(instance_id), content_type="text/plain; charset=utf-8")

    def _rules(self) -> dict[str, Any]:
        rules = self._ec2.rules
        return {
            "refuse": [asdict(rule) for rule in rules.refusals],
            "capacity": [asdict(rule) for rule in rules.capacities],
            "price": [asdict(rule) for rule in rules.prices],
            "boot": [asdict(rule) for rule in rules.boots],
        }

    def _add(self, request: Request) -> None:
        body = arguments.from_json(request.get_data())
        if not isinstance(body, dict) or not body or set(body) - set(_RULES):
            msg = f"the body is a JSON object with some of: {', '.join(_RULES)}"
            raise arguments.ArgumentError(msg)
        for name, given in body.items():
            for rule in given if isinstance(given, list) else [given]:
                arguments.call(getattr(self._ec2.rules, name), rule, f"a rule {name!r}")


def _json(data: Any, status: int = 200) -> Response:
    text = json.dumps(data, indent=2) + "\n"
    return Response(text, status, content_type="application/json; charset=utf-8")
