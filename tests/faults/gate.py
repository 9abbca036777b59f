"""Hold one API call of an action, before it has an effect or before its reply is read."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from sandbox.ec2 import wire

from tests.actions.harness import Running
from tests.faults.calls import is_ours, name_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATIENCE = 90.0  # seconds; only a hang takes as long
_HOLD = 0.1  # seconds that a call is held on after a signal, which then finds it under way


class Gate:
    """In front of both services. Closed, it holds one call of those that actions make.

    The call is named as by `calls.name_of`, with how often it was made before; `moment` says on
    which side of its effect it is held.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: tuple[str, int, str] | None = None
        self._seen: Counter[str] = Counter()
        self.reached = threading.Event()
        self._open = threading.Event()
        self._left = threading.Event()  # the call that was held is over
        self._left.set()

    def close_at(self, call: str, skip: int, moment: str) -> None:
        with self._lock:
            self._wanted = (call, skip, moment)
            self._seen.clear()
            self.reached.clear()
            self._open.clear()
            self._left.set()

    def open(self) -> None:
        """Let the call that is held go on, and hold no other."""
        with self._lock:
            self._wanted = None
            self._open.set()

    def signal(self, running: Running, number: signal.Signals) -> bool:
        """Send the signal when the call is held, and let it go on; False if it never came."""
        try:
            while not self.reached.wait(0.02) and running.process.poll() is None:
                pass
            running.signal(number)
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(PATIENCE if number == signal.SIGKILL else _HOLD)
        finally:
            self.open()
        return self.reached.is_set()

    def around(self, application: WSGIApplication) -> WSGIApplication:
        def gated(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            moment = self._moment(environ)
            if moment == "before":
                self._hold()
            # The reply is complete before it is returned: both services buffer theirs.
            reply = application(environ, start_response)
            if moment == "after":
                self._hold()
            if moment:
                self._left.set()
            return reply

        return gated

    def _moment(self, environ: WSGIEnvironment) -> str:
        """Where the call is to be held; empty for all calls but one."""
        if not is_ours(environ.get("HTTP_USER_AGENT", "")):
            return ""
        call = name_of(_operation(environ))
        with self._lock:
            skip, self._seen[call] = self._seen[call], self._seen[call] + 1
            if self._wanted is None or self._wanted[:2] != (call, skip):
                return ""
            return self._wanted[2]

    def settle(self) -> None:
        """Return when the call that was held has had its effect."""
        self._left.wait(PATIENCE)

    def _hold(self) -> None:
        self._left.clear()
        self.reached.set()
        self._open.wait(PATIENCE)


def _operation(environ: WSGIEnvironment) -> str:
    aws = wire.read(environ).operation
    return aws or f"{environ['REQUEST_METHOD']} {environ.get('PATH_INFO', '')}"
