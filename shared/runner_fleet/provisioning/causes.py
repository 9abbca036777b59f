"""Why an instance does not become a runner: each cause with its signs and its remedy.

Codes up to `shutting-down` are those that the boot script itself prints (`diagnosis.py` reads
them). Signs are what the kernel, cloud-init, curl, package managers and the runner (actions/runner,
config.sh and run.sh) print; reasons are EC2's codes (API reference, StateReason).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """What went wrong, and what to do about it. `str()` is both, in one line."""

    code: str
    title: str
    remedy: str
    signs: tuple[str, ...] = ()  # phrases on the console, in any case
    unless: tuple[str, ...] = ()  # later phrases on the console that take the signs back
    reasons: tuple[str, ...] = ()  # EC2's codes for why an instance ended

    def __str__(self) -> str:
        return f"{self.title} [{self.code}]: {self.remedy}"


CAUSES = (
    Cause(
        "no-metadata",
        "the instance metadata service does not answer",
        "let the root user of the image reach 169.254.169.254: no firewall rule may block it",
    ),
    Cause(
        "no-home",
        "the home directory for the job's user is missing or belongs to root",
        "set aws_home_dir to the home of an ordinary user of this image (/home/ubuntu on Ubuntu, "
        "/home/ec2-user on Amazon Linux), or leave it out",
    ),
    Cause(
        "no-user",
        "the image has no ordinary user to run the job",
        "set aws_home_dir to the home directory of one",
        ("Must not run with sudo",),
    ),
    Cause(
        "no-egress",
        "the instance has no way out to the internet",
        "give its subnet a NAT gateway or the instance a public IP, and let security group, "
        "network ACL and proxy pass port 443 to GitHub",
        (
            "Could not resolve host",
            "Temporary failure in name resolution",
            "Name or service not known",
            "Connection timed out",
            "Timeout was reached",
            "Couldn't connect to server",
            "Network is unreachable",
        ),
        unless=(
            "runner-fleet: running pre_runner_script",
            "runner-fleet: runner registered",
            "Listening for Jobs",
        ),
    ),
    Cause(
        "bad-digest",
        "what was downloaded is not the runner that GitHub published",
        "look for a proxy or mirror between instance and GitHub that changes downloads",
    ),
    Cause(
        "no-runner-for-architecture",
        "GitHub has no runner for the processor of this instance",
        "choose an instance type with an x86_64 or arm64 processor",
    ),
    Cause(
        "no-runner",
        "the runner is not where it was looked for",
        "correct runner_directory (a directory of this image with config.sh or config.cmd in it) "
        "or runner_version, or leave them out",
    ),
    Cause(
        "missing-library",
        "the runner lacks a library (most often ICU), and it could not be installed",
        "install the runner's dependencies in the image or in pre_runner_script: libicu on Amazon "
        "Linux and Fedora, bin/installdependencies.sh of the runner elsewhere",
        (
            "dependencies is missing for Dotnet Core",
            "Couldn't find a valid ICU package",
            "error while loading shared libraries",
        ),
    ),
    Cause(
        "package-lock",
        "another package manager held its lock for too long",
        "let pre_runner_script wait for it (apt-get -o DPkg::Lock::Timeout=300), or disable "
        "automatic updates in the image (unattended-upgrades, dnf-automatic)",
        (
            "Could not get lock /var/lib/",
            "Unable to acquire the dpkg frontend lock",
            "Unable to lock the administration directory",
            "is holding the yum lock",
            "currently holding the yum lock",
        ),
    ),
    Cause(
        "disk-full",
        "the disk of the instance is full",
        "set aws_root_device_size to more GiB than the image has, or let pre_runner_script need "
        "less",
        ("No space left on device", "Disk quota exceeded"),
    ),
    Cause(
        "pre-script-failed",
        "pre_runner_script failed",
        "its own output is in the lines of the console: correct the script (it runs as root with "
        "bash -e, and HOME is not the home directory of the user who runs the job)",
    ),
    Cause(
        "token-rejected",
        "GitHub did not accept the registration token",
        "it is valid for one hour from the start: shorten what happens before the registration "
        "(pre_runner_script, a slow image), and check that the repository still exists",
        (
            "response code: NotFound from 'POST",
            "response code: Unauthorized from 'POST",
            "response code: Forbidden from 'POST",
            "Invalid configuration provided for token",
        ),
    ),
    Cause(
        "registration-removed",
        "GitHub removed the runner's registration before it had a job",
        "with registration: jit it waits from before the launch, and not for long: shorten "
        "pre_runner_script, or set registration to token; otherwise see who removes runners",
        ("runner registration has been deleted from the server",),
    ),
    Cause(
        "group-full",
        "the runner group holds as many runners as GitHub allows",
        "remove offline ones (settings, Actions, Runners, or stop-runner with sweep: orphans), or "
        "name another runner_group",
        ("has reached max limit of",),
    ),
    Cause(
        "name-taken",
        "GitHub has a runner of this name already, and it could not be replaced",
        "remove that runner in the settings of the repository (Actions, Runners); an image must "
        "not hold a registered runner's .runner and .credentials files",
        (
            "A runner exists with the same name",
            "A session for this runner already exists",
            "Failed to replace the runner",
            "Cannot configure the runner because it is already configured",
        ),
        unless=("Successfully replaced the runner",),
    ),
    Cause(
        "runner-too-old",
        "GitHub refuses the runner's version as too old",
        "leave runner_version out for the newest, or renew the runner that the image holds: GitHub "
        "takes a version for 30 days after the next one is released",
        ("is deprecated and cannot receive messages",),
    ),
    Cause(
        "registration-failed",
        "the runner could not register",
        "the lines of the console say what GitHub answered; start again when it was a bad moment",
    ),
    Cause(
        "user-data-failed",
        "the boot script ended in an unexpected way",
        "the lines of the console say where; run again, and report it if it stays",
        (
            "Failed to run module scripts-user",
            "Failed to run module scripts_user",
            "Failed running /var/lib/cloud/instance/scripts",
            "Failed to start Execute cloud user/final scripts",
        ),
    ),
    Cause(
        "shutting-down",
        "the instance was already shutting down when its runner was ready",
        "give it more time in max_lifetime_minutes, and let pre_runner_script not shut it down",
    ),
    # What the boot script cannot say as it fails.
    Cause(
        "no-job",
        "no job came within idle_timeout_minutes of the registration",
        "other runners of the start were still awaited: give idle_timeout_minutes more time than "
        "the slowest of them takes",
        ("runner-fleet: no job came within",),
    ),
    Cause(
        "wrong-architecture",
        "a program was built for another processor than the instance has",
        "let image, instance type and what pre_runner_script downloads be of one architecture "
        "(x86_64 or arm64)",
        ("Exec format error", "cannot execute binary file"),
    ),
    Cause(
        "kernel-panic",
        "the kernel of the image cannot run on this instance type",
        "choose an instance type that the image was made for (older images lack drivers for NVMe "
        "and ENA), or another image",
        ("Kernel panic - not syncing", "Unable to mount root fs", "You are in emergency mode"),
    ),
    Cause(
        "out-of-memory",
        "the instance ran out of memory",
        "choose a larger aws_instance_type, or let pre_runner_script need less",
        ("Out of memory: Killed process", "invoked oom-killer"),
    ),
    Cause(
        "rebooted",
        "the instance was rebooted before its runner came online",
        "user data runs once: do not reboot in pre_runner_script or by automatic updates of the "
        "image; put what needs a reboot into the image",
        ("reboot: Restarting system",),
    ),
    Cause(
        "spot-interruption",
        "AWS took the spot instance back",
        "start again, with more instance types or zones to choose from, or on-demand",
        ("runner-fleet: spot interruption notice",),
        reasons=("Server.SpotInstanceTermination", "Server.SpotInstanceShutdown"),
    ),
    Cause(
        "capacity-reclaimed",
        "AWS had no capacity left for the instance",
        "start again later, in another zone or with another instance type",
        reasons=("Server.InsufficientInstanceCapacity", "Server.CapacityBlockEnded"),
    ),
    Cause(
        "host-failed",
        "the hardware or software under the instance failed at AWS",
        "start again; if it stays, try another zone and see the AWS Health Dashboard",
        reasons=("Server.InternalError", "Server.ScheduledStop"),
    ),
    Cause(
        "volume-key",
        "AWS could not attach the volumes of the instance",
        "most often the KMS key of an encrypted image or volume: let the role that starts use it, "
        "with the kms: permissions listed under 'Keys' in docs/aws.md",
        reasons=("Client.InternalError",),
    ),
    Cause(
        "volume-limit",
        "the account's limit for EBS volumes or their size is used up",
        "raise it in Service Quotas (Amazon Elastic Block Store), or delete volumes",
        reasons=("Client.VolumeLimitExceeded",),
    ),
    Cause(
        "snapshot-missing",
        "a snapshot of the image does not exist any more",
        "choose another image: this one can boot no instance",
        reasons=("Client.InvalidSnapshot.NotFound",),
    ),
)
