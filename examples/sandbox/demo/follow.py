"""Follow a run from both sides: what act says, and what happens in the world meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from sandbox import ec2
from sandbox.act.events import (
    Annotation,
    Event,
    JobEnded,
    JobSkipped,
    JobStarted,
    Line,
    Note,
    Output,
)
from sandbox.demo.console import Console
from sandbox.demo.legs import BY_ITSELF, BY_START, BY_STOP, Leg, Legs
from sandbox.demo.mirror import Mirror
from sandbox.github import records as github
from sandbox.world import World

# How much of a failed job's output is shown.
_TAIL = 25


class Follower:
    """Keeps the legs up to date, prints progress, and tells the mirror about act's jobs.

    `results` holds each job's result by act's full name of it, `skipped` why act left one out.
    """

    def __init__(
        self, world: World, legs: Legs, mirror: Mirror, console: Console, *, verbose: bool = False
    ) -> None:
        self.results: dict[str, str] = {}
        self.skipped: dict[str, str] = {}
        self._world = world
        self._legs = legs
        self._mirror = mirror
        self._console = console
        self._verbose = verbose
        self._github_seen = 0
        self._ec2_seen = 0
        self._types: dict[str, str] = {}  # of instances
        self._tails: dict[str, deque[str]] = {}

    # act's side -------------------------------------------------------------------------------

    def act_said(self, event: Event) -> None:
        """Take in one event of act's."""
        leg = self._legs.of_job(event.leg)
        title = leg.title if leg else ""
        if self._verbose and isinstance(event, Line | Annotation | Note):
            self._console.event(event.text, title, "dim")
        match event:
            case Annotation(level="error") | Note(level="error") if _tells(event.text):
                self._tail(event.job).append(event.text)
            case Line():
                self._tail(event.job).append(event.text)
                self._mirror.line(event.job, event.text)
            case JobSkipped():
                self.skipped[event.job] = event.why
                self._console.event(f"{event.job_id}: {event.why}", title, "bad")
            case JobEnded():
                self.results[event.job] = event.result
                self._job_ended(event, leg)
            case JobStarted() if leg is not None:
                self._job_started(event, leg)
            case Output() if leg is not None:
                leg.learn_output(event.name, event.value)

    def _job_started(self, event: JobStarted, leg: Leg) -> None:
        at = self._now()
        leg.reached("began", at)
        self._console.event(f"{event.job_id}: started", leg.title, at=at)
        if event.job_id == "test":
            self._mirror.job_started(event.job, leg)

    def _job_ended(self, event: JobEnded, leg: Leg | None) -> None:
        at = self._now()
        good = event.result == "success"
        title = leg.title if leg else ""
        self._console.event(f"{event.job_id}: {event.result}", title, "good" if good else "bad", at)
        if not good and not self._verbose:
            for text in self._tail(event.job):
                self._console.event(f"| {text}", title, "dim", at)
        if leg is not None:
            leg.results[event.job_id] = event.result
            if event.job_id.startswith("start"):
                leg.reached("start returned", at)
                if not good:
                    self._show_consoles(leg)
            elif event.job_id.startswith("stop"):
                leg.reached("stop returned", at)
        self._mirror.job_ended(event.job, event.result)

    def _show_consoles(self, leg: Leg) -> None:
        """What the instances of a failed start said themselves: usually it is the reason."""
        self.look()
        for instance_id in leg.instances:
            for text in self._world.ec2.console(instance_id).splitlines()[-_TAIL:]:
                self._console.event(f"{instance_id} | {text}", leg.title, "dim")

    def _tail(self, job: str) -> deque[str]:
        return self._tails.setdefault(job, deque(maxlen=_TAIL))

    # The world's side -------------------------------------------------------------------------

    def look(self) -> None:
        """Take in what has happened in the world since the last time."""
        machines = self._world.ec2.history[self._ec2_seen :]
        runners = list(self._world.github.history)[self._github_seen :]
        self._ec2_seen += len(machines)
        self._github_seen += len(runners)
        happened: list[tuple[float, Callable[[], None]]]
        happened = [(one.at, partial(self._on_ec2, one)) for one in machines]
        happened += [(one.at.timestamp(), partial(self._on_github, one)) for one in runners]
        for _, take_in in sorted(happened, key=lambda item: item[0]):
            take_in()
        self._mirror.look()

    def _on_ec2(self, happened: ec2.Event) -> None:
        self._types.setdefault(happened.instance_id, happened.fields.get("type", ""))
        kind = self._types[happened.instance_id]
        leg = self._legs.of_instance(happened.instance_id, kind)
        title = leg.title if leg else ""
        match happened.kind:
            case "launched":
                (instance,) = [
                    one for one in self._world.ec2.instances() if one.id == happened.instance_id
                ]
                text = f"launched ({instance.type}, {instance.zone})"
                if leg is not None:
                    leg.instances[instance.id] = f"{instance.type}, {instance.zone}"
                    leg.reached("launched", happened.at)
            case "boot_started":
                text = "boots"
                if leg is not None:
                    leg.reached("booted", happened.at)
            case "terminated":
                how = _how_it_ended(happened.fields.get("reason", ""), leg)
                text = f"ended {how}"
                if leg is not None:
                    leg.left_by[happened.instance_id] = how
                    leg.reached("terminated", happened.at)
            case _:
                return
        self._console.event(f"{happened.instance_id} {text}", title, at=happened.at)

    def _on_github(self, happened: github.Event) -> None:
        name = str(happened.fields.get("runner_name") or happened.fields.get("name") or "")
        # A completed job is spoken of by its own name, which is act's.
        leg = self._legs.of_runner(name) or self._legs.of_job(name.rpartition("/")[0])
        if leg is None:
            return
        at = happened.at.timestamp()
        match happened.kind:
            case "job_completed":
                leg.reached("job done", at)
            case "runner_registered":
                leg.runners.append(name)
                leg.reached("registered", at)
                self._console.event(f"{name} registered", leg.title, at=at)
            case "runner_online":
                leg.reached("online", at)
                self._console.event(f"{name} online", leg.title, at=at)
            case "job_acquired":
                leg.ran_on.append(name)
                leg.reached("job started", at)
                self._console.event(f"test: runs on {name}", leg.title, at=at)
            case "runner_removed":
                reason = str(happened.fields.get("reason", "removed"))
                how = _how_it_left(reason, leg)
                leg.left_by[name] = how
                leg.reached("deregistered", at)
                self._console.event(f"{name.partition('-i-')[0]} left {how}", leg.title, at=at)

    def _now(self) -> float:
        return self._world.calls.clock()


def _tells(text: str) -> bool:
    """Whether an error of act's says something about the job that fails."""
    return "inside a git repository" not in text and not text.startswith("exit status")


def _how_it_left(reason: str, leg: Leg) -> str:
    """The simulator's reason for a runner's end in words a reader knows."""
    return {"job done": BY_ITSELF, "deleted": _by(leg)}.get(reason, reason)


def _how_it_ended(state_reason: str, leg: Leg | None) -> str:
    """EC2's StateReason in words a reader knows."""
    if "InstanceInitiatedShutdown" in state_reason:
        # Also when it gave up: that it had its job, its runner has said.
        had_job = leg is None or "job done" in leg.at
        return BY_ITSELF if had_job else "by itself, without a job"
    if "UserInitiatedShutdown" in state_reason:
        return _by(leg) if leg else "by TerminateInstances"
    return f"by EC2: {state_reason or 'no reason given'}"


def _by(leg: Leg) -> str:
    """Which action asks for an end at this moment."""
    return BY_STOP if "start returned" in leg.at else BY_START
