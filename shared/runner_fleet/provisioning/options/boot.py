"""What happens on an instance: who runs the job, with which labels, for how long."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from runner_fleet.provisioning.inputs import InputReader, is_http_url, shown
from runner_fleet.provisioning.runner_version import PIN, Pin

METADATA = "169.254.169.254"

# Whether it fits the image's system is known later: see user_data.
_PATH = r"(?!.*[/\\]\.\.([/\\]|$))(/[A-Za-z0-9._/@-]*|[A-Za-z]:\\[A-Za-z0-9._\\@-]*)"
_PROXY = r"https?://([A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?/?"

_PARTS = ("#!", "#cloud-config", "#cloud-boothook", "#include", "#part-handler", "## template:")
"""How a part of user data begins (cloudinit/handlers/__init__.py, INCLUSION_TYPES_MAP)."""


@dataclass(frozen=True)
class BootOptions:
    home: str
    extra_labels: tuple[str, ...]
    run_as_root: bool
    runner_directory: str
    runner_version: Pin
    proxy: tuple[tuple[str, str], ...]  # environment variables
    idle_timeout: int  # minutes; 0: none
    max_lifetime: int  # minutes
    pre_script: str = field(repr=False)
    extra: str = field(repr=False)  # a part of user data for cloud-init


def boot_options(read: InputReader) -> BootOptions:
    runner_directory = read.matching(
        "runner_directory", _PATH, "an absolute path like /opt/actions-runner"
    )
    return BootOptions(
        home=read.matching(
            "aws_home_dir",
            _PATH,
            "an absolute path like /home/ubuntu (or C:\\runners, for a Windows image)",
        ),
        extra_labels=read.labels("extra_gh_labels"),
        run_as_root=read.boolean("run_as_root"),
        runner_directory=runner_directory,
        runner_version=_runner_version(read, runner_directory),
        proxy=_proxy(read),
        idle_timeout=read.integer("idle_timeout_minutes", 30, minimum=0),
        max_lifetime=read.integer("max_lifetime_minutes", 360),
        # Typed on Windows; bash would take the carriage returns for text.
        pre_script=read.text("pre_runner_script").replace("\r\n", "\n"),
        extra=_extra(read),
    )


def _runner_version(read: InputReader, runner_directory: str) -> Pin:
    text = read.matching(
        "runner_version", f"latest|{PIN}", "'latest', or a version like 2.335.1 or 2.335.1@sha256:…"
    )
    pin = Pin.parse(text)
    if pin.version and runner_directory:
        read.problem(
            "runner_version",
            "has no effect with runner_directory: the image has its runner already. Leave one of "
            "them out",
        )
    return pin


def _proxy(read: InputReader) -> tuple[tuple[str, str], ...]:
    """The environment variables, in lower and upper case as programs differ in which they read."""
    found = {}
    for name in ("http_proxy", "https_proxy"):
        value = read.text(name)
        if "@" in value:
            text = "takes no user and password: whoever is on the instance could read them"
            read.problem(name, text)
        elif value:
            hint = "a URL like http://proxy.example.com:3128"
            found[name] = read.matching(name, _PROXY, hint)
            if found[name] and not is_http_url(found[name]):  # its port is none
                read.problem(name, f"{shown(found[name])} is not {hint}")
    without = ",".join(read.text("no_proxy").split())
    if without and not re.fullmatch(r"[A-Za-z0-9.,:*/\[\]_-]+", without):
        read.problem("no_proxy", "is not a list of hosts, separated by commas")
    elif without and not found:
        read.problem("no_proxy", "has no effect without http_proxy or https_proxy")
    if not found:
        return ()
    hosts = [host for host in without.split(",") if host]
    # The metadata service answers only the instance itself.
    found["no_proxy"] = ",".join(dict.fromkeys([*hosts, METADATA]))
    return tuple(
        (case(name), value) for name, value in found.items() for case in (str.lower, str.upper)
    )


def _extra(read: InputReader) -> str:
    text = read.text("aws_user_data_extra").replace("\r\n", "\n")
    if text and not text.startswith(_PARTS):
        read.problem(
            "aws_user_data_extra", f"begins with none of {', '.join(_PARTS)}, as cloud-init needs"
        )
        return ""
    return text
