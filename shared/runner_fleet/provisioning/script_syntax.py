"""Whether bash can read a script: told by bash itself, which reads it and runs nothing of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

from runner_fleet.errors import InputError
from runner_fleet.provisioning.inputs import shown

_SECONDS = 10
_SAID = re.compile(r"^bash: (?:(line \d+): )?(.*)")


def check_syntax(name: str, script: str) -> None:
    """Raises `InputError` with what bash says of the script in an input, and of which line.

    Only on Linux, whose bash is about as old as that of an instance, and only where there is one.
    """
    bash = shutil.which("bash") if sys.platform == "linux" else None
    if bash is None or not script:
        return
    # With -n no `shopt` is run either (bash manual, "The Set Builtin").
    options = ["-O", "extglob"] if "extglob" in script else []
    try:
        read = subprocess.run(
            ["bash", *options, "-n"],
            executable=bash,
            input=script.encode(errors="replace"),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env={"LC_ALL": "C"},  # and no BASH_ENV, which would be run
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    if read.returncode == 0:
        return
    said = [_SAID.match(line) for line in read.stderr.decode(errors="replace").splitlines()]
    # Warnings come first; the line after an error shows the script's own.
    found = next((match for match in said if match and "warning: " not in match[2]), None)
    if found:
        where = found[1] or "the script"
        msg = f"{name}: {where}: bash cannot read it: {shown(found[2])}"
        raise InputError(msg)
