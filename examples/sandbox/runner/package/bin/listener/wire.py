"""HTTP/1.0 with JSON both ways, to the one server this runner knows."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from pathlib import Path
from typing import Any

PATIENCE = 20  # seconds of one long poll
_GIVE_UP = 120.0  # seconds without an answer after which the runner ends


class RunnerError(Exception):
    """Ends the program with its text and exit status 1."""


class Reply:
    def __init__(self, status: int, body: Any) -> None:
        self.status = status
        self.body = body

    @property
    def message(self) -> str:
        return str(self.body.get("message", "")) if isinstance(self.body, dict) else ""


class Server:
    """`url` is any URL on the server; only host and port count."""

    def __init__(self, url: str, credential: str = "") -> None:
        scheme, _, rest = url.partition("://")
        if scheme != "http":
            msg = f"An error occurred: cannot connect to {url}"
            raise RunnerError(msg)
        self.address, _, _ = rest.partition("/")
        self.credential = credential

    def call(self, method: str, path: str, body: Any = None) -> Reply:
        """Raises OSError when there is no answer."""
        host, _, port = self.address.partition(":")
        data = b"" if body is None else json.dumps(body).encode()
        lines = [
            f"{method} {path} HTTP/1.0",
            f"Host: {self.address}",
            "User-Agent: GitHubActionsRunner (stand-in)",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
        ]
        if self.credential:
            lines.append(f"Authorization: Bearer {self.credential}")
        place = (host, int(port or 80))
        with socket.create_connection(place, timeout=PATIENCE + 40) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + data)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
        head, _, content = received.partition(b"\r\n\r\n")
        if not head:
            msg = "the server closed the connection"
            raise ConnectionResetError(msg)
        status = int(head.split(b" ", 2)[1])
        try:
            return Reply(status, json.loads(content or b"null"))
        except ValueError:
            return Reply(status, None)

    def insist(self, method: str, path: str, body: Any = None) -> Reply:
        """Call until there is an answer that is not the server's own trouble."""
        pause = 0.2
        deadline = time.monotonic() + _GIVE_UP
        while True:
            try:
                reply = self.call(method, path, body)
                if reply.status < 500:
                    return reply
                trouble = f"status {reply.status}"
            except OSError as error:
                trouble = str(error)
            if time.monotonic() > deadline:
                msg = f"Runner connect error: {trouble}"
                raise RunnerError(msg)
            say(f"{stamp()}: Runner connect error: {trouble}. Retrying until reconnected.")
            time.sleep(pause)
            pause = min(pause * 2, 10)


_LOGS = Path("_diag")
_BEGAN = time.strftime("%Y%m%d-%H%M%S", time.gmtime())


def log_path(what: str) -> Path:
    """Where the real one's programs write their logs: _diag/Runner_..., _diag/Worker_..."""
    _LOGS.mkdir(exist_ok=True)
    return _LOGS / f"{what}_{_BEGAN}-utc.log"


def say(text: str = "") -> None:
    """To the console, and to the listener's log as the real one does."""
    with contextlib.suppress(OSError), log_path("Runner").open("a", encoding="utf-8") as log:
        log.write(f"[{stamp()} INFO Terminal] WRITE LINE: {text}\n")
    print(text, flush=True)


def stamp() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
