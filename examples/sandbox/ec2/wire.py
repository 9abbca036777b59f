"""AWS calls on the wire: reading a request, writing an error, handing a request on."""

from __future__ import annotations

import io
import json
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4
from xml.sax.saxutils import escape

from werkzeug.test import run_wsgi_app

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

_SCOPE = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/aws4_request")
_UNSIGNED = {"AssumeRoleWithWebIdentity": "sts", "AssumeRoleWithSAML": "sts"}


@dataclass
class Request:
    """One AWS call. `parameters` are the query protocol's flat names (`Filter.1.Name`)."""

    environ: WSGIEnvironment
    body: bytes
    service: str  # from the credential scope; "" when the call is not an AWS call
    region: str
    operation: str
    parameters: dict[str, str]

    def text(self, name: str) -> str:
        return self.parameters.get(name, "")

    def flag(self, name: str) -> bool:
        return self.text(name).lower() == "true"

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        return int(value) if value.lstrip("-").isdigit() else default

    def listed(self, name: str) -> list[str]:
        """`InstanceId.1=a&InstanceId.2=b` as `["a", "b"]`, in the order of the numbers."""
        return listed(self.parameters, name)

    def structures(self, name: str) -> list[dict[str, str]]:
        """`Filter.1.Name=a&Filter.1.Value.1=b` as `[{"Name": "a", "Value.1": "b"}]`."""
        return structures(self.parameters, name)

    def without(self, *names: str) -> dict[str, str]:
        """The parameters but those with one of the names, or below it."""
        return {
            key: value
            for key, value in self.parameters.items()
            if not any(key == name or key.startswith(f"{name}.") for name in names)
        }


@dataclass
class Reply:
    status: int
    body: bytes
    headers: list[tuple[str, str]] = field(default_factory=list)


def listed(parameters: dict[str, str], name: str) -> list[str]:
    pattern = re.compile(rf"{re.escape(name)}\.(\d+)$")
    found = [(int(match[1]), value) for key, value in parameters.items()
             if (match := pattern.match(key))]  # fmt: skip
    return [value for _, value in sorted(found)]


def structures(parameters: dict[str, str], name: str) -> list[dict[str, str]]:
    pattern = re.compile(rf"{re.escape(name)}\.(\d+)\.(.+)$")
    found: dict[int, dict[str, str]] = {}
    for key, value in parameters.items():
        if match := pattern.match(key):
            found.setdefault(int(match[1]), {})[match[2]] = value
    return [found[number] for number in sorted(found)]


def read(environ: WSGIEnvironment) -> Request:
    """The request, its body read (and put back, so that it can be handed on)."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length else b""
    environ["wsgi.input"] = io.BytesIO(body)
    parameters: dict[str, str] = {}
    if environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        parameters = dict(parse_qsl(body.decode(), keep_blank_values=True))
    parameters |= dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
    target = str(environ.get("HTTP_X_AMZ_TARGET", ""))
    operation = target.rpartition(".")[2] or parameters.get("Action", "")
    scope = _SCOPE.search(str(environ.get("HTTP_AUTHORIZATION", "")))
    service, region = (scope[3], scope[2]) if scope else (_UNSIGNED.get(operation, ""), "")
    return Request(environ, body, service, region, operation, parameters)


def hand_on(
    application: WSGIApplication, request: Request, parameters: dict[str, str] | None = None
) -> Reply:
    """What the application answers, to the request as it came or with other parameters."""
    environ = {k: v for k, v in request.environ.items() if k != "werkzeug.request"}
    body = request.body
    if parameters is not None:
        body = urlencode(parameters).encode()
        environ["QUERY_STRING"] = ""
        environ["CONTENT_TYPE"] = "application/x-www-form-urlencoded; charset=utf-8"
    environ["wsgi.input"] = io.BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    chunks, status, headers = run_wsgi_app(application, environ, buffered=True)
    return Reply(int(status.split()[0]), b"".join(chunks), list(headers))


def error(service: str, code: str, message: str, status: int) -> Reply:
    """An error as the service's protocol writes it."""
    number = str(uuid4())
    if service in ("ssm", "dynamodb", "pricing"):
        body = json.dumps({"__type": code, "message": message})
        return Reply(status, body.encode(), [("Content-Type", "application/x-amz-json-1.1")])
    inner = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
    if service == "ec2":
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Response><Errors><Error>{inner}</Error></Errors>"
            f"<RequestID>{number}</RequestID></Response>"
        )
    else:
        fault = "Sender" if status < 500 else "Receiver"
        body = (
            f"<ErrorResponse><Error><Type>{fault}</Type>{inner}</Error>"
            f"<RequestId>{number}</RequestId></ErrorResponse>"
        )
    return Reply(status, body.encode(), [("Content-Type", "text/xml;charset=UTF-8")])


def answer(operation: str, inner: str) -> Reply:
    """A successful EC2 reply."""
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{operation}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
        f"<requestId>{uuid4()}</requestId>{inner}</{operation}Response>"
    )
    return Reply(200, body.encode(), [("Content-Type", "text/xml;charset=UTF-8")])


def send(reply: Reply, start_response: Callable[..., Any]) -> Iterable[bytes]:
    headers = [(k, v) for k, v in reply.headers if k.lower() != "content-length"]
    start_response(f"{reply.status} {_PHRASE.get(reply.status, 'Status')}",
                   [*headers, ("Content-Length", str(len(reply.body)))])  # fmt: skip
    return [reply.body]


_PHRASE = {200: "OK", 400: "Bad Request", 500: "Internal Server Error"}


def hang_up(environ: WSGIEnvironment) -> NoReturn:
    """Close the connection without a reply. Raises what the server takes for the peer's doing."""
    connection = environ.get("werkzeug.socket")
    if isinstance(connection, socket.socket):
        connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionResetError
