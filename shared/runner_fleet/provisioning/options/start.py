"""What start-runner was asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from runner_fleet.provisioning.identity import Caller
from runner_fleet.provisioning.inputs import InputReader
from runner_fleet.provisioning.options.aws import check_aws
from runner_fleet.provisioning.options.boot import BootOptions, boot_options
from runner_fleet.provisioning.options.github import GitHubAccess, github_access
from runner_fleet.provisioning.options.machine import Machine, machine
from runner_fleet.provisioning.options.placement import (
    Placement,
    check_map,
    placement,
)
from runner_fleet.provisioning.options.registration import RegistrationOptions, registration

ACTION = "start-runner"


@dataclass(frozen=True)
class StartOptions:
    caller: Caller
    github: GitHubAccess
    registration: RegistrationOptions
    placement: Placement
    machine: Machine
    boot: BootOptions
    timeout: int  # seconds, for all runners together
    dry_run: bool  # check everything, launch nothing


def start_options(inputs: Mapping[str, str], environ: Mapping[str, str]) -> StartOptions:
    """Raises one `InputError` with everything that is wrong."""
    read = InputReader(inputs, ACTION)
    access = github_access(read, environ)
    boot = boot_options(read)
    options = StartOptions(
        caller=Caller.read(environ),
        machine=machine(read),
        github=access,
        registration=registration(read, access, boot.extra_labels),
        placement=placement(read, environ),
        boot=boot,
        timeout=read.integer("gh_timeout", 1200),
        dry_run=read.boolean("dry_run"),
    )
    regions = options.placement.regions
    check_map(read, "aws_image_id", options.machine.image_ids, regions)
    check_map(read, "aws_subnet_id", options.placement.subnet_ids, regions)
    check_map(read, "aws_security_group_id", options.machine.security_group_ids, regions)
    options = _idleness(read, options)
    _check_lifetime(read, options)
    check_aws(read, environ)
    read.finish()
    return options


def _idleness(read: InputReader, options: StartOptions) -> StartOptions:
    """An instance must not end because it waits for the others of its start: the default idle time
    is as long as that may take, and a shorter one is a problem."""
    longest, which = options.timeout, "gh_timeout"
    if options.registration.jit:  # each is launched alone, the last one when there is room
        longest += options.placement.timeout
        which = "capacity_timeout and gh_timeout"
    idle, least = options.boot.idle_timeout, -(-longest // 60)
    if options.placement.count == 1 or idle == 0 or idle >= least:
        return options
    limits = ("instance_count", "gh_timeout", "capacity_timeout", "registration")
    if read.text("idle_timeout_minutes") and not read.wrong("idle_timeout_minutes", *limits):
        read.problem(
            "idle_timeout_minutes",
            f"{idle} minutes are less than {which} ({longest} seconds): an instance that is ready "
            f"early would end while it waits for the others. Give at least {least} minutes, 0 for "
            f"no limit, or less time in {which}",
        )
    return replace(options, boot=replace(options.boot, idle_timeout=least))


def _check_lifetime(read: InputReader, options: StartOptions) -> None:
    lifetime, least = options.boot.max_lifetime, -(-options.timeout // 60)
    if lifetime < least and not read.wrong("max_lifetime_minutes", "gh_timeout"):
        read.problem(
            "max_lifetime_minutes",
            f"{lifetime} minutes are less than gh_timeout ({options.timeout} seconds): an instance "
            f"could end while the start still waits for it. Give at least {least} minutes, or less "
            "time in gh_timeout",
        )
