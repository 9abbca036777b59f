"""The way into the API: prefixes and numeric ids in paths, faults, and the log of calls."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from werkzeug.test import run_wsgi_app

from sandbox.calls import Call
from sandbox.faults import Fault
from sandbox.github.errors import JSON, error_page

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from sandbox.github.simulator import Simulator

ENTERPRISE_SERVER_PREFIX = "/api/v3"
STALE_SECONDS = "sandbox.stale_seconds"
AGE = "sandbox.age"
PREFIX = "sandbox.prefix"
SIMULATOR = "sandbox.simulator"

_NUMERIC = re.compile(r"/(repositories|organizations)/(\d+)(/.*)?$")
_UNLOGGED = "/_sandbox/"
_NOT_API = ("/_runner/", "/_downloads/", "/actions/runner/releases/")

Reply = tuple[int, list[tuple[str, str]], bytes]


class Edge:
    """WSGI middleware in front of the API. It also sees what the API never answers to."""

    def __init__(self, application: WSGIApplication, simulator: Simulator) -> None:
        self._application = application
        self._simulator = simulator
        self.sleep: Callable[[float], None] = simulator.faults.pause

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[SIMULATOR], environ[AGE] = self._simulator, self._simulator.state.age
        log_age = self._simulator.log.age
        asked = environ.get("PATH_INFO", "")
        path = self._route(environ, asked)
        if path.startswith(_UNLOGGED):
            return self._application(environ, start_response)
        at, began = self._simulator.log.clock(), time.monotonic()
        operation = f"{environ['REQUEST_METHOD']} {path}"
        is_api = not path.startswith(_NOT_API)
        if is_api:
            self._simulator.limits.enter()
        try:
            sent = self._answer(environ, operation)
        finally:
            if is_api:
                self._simulator.limits.leave()
        self._simulator.log.add(
            Call(
                service="github" if is_api else "runner",
                operation=operation,
                status=sent[0] if sent else 0,
                at=at,
                seconds=time.monotonic() - began,
                query=environ.get("QUERY_STRING", ""),
                client=environ.get("HTTP_USER_AGENT", ""),
                fields={"path": asked},
            ),
            log_age,
        )
        if sent is None:
            _hang_up(environ)
            sent = (500, [], b"")
        status, headers, body = sent
        start_response(f"{status} -", headers)
        return [body]

    def _route(self, environ: WSGIEnvironment, path: str) -> str:
        """Take /api/v3 off, and put names for the numeric ids of Link URLs."""
        if path.startswith(ENTERPRISE_SERVER_PREFIX + "/"):
            path = path.removeprefix(ENTERPRISE_SERVER_PREFIX)
            environ[PREFIX] = ENTERPRISE_SERVER_PREFIX
        numeric = _NUMERIC.match(path)
        if numeric:
            kind, number, rest = numeric[1], int(numeric[2]), numeric[3] or ""
            name = self._name(kind, number)
            if name is not None:
                path = f"/{'repos' if kind == 'repositories' else 'orgs'}/{name}{rest}"
        environ["PATH_INFO"] = path
        return path

    def _name(self, kind: str, number: int) -> str | None:
        with self._simulator.state.lock:
            if kind == "repositories":
                repository = self._simulator.state.repository_ids.get(number)
                return repository.full_name if repository else None
            known = self._simulator.state.organizations.values()
            return next((name for found, name in known if found == number), None)

    def _answer(self, environ: WSGIEnvironment, operation: str) -> Reply | None:
        """The reply, with the fault that strikes this call if there is one; None to hang up."""
        fault = self._simulator.faults.take(operation)
        if fault is None:
            return self._call(environ)
        if fault.delay and fault.when == "before":
            self.sleep(fault.delay)
        if fault.when == "stale":
            environ[STALE_SECONDS] = fault.stale_seconds
        if fault.when == "before" and fault.status:
            return _faulty(fault)
        reply = self._call(environ)
        if fault.delay and fault.when != "before":
            self.sleep(fault.delay)
        if fault.when == "drop":
            return None
        return _faulty(fault) if fault.status and fault.when == "after" else reply

    def _call(self, environ: WSGIEnvironment) -> Reply:
        chunks, status, headers = run_wsgi_app(self._application, environ, buffered=True)
        return int(status.split(" ", 1)[0]), list(headers), b"".join(chunks)


def _faulty(fault: Fault) -> Reply:
    text, kind = error_page(fault.status, fault.message)
    if fault.body is not None:
        text = fault.body
        kind = "text/html" if text.lstrip().startswith("<") else JSON
    headers = {"Content-Type": kind, **fault.headers}
    return fault.status, list(headers.items()), text.encode()


def _hang_up(environ: WSGIEnvironment) -> None:
    """Close the connection without a reply, as a load balancer does when it loses its backend."""
    connection = environ.get("werkzeug.socket")
    if connection is not None:
        connection.shutdown(socket.SHUT_RDWR)
