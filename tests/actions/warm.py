"""Entrypoints started in a process that has imported their packages before it begins.

Most of what an action costs a test is Python starting and importing boto3 and PyGithub. A fork of
an interpreter that has done so runs the same file as `__main__`, with an environment, streams,
signals and an exit status of its own. Run as a program, this file is that interpreter.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn, TextIO

SHARED = Path(__file__).resolve().parents[2] / "shared"
PACKAGES = ("actions_toolkit.core", "boto3", "botocore.parsers", "github", "requests")
_LONGEST = 1 << 18  # bytes of a request


class WarmProcess:
    """A child of the interpreter, to be handled as a `subprocess.Popen`."""

    def __init__(self, pid: int, output: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout: TextIO | None = os.fdopen(output, encoding="utf-8")
        self._output = output
        self._status = status

    def poll(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._await(0)

    def wait(self, timeout: float) -> int:
        """The exit status; raises `subprocess.TimeoutExpired`."""
        status = self._await(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("an entrypoint", timeout)
        return status

    def _await(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            self.returncode = int(os.read(self._status, 16) or b"-9")
            os.close(self._status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def output(self, timeout: float) -> str:
        """All it writes until it has ended; it is killed when that takes too long."""
        end, pieces = time.monotonic() + timeout, list[bytes]()
        try:
            while piece := self._read(end - time.monotonic()):
                pieces.append(piece)
            self.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired as late:
            self.send_signal(signal.SIGKILL)
            late.output = b"".join(pieces)
            raise
        finally:
            if self.stdout is not None:
                self.stdout.close()
        return b"".join(pieces).decode()

    def _read(self, timeout: float) -> bytes:
        if not select.select([self._output], [], [], max(0.0, timeout))[0]:
            raise subprocess.TimeoutExpired("an entrypoint", timeout)
        return os.read(self._output, 65536)


class Interpreter:
    """The interpreter that has imported everything; it ends with whoever made it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SHARED)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def start(self, program: Path, environment: Mapping[str, str]) -> WarmProcess:
        """Run a Python file, its standard output and error in one pipe."""
        output, its_output = os.pipe()
        status, its_status = os.pipe()
        request = json.dumps({"program": str(program), "environment": dict(environment)})
        socket.send_fds(self._socket, [request.encode()], [its_output, its_status])
        os.close(its_output)
        os.close(its_status)
        return WarmProcess(int(self._socket.recv(16)), output, status)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def interpreter() -> Interpreter:
    """One for this process."""
    made = Interpreter()
    atexit.register(made.close)
    return made


def serve(connection: socket.socket) -> None:
    """Fork for each request and tell the exit statuses, until the other side is gone."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    statuses: dict[int, int] = {}  # process id to where its status is awaited
    while True:
        ready, _, _ = select.select([connection.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _reap(statuses)
        if connection.fileno() in ready:
            request, descriptors, _, _ = socket.recv_fds(connection, _LONGEST, 2)
            if not request:
                _end(statuses)
                return
            output, status = descriptors
            pid = os.fork()
            if pid == 0:
                _become(json.loads(request), output)
            statuses[pid] = status
            os.close(output)
            connection.send(str(pid).encode())


def _reap(statuses: dict[int, int]) -> None:
    for pid, status in list(statuses.items()):
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            del statuses[pid]
            os.write(status, str(os.waitstatus_to_exitcode(code)).encode())
            os.close(status)


def _end(pids: Iterable[int]) -> None:
    """End what still runs: nobody is there to read what it says."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _become(request: Mapping[str, str | dict[str, str]], output: int) -> NoReturn:
    """Run the program in this process, as if it had been started."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, 256)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    program, environment = request["program"], request["environment"]
    assert isinstance(environment, dict)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [str(program)]
    status: object = 0
    try:
        runpy.run_path(str(program), run_name="__main__")
    except SystemExit as end:
        status = end.code
    except BaseException:  # as the interpreter itself does
        sys.excepthook(*sys.exc_info())
        status = 1
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        status = status or 120
    os._exit(status if isinstance(status, int) else int(status is not None))


def _warm_up() -> None:
    for name in PACKAGES:
        import_module(name)
    package = import_module("runner_fleet")
    for found in pkgutil.walk_packages(package.__path__, "runner_fleet."):
        import_module(found.name)
    gc.collect()
    gc.freeze()  # a fork that collects would copy every page


if __name__ == "__main__":
    _warm_up()
    with socket.socket(fileno=int(sys.argv[1])) as other_side:
        serve(other_side)
