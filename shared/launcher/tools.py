"""Run the tools that install, and say in one line what they said in many."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from launcher.errors import BuilderFailedError, LaunchError

DISK_FULL = (
    "the disk is full: the environment could not be written. Free some space, "
    "or set RUNNER_FLEET_CACHE to a directory on another disk."
)
QUIET_PIP = ("--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1")
# What the program may need and no installer does.
_SECRET = re.compile(r"^(AWS|GH|GITHUB|ACTIONS|INPUT|STATE)_")
# Settings that would have pip or uv install something else, or elsewhere. Which index to use, how
# to reach it and where to cache is the host's to say; what is installed is not.
_PIP_DROPPED = frozenset(
    f"PIP_{name}"
    for name in (
        *("CONSTRAINT", "REQUIREMENT", "NO_BINARY", "ONLY_BINARY", "PRE", "DRY_RUN", "REPORT"),
        *("USER", "TARGET", "PREFIX", "ROOT", "PYTHON", "PLATFORM", "PYTHON_VERSION", "ABI"),
        *("REQUIRE_VIRTUALENV", "DEST", "DESTINATION_DIRECTORY", "LOG", "QUIET", "VERBOSE"),
    )
)
_UV_KEPT = re.compile(
    r"^UV_(.*INDEX.*|FIND_LINKS|OFFLINE|.*CACHE.*|LINK_MODE|HTTP_.*|.*TIMEOUT|CONCURRENT_.*"
    r"|SYSTEM_CERTS|NATIVE_TLS|KEYRING_PROVIDER|INSECURE_HOST|CONFIG_FILE|NO_CONFIG)$"
)

_NETWORK = re.compile(
    r"connection (broken|refused|reset|aborted|error)|connect error|dns error|name resolution"
    r"|failed to lookup|timed out|unreachable|failed to fetch|certificate|\bSSL|proxy"
    r"|HTTP (status|error)|error sending request",
    re.IGNORECASE,
)
_NO_SPACE = re.compile(r"no space left on device|os error 28|disk quota exceeded", re.IGNORECASE)
_HASH = re.compile(r"hash mismatch|do not match the hashes", re.IGNORECASE)
_FRAME = " \t│├╰▶─›×"  # noqa: RUF001 - what uv draws round its errors
_NOISE = re.compile(
    r"^(hint|warning|help|note|traceback|during handling|the above exception|\[notice\])",
    re.IGNORECASE,
)


def variables(**more: str) -> dict[str, str]:
    """The host's variables for an installer: without secrets, and without other orders."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not _SECRET.match(name)
        and not name.startswith("PYTHON")
        and name not in _PIP_DROPPED
        and (not name.startswith("UV_") or _UV_KEPT.match(name))
    }
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(
    command: Sequence[str | Path],
    *,
    builder: str,
    cwd: Path = Path("/"),
    env: Mapping[str, str] | None = None,
) -> None:
    """Run one step of a builder, in `/` so that Python imports nothing from where we are.

    Raises BuilderFailedError with the useful part of what it said; LaunchError where no other
    builder should be tried: a hash that does not match, a full disk.
    """
    try:
        status, output = _finished(command, cwd, variables() if env is None else env)
    except OSError as error:
        raise BuilderFailedError(builder, str(error)) from error
    if status == 0:
        return
    text = output.decode("utf-8", "replace")
    if _NO_SPACE.search(text):
        raise LaunchError(DISK_FULL)
    if _HASH.search(text):
        msg = (
            f"refused: a package does not have the hash in the lock file ({useful(text)}). Either "
            "the package index serves something else than the public one, or a download broke."
        )
        raise LaunchError(msg)
    reason = useful(text) or f"exit status {status}"
    raise BuilderFailedError(builder, reason, network=bool(_NETWORK.search(text)))


def _finished(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str]
) -> tuple[int, bytes]:
    """The exit status and output of a command; it does not outlive this process's own end."""
    with _signals.held():
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=tuple(_shared),
        )
    try:
        _signals.raise_held()
        output, _ = process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process.returncode, output


# Descriptors that children get, too.
_shared: list[int] = []


@contextlib.contextmanager
def shared_with_children(descriptor: int) -> Iterator[None]:
    """While the block runs, hand the descriptor on to each process that is started."""
    _shared.append(descriptor)
    try:
        yield
    finally:
        _shared.remove(descriptor)


class _Signals:
    """SIGINT and SIGTERM as exceptions, but not while a process is being started.

    One that came then would leave that process without anybody who knows of it.
    """

    def __init__(self) -> None:
        self._holding = False
        self._held = 0

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._arrive)

    def _arrive(self, number: int, _frame: FrameType | None) -> None:
        self._held = number
        if not self._holding:
            self.raise_held()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        self._holding = True
        try:
            yield
        finally:
            self._holding = False

    def raise_held(self) -> None:
        if self._held:
            raise SystemExit(128 + self._held)


_signals = _Signals()


def leave_by_exception() -> None:
    """From now on, end on a signal by an exception, so that what was begun is ended and removed."""
    _signals.install()


def useful(text: str) -> str:
    """The one or two lines of a tool's output that say what went wrong, without credentials."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    broken = re.search(r"connection broken by '(.*?)':", plain)
    if broken:
        return redact(broken[1])
    lines = [line.strip(_FRAME) for line in plain.splitlines()]
    lines = [line for line in lines if line and not _NOISE.match(line)]
    errors = [line for line in lines if line.lower().startswith("error")]
    first = errors[-1] if errors else (lines[0] if lines else "")
    last = lines[-1] if lines else ""
    return redact(first if first == last or last in first else f"{first}: {last}")[:500]


def redact(text: str) -> str:
    """The text without the user and password of any address in it."""
    return re.sub(r"(://)[^/@\s]+@", r"\1", text)


def say(message: str) -> None:
    """Tell on standard error: standard output is the program's."""
    print(f"runner-fleet: {message}", file=sys.stderr, flush=True)
