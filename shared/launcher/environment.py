"""Where the environment of a requirement set is, and whether it is usable."""

from __future__ import annotations

import hashlib
import os
import sys

from launcher.errors import LaunchError

# Raise it when environments that an older launch built must not be used any more.
SCHEMA = "1"
# Written last, into a directory that is then moved to its place: no marker, no environment.
MARKER = ".complete"
SHARED = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


class Environment:
    """One requirement set on one interpreter; not necessarily built."""

    def __init__(self, name: str) -> None:
        """Raises LaunchError if there is no such set."""
        self.name = name
        self.requirements = requirements_of(name)
        # The host's own interpreter, also when it is an environment's that runs this.
        self.interpreter = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
        self.key = self._key()
        self.roots = cache_roots()

    def _key(self) -> str:
        with open(self.requirements, "rb") as file:
            digest = hashlib.sha256(file.read())
        machine = os.uname().machine
        for part in (SCHEMA, sys.version, self.interpreter, machine, libc(), str(sys.maxsize)):
            digest.update(b"\0" + os.fsencode(part))
        return digest.hexdigest()[:16]

    def directory(self, root: str) -> str:
        """Its final place under one cache root."""
        return os.path.join(root, f"{self.name}-{self.key}")

    def find(self) -> str | None:
        """The directory of a usable environment. Starts no process."""
        directories = (self.directory(root) for root in self.roots)
        return next((directory for directory in directories if is_usable(directory)), None)


def is_usable(directory: str) -> bool:
    """Whether the environment is whole and its interpreter answers.

    The marker names the file that the environment's `python` led to, then everything at the top
    of what was installed. That file is the interpreter this runs on (path and version are in the
    key), so a look at the link shows as much as starting it would, in a thousandth of the time.
    """
    try:
        with open(os.path.join(directory, MARKER), encoding="utf-8") as file:
            interpreter, *names = file.read().splitlines()
    except (OSError, ValueError):
        return False
    python = os.path.join(directory, "bin", "python")
    return (
        os.path.realpath(python) == interpreter
        and os.access(python, os.X_OK)
        and all(os.path.lexists(os.path.join(directory, name)) for name in names)
    )


def requirements_of(name: str) -> str:
    """The path of a set's locked requirements."""
    path = os.path.join(SHARED, "requirements", f"{name}.txt")
    if os.path.basename(name) != name or not os.path.isfile(path):
        known = sorted(
            file[: -len(".txt")]
            for file in os.listdir(os.path.dirname(path))
            if file.endswith(".txt")
        )
        msg = f"there is no requirement set '{name}'; there are: {', '.join(known)}"
        raise LaunchError(msg)
    return path


def absolute(path: str) -> str:
    """Raises LaunchError if it is relative to a directory that is gone."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        msg = f"'{path}' leads nowhere, since the working directory does not exist any more"
        raise LaunchError(msg) from None


def libc() -> str:
    """As 'glibc 2.36'; empty where the C library does not say (musl)."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (OSError, ValueError):
        return ""


def cache_roots() -> list[str]:
    """Where environments may be, best first. RUNNER_FLEET_CACHE is an order, others are offers."""
    order = os.environ.get("RUNNER_FLEET_CACHE")
    if order:
        return [absolute(order)]
    offers = (
        os.environ.get("RUNNER_TOOL_CACHE", ""),
        os.environ.get("XDG_CACHE_HOME", ""),
        os.path.expanduser("~/.cache"),
    )
    return [os.path.join(offer, "runner-fleet") for offer in offers if os.path.isabs(offer)]
