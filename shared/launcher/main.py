"""From a command line to the program, in its environment, in this very process."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import sys

from launcher.environment import SHARED, Environment, absolute
from launcher.errors import LaunchError

USAGE = (
    "usage: launch --set NAME [--path DIR]... [--hold-sigint] "
    "(--print-env | SCRIPT | -m MODULE | --bin NAME) [ARGUMENT]..."
)
# The only settings of the host's Python that reach the program: none changes what it imports.
KEPT = frozenset(
    f"PYTHON{name}"
    for name in (
        "FAULTHANDLER",
        "HASHSEED",
        "IOENCODING",
        "PYCACHEPREFIX",
        "UNBUFFERED",
        "UTF8",
        "WARNINGS",
    )
)


def main(arguments: list[str]) -> int:
    """Does not return when the program could be started: it takes this process over.

    Signals, the exit status and the process id are therefore the program's own.
    """
    _open_closed_streams()
    try:
        _run(arguments)
    except (LaunchError, OSError) as error:
        message = " ".join(str(error).split()).replace("%", "%25")
        line = f"::error title=runner-fleet::{message}\n"
        import contextlib  # only now: it takes milliseconds

        with contextlib.suppress(OSError):
            os.write(1, line.encode("utf-8", "backslashreplace"))
        return 1
    return 0


def _open_closed_streams() -> None:
    """What is opened next would take a closed stream's number, and get what is written there."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            os.set_inheritable(number, True)
            if null != number:
                os.close(null)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def _run(arguments: list[str]) -> None:
    name, paths, hold, program = _parse(arguments)
    environment = Environment(name)
    directory = environment.find()
    if directory is None:
        from launcher.build import build

        directory = build(environment)
    if program == ["--print-env"]:
        os.write(1, os.fsencode(directory) + b"\n")
        return
    command = _command(directory, program)
    is_tool = program[0].startswith("-")
    variables = _variables(directory, paths, is_tool=is_tool)
    if hold:
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGINT])
    os.execve(command[0], command, variables)  # noqa: S606


def _parse(arguments: list[str]) -> tuple[str, list[str], bool, list[str]]:
    """The set's name, more import paths, whether to hold SIGINT, the program with its arguments."""
    name, paths, hold, rest = "", [], False, list(arguments)
    while len(rest) > 1 and rest[0] in ("--set", "--path", "--hold-sigint"):
        option = rest.pop(0)
        if option == "--hold-sigint":
            hold = True
        elif option == "--set":
            name = rest.pop(0)
        else:
            paths.append(absolute(rest.pop(0)))
    needed = 2 if rest[:1] in (["-m"], ["--bin"]) else 1
    is_option = rest and rest[0].startswith("-") and rest[0] not in ("-m", "--bin", "--print-env")
    if not name or len(rest) < needed or is_option:
        raise LaunchError(USAGE)
    return name, paths, hold, rest


def _command(directory: str, program: list[str]) -> list[str]:
    python = os.path.join(directory, "bin", "python")
    if program[0] != "--bin":
        return [python, *program]
    path = os.path.join(directory, "bin", program[1])
    try:
        with open(path, "rb") as file:
            is_script = file.read(2) == b"#!"
    except OSError:
        msg = f"no package of this set has a command '{program[1]}'"
        raise LaunchError(msg) from None
    # A script's first line may name the directory that the environment was built in.
    return [python, path, *program[2:]] if is_script else [path, *program[2:]]


def _variables(directory: str, paths: list[str], *, is_tool: bool) -> dict[str, str]:
    """The host's variables, less what would change which Python or which packages are used.

    A development tool finds the commands of its own set on PATH first; an action gets PATH as it
    is, since what it starts there is the host's.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") or name in KEPT
    }
    for entry in (SHARED, *paths):
        if os.pathsep in entry:
            msg = f"Python cannot import from a directory with '{os.pathsep}' in its path: {entry}"
            raise LaunchError(msg)
    variables["PYTHONPATH"] = os.pathsep.join([SHARED, *paths])
    if is_tool:
        path = variables.get("PATH", os.defpath)
        variables["PATH"] = os.path.join(directory, "bin") + os.pathsep + path
    return variables
