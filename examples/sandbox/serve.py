"""Serve a WSGI application on a free loopback port."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from werkzeug.serving import make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# One line per request is what the call log is for.
logging.getLogger("werkzeug").setLevel(logging.ERROR)


class Server:
    """A threaded HTTP server on 127.0.0.1; the port is free unless one is given.

    The socket listens from construction on, so `url` can be handed out before `start`.
    """

    def __init__(self, application: WSGIApplication | None = None, port: int = 0) -> None:
        self.application = application
        self._server = make_server("127.0.0.1", port, self._call, threaded=True)
        self._server.daemon_threads = True  # type: ignore[attr-defined]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _call(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self.application is None:
            msg = "the server was started without an application"
            raise RuntimeError(msg)
        return self.application(environ, start_response)

    def start(self) -> Server:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop listening; requests under way are abandoned with the process."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(timeout=60)
        self._server.server_close()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
