"""The user data of an instance: values in front of `boot.sh`, or for Windows `boot.ps1`."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import policy
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import Path

from runner_fleet.errors import InputError
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.inputs import shown
from runner_fleet.provisioning.runner_version import version_of
from runner_fleet.provisioning.windows import windows_user_data

LIMIT = 16 * 1024
"""Bytes of user data EC2 takes, before base64 (EC2 user guide, instance user data)."""

_SHEBANG = "#!/bin/bash\n"
_SOURCED = re.compile(r"^\.\s\S*/(boot/\S+)\"\n", re.MULTILINE)
_NOTHING = re.compile(r"^(\s*#.*)?\n", re.MULTILINE)

_PART_NAME = "runner-fleet"
"""cloud-init runs scripts in the order of their names (cloudinit/subp.py, runparts), and calls a
part without a name `part-001` (handlers/__init__.py), the commands of a cloud-config `runcmd`
(config/cc_runcmd.py). This name comes after both: ours powers the instance off."""

_BOUNDARY = "==runner-fleet-part=="
"""Not drawn: a repeated launch must ask for exactly the same."""


@dataclass(frozen=True)
class Boot:
    """What an instance must know to become a runner."""

    url: str  # where the runner registers, e.g. https://github.com/owner/name
    archives: tuple[RunnerArchive, ...]
    extra_labels: tuple[str, ...] = ()
    runner_group: str = ""
    home: str = ""
    run_as_root: bool = False
    runner_directory: str = ""  # where the image has its runner
    proxy: tuple[tuple[str, str], ...] = ()  # environment variables
    market: str = "on-demand"  # or "spot…": an interruption may come
    idle_timeout: int = 30  # minutes; 0: none
    max_lifetime: int = 360  # minutes
    pre_script: str = field(default="", repr=False)
    extra: str = field(default="", repr=False)  # another part for cloud-init
    jit_config: str = field(default="", repr=False)  # of a runner that is registered already
    remove_token: str = field(default="", repr=False)
    windows: bool = False  # the image's system; otherwise Linux


def user_data(boot: Boot, fleet: Fleet, token: str) -> bytes:
    """What EC2 gives the instance.

    `InputError` when it is larger than EC2 takes, or not for the image's system.
    """
    _check_system(boot)
    values = _values(boot, fleet, token)
    if boot.windows:
        plain = windows_user_data(values).encode()
        return _limited(plain, plain)
    script = _script(values | {"FLEET_OFFERED_VERSION": version_of(boot.archives)})
    plain = _multipart(script, boot.extra) if boot.extra else script.encode()
    # cloud-init takes gzip, too (cloudinit/user_data.py).
    return plain if len(plain) <= LIMIT else _limited(gzip.compress(plain, mtime=0), plain)


def size_of(data: bytes) -> str:
    """How large it is, for whoever wants to know how much more a script may grow."""
    packed = " compressed" if data.startswith(b"\x1f\x8b") else ""  # RFC 1952
    return f"{len(data):,} bytes{packed} of at most {LIMIT:,}"


def _check_system(boot: Boot) -> None:
    system, example = ("Windows", "C:\\runners") if boot.windows else ("Linux", "/home/ubuntu")
    problems = [
        f"{name}: {shown(path)} is no path of the image's system, {system}: give one like "
        f"{example}, or leave it out"
        for name, path in (
            ("aws_home_dir", boot.home),
            ("runner_directory", boot.runner_directory),
        )
        if path and path.startswith("/") == boot.windows
    ]
    if boot.windows and boot.extra:
        problems.append("aws_user_data_extra: is for cloud-init, which Windows images do not have")
    if problems:
        raise InputError(*problems)


def _limited(packed: bytes, plain: bytes) -> bytes:
    if len(packed) > LIMIT:
        msg = (
            f"the user data is {len(plain)} bytes, {len(packed)} as it is sent, and EC2 takes "
            f"{LIMIT}: shorten pre_runner_script or aws_user_data_extra by "
            f"{len(packed) - LIMIT} bytes, for instance by fetching the script from where it is "
            "kept"
        )
        raise InputError(msg)
    return packed


def _values(boot: Boot, fleet: Fleet, token: str) -> dict[str, str]:
    common = [*([fleet.shared_label] if fleet.shared_label else []), *boot.extra_labels]
    return {
        "FLEET_URL": boot.url,
        "FLEET_TOKEN": token,
        "FLEET_JIT_CONFIG": boot.jit_config,
        "FLEET_REMOVE_TOKEN": boot.remove_token,
        "FLEET_LABELS": " ".join(fleet.labels),
        "FLEET_COMMON_LABELS": ",".join(common),
        "FLEET_RUNNER_GROUP": boot.runner_group,
        "FLEET_ARCHIVE_X64": _archive(boot, "x64"),
        "FLEET_ARCHIVE_ARM64": _archive(boot, "arm64"),
        "FLEET_RUNNER_DIRECTORY": boot.runner_directory,
        "FLEET_HOME": boot.home,
        "FLEET_RUN_AS_ROOT": "true" if boot.run_as_root else "",
        "FLEET_PROXY": "\n".join(f"{name}={value}" for name, value in boot.proxy),
        "FLEET_MARKET": boot.market,
        "FLEET_IDLE_TIMEOUT": str(boot.idle_timeout),
        "FLEET_MAX_LIFETIME": str(boot.max_lifetime),
        "FLEET_PRE_SCRIPT": boot.pre_script,
    }


def _script(values: Mapping[str, str]) -> str:
    header = "".join(f"readonly {name}={shlex.quote(value)}\n" for name, value in values.items())
    return f"{_SHEBANG}{header}{_boot_script()}"


def _boot_script() -> str:
    """`boot.sh` with the files it sources; their comments are for readers, not for instances."""
    here = Path(__file__).parent

    def sourced(match: re.Match[str]) -> str:
        return (here / match[1]).read_text(encoding="utf-8")

    text = (here / "boot.sh").read_text(encoding="utf-8")
    return _NOTHING.sub("", _SOURCED.sub(sourced, text))


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


def _multipart(script: str, extra: str) -> bytes:
    """Both as one MIME message. Of the user's part cloud-init finds out what it is."""
    message = MIMEMultipart(boundary=_BOUNDARY)
    message.attach(_part(extra, "plain"))
    boot = _part(script, "x-shellscript")
    boot.add_header("Content-Disposition", "attachment", filename=_PART_NAME)
    message.attach(boot)
    return message.as_bytes(policy=policy.compat32.clone(mangle_from_=False))


def _part(text: str, subtype: str) -> MIMEText:
    return MIMEText(text, subtype, "us-ascii" if text.isascii() else "utf-8")
