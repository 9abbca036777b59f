"""The user data of an instance: a header of values in front of `boot.sh` (Linux)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner_fleet.errors import InputError
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.inputs import shown
from runner_fleet.provisioning.windows import windows_user_data

LIMIT = 16 * 1024
"""Bytes of user data EC2 takes, before base64 (EC2 user guide, instance user data)."""

_SHEBANG = "#!/bin/bash\n"


@dataclass(frozen=True)
class Boot:
    """What an instance must know to become a runner."""

    url: str  # where the runner registers, e.g. https://github.com/owner/name
    archives: tuple[RunnerArchive, ...]
    extra_labels: tuple[str, ...] = ()
    home: str = ""
    max_lifetime: int = 360  # minutes
    pre_script: str = field(default="", repr=False)
    windows: bool = False  # the image's system; otherwise Linux


def user_data(boot: Boot, fleet: Fleet, token: str) -> str:
    """The script; `InputError` when it is larger than EC2 takes, or not for the image's system."""
    if boot.home and boot.home.startswith("/") == boot.windows:
        system, example = ("Windows", "C:\\runners") if boot.windows else ("Linux", "/home/ubuntu")
        msg = (
            f"aws_home_dir: {shown(boot.home)} is no path of the image's system, {system}: give "
            f"one like {example}, or leave it out"
        )
        raise InputError(msg)
    common = [*([fleet.shared_label] if fleet.shared_label else []), *boot.extra_labels]
    values = {
        "FLEET_URL": boot.url,
        "FLEET_TOKEN": token,
        "FLEET_LABELS": " ".join(fleet.labels),
        "FLEET_COMMON_LABELS": ",".join(common),
        "FLEET_ARCHIVE_X64": _archive(boot, "x64"),
        "FLEET_ARCHIVE_ARM64": _archive(boot, "arm64"),
        "FLEET_HOME": boot.home,
        "FLEET_MAX_LIFETIME": str(boot.max_lifetime),
        "FLEET_PRE_SCRIPT": boot.pre_script,
    }
    script = windows_user_data(values) if boot.windows else _linux_user_data(values)
    size = len(script.encode())
    if size > LIMIT:
        msg = (
            f"the user data is {size} bytes and EC2 takes {LIMIT}: shorten pre_runner_script by "
            f"{size - LIMIT} bytes, for instance by fetching the script from where it is kept"
        )
        raise InputError(msg)
    return script


def _linux_user_data(values: Mapping[str, str]) -> str:
    header = "".join(f"readonly {name}={shlex.quote(value)}\n" for name, value in values.items())
    return f"{_SHEBANG}{header}{_boot_script()}"


def _boot_script() -> str:
    text = Path(__file__).with_name("boot.sh").read_text(encoding="utf-8")
    # The head of comments explains the file to its readers; the instance can do without.
    lines = text.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return "".join(lines[first:])


def _archive(boot: Boot, architecture: str) -> str:
    kind = ("win" if boot.windows else "linux", architecture)
    return next(
        (
            f"{item.url} {item.sha256}"
            for item in boot.archives
            if (item.os, item.architecture) == kind
        ),
        "",
    )
