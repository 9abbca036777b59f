"""Wait until every instance of a fleet is an online runner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Instance
from runner_fleet.errors import CloudError, GitHubError, RunnerLostError
from runner_fleet.github import GitHub, Runner

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 10.0
_GROWTH = 1.5

LAUNCHED, BOOTING, REGISTERED, ONLINE = "launched", "booting", "registered", "online"


@dataclass
class Progress:
    """How far each instance has come, and after how many seconds it got there."""

    instances: dict[str, Instance]
    labels: dict[str, str]  # instance id to label
    phase: dict[str, str] = field(default_factory=dict)  # instance id to phase
    reached: dict[tuple[str, str], float] = field(default_factory=dict)  # (id, phase) to seconds
    trouble: str = ""  # the last bad moment of a service

    @property
    def complete(self) -> bool:
        return all(phase == ONLINE for phase in self.phase.values())

    def advance(self, seen: Mapping[str, str], seconds: float) -> list[str]:
        """Take in the phases now seen; returns the ids whose phase changed."""
        changed = [key for key, phase in seen.items() if self.phase.get(key) != phase]
        for key in changed:
            self.phase[key] = seen[key]
            self.reached.setdefault((key, seen[key]), seconds)
        return changed


def phases(
    instances: Mapping[str, Instance], labels: Mapping[str, str], runners: Sequence[Runner]
) -> dict[str, str]:
    """Where each instance of `labels` (id to label) stands: its runner carries its label.

    Only `online` counts: a runner is listed before it listens, and one that is registered just in
    time before its instance is launched.
    """
    online = {label for runner in runners if runner.online for label in runner.labels}
    registered = {
        label for runner in runners if "-jit-" not in runner.name for label in runner.labels
    }

    def phase(key: str, label: str) -> str:
        if label in online:
            return ONLINE
        if label in registered:
            return REGISTERED
        instance = instances.get(key)
        return BOOTING if instance is not None and instance.state == "running" else LAUNCHED

    return {key: phase(key, label.lower()) for key, label in labels.items()}


def wait_until_online(
    launched: Sequence[Instance],
    labels: Mapping[str, str],
    ec2: Ec2,
    github: GitHub,
    *,
    timeout: float,
    say: Callable[[str], None],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> Progress:
    """Poll both services until all runners are online. `labels`: instance id to label.

    A poll is one DescribeInstances and one runner listing, whatever the number of instances. The
    runners are not listed before an instance runs.

    Raises `RunnerLostError` when an instance ends, or after `timeout` seconds.
    """
    began = clock()
    ids = [instance.id for instance in launched]
    progress = Progress(
        instances={instance.id: instance for instance in launched},
        labels=dict(labels),
    )
    _tell(progress, progress.advance(dict.fromkeys(ids, LAUNCHED), 0.0), 0.0, say)
    pause = FIRST_PAUSE
    while True:
        runners = _poll(progress, ec2, github, say)
        elapsed = clock() - began
        if runners is not None:
            seen = phases(progress.instances, progress.labels, runners)
            _tell(progress, progress.advance(seen, elapsed), elapsed, say)
        if progress.complete:
            return progress
        if elapsed >= timeout:
            raise RunnerLostError(_too_late(progress, timeout))
        sleep(min(pause, max(0.1, timeout - elapsed)))
        pause = min(pause * _GROWTH, LONGEST_PAUSE)


def _poll(
    progress: Progress, ec2: Ec2, github: GitHub, say: Callable[[str], None]
) -> list[Runner] | None:
    """Refresh the instances; returns the runners, or None when a service has a bad moment."""
    try:
        progress.instances |= ec2.instances(list(progress.instances))
        lost = [instance for instance in progress.instances.values() if instance.gone]
        if lost:
            raise RunnerLostError(*(_died(instance, progress) for instance in lost))
        running = any(item.state == "running" for item in progress.instances.values())
        return github.runners() if running else []
    except (CloudError, GitHubError) as error:
        if not error.transient:
            raise
        progress.trouble = str(error)
        say(f"Going on in spite of: {error}")
        return None


def _tell(
    progress: Progress, changed: Sequence[str], elapsed: float, say: Callable[[str], None]
) -> None:
    for key in changed:
        instance = progress.instances[key]
        say(
            f"{elapsed:6.1f} s  {progress.phase[key]:<10}  {progress.labels[key]}  {key}  "
            f"{instance.type}  {instance.zone}"
        )


def _died(instance: Instance, progress: Progress) -> str:
    reason = instance.state_reason or "EC2 gives no reason"
    return (
        f"instance {instance.id} ({progress.labels[instance.id]}, {instance.type}) is "
        f"{instance.state} before its runner came online: {reason}. When it powered itself off, "
        "its boot script failed, and its console says why: aws ec2 get-console-output "
        f"--output text --instance-id {instance.id}"
    )


def _too_late(progress: Progress, timeout: float) -> str:
    waiting = [
        f"{progress.labels[key]} ({key}) is {phase}"
        for key, phase in progress.phase.items()
        if phase != ONLINE
    ]
    problem = (
        f"gh_timeout: after {timeout:.0f} seconds {len(waiting)} of {len(progress.phase)} runners "
        f"are not online: {', '.join(waiting)}"
    )
    if progress.trouble:
        return f"{problem}. The last poll that failed: {progress.trouble}"
    return (
        f"{problem}. 'booting' for long usually means that the instance has no way out to the "
        "internet (NAT gateway or public IP), or that the image needs more than gh_timeout to boot"
    )
