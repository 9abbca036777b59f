"""A forwarding proxy on loopback, for plain HTTP: what it was asked for, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    asked: list[str]  # for each request the origin it was for, "http://host:port"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Proxy

    def _forward(self) -> None:
        url = urlsplit(self.path)
        self.server.asked.append(f"{url.scheme}://{url.netloc}")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream = HTTPConnection(url.netloc, timeout=30)
        try:
            target = f"{url.path or '/'}{'?' + url.query if url.query else ''}"
            upstream.request(self.command, target, body, dict(self.headers))
            reply = upstream.getresponse()
            content = reply.read()
        finally:
            upstream.close()
        self.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _forward  # noqa: N815 (as http.server names them)

    def log_message(self, *_: object) -> None:
        """Not to the tests' output."""


@contextmanager
def running() -> Iterator[_Proxy]:
    with _Proxy(("127.0.0.1", 0), _Handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
