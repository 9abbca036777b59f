"""One demo, from the environment to the verdict."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.act import jobs, processes
from sandbox.act.rc import ROOT
from sandbox.actions_environment import prepare
from sandbox.demo.calls import counted
from sandbox.demo.console import Console
from sandbox.demo.follow import Follower
from sandbox.demo.legs import Legs
from sandbox.demo.mirror import Mirror
from sandbox.demo.signals import Signals
from sandbox.demo.table import table
from sandbox.workflow import start_act
from sandbox.world import REPOSITORY, World

WORKFLOW = ROOT / "examples" / "workflows" / "matrix-test.yaml"

# What Go's runtime ends a program with; a workflow that fails makes act exit with 1.
ACT_CRASHED = 2

# How long what has been stopped may take to be gone (seconds).
_PATIENCE = 60.0


@dataclass(frozen=True)
class Options:
    """What the user can choose. `place` is where the run's own directory is made and removed."""

    test_fails: bool = False
    verbose: bool = False
    place: Path = ROOT / ".cache" / "sandbox"


@contextmanager
def run_directory(place: Path) -> Iterator[Path]:
    """A directory for one run; afterwards neither it nor a process that lives in it is left.

    What a demo that was killed outright has left is removed as well.
    """
    place.mkdir(parents=True, exist_ok=True)
    for left_over in place.glob("demo-*-*"):
        if not Path("/proc", left_over.name.split("-")[1]).exists():
            processes.end_living_in(left_over)
            shutil.rmtree(left_over, ignore_errors=True)
    directory = Path(tempfile.mkdtemp(prefix=f"demo-{os.getpid()}-", dir=place.absolute()))
    try:
        yield directory
    finally:
        processes.end_living_in(directory)
        shutil.rmtree(directory)


def run(options: Options, signals: Signals) -> int:
    """Run the matrix example; returns the exit status: 0 when all went well and nothing is left.

    Raises Interrupted after cleaning up.
    """
    legs = Legs(jobs.leg_values(WORKFLOW))
    console = Console([leg.title for leg in legs.all])
    with ExitStack() as stack:
        directory = stack.enter_context(run_directory(options.place))
        console.event("the actions' environment …")
        prepare("ec2", signals.check)
        signals.check()
        console.event("GitHub and EC2 on loopback …")
        world = stack.enter_context(World(directory / "world"))
        world.ec2.instances()  # the first question loads moto's catalogue
        console.event(f"GitHub at {world.github.url}")
        console.event(f"EC2    at {world.ec2_url}")
        signals.check()
        follower = _follow_act(options, world, legs, console, directory, signals)
        _wait_until_gone(world, follower, signals)
        return _verdict(options, world, legs, console, follower)


def _follow_act(
    options: Options,
    world: World,
    legs: Legs,
    console: Console,
    directory: Path,
    signals: Signals,
) -> Follower:
    run_record = world.github.add_run(
        REPOSITORY,
        name="Matrix Test Caller",
        path=f".github/workflows/{WORKFLOW.name}",
        event="workflow_dispatch",
        stays_open=True,
    )
    answers = directory / "answers"
    answers.mkdir()
    mirror = Mirror(world.github, REPOSITORY, run_record.id, answers, test_fails=options.test_fails)
    follower = Follower(world, legs, mirror, console, verbose=options.verbose)
    console.event(f"act runs {WORKFLOW.relative_to(ROOT)}")
    with start_act(
        world,
        WORKFLOW.name,
        directory,
        run_id=run_record.id,
        environment={"RUNNER_FLEET_SANDBOX_ANSWERS": str(answers)},
    ) as act:
        for event in act.events(idle=0.03):
            signals.check()
            if event is not None:
                follower.act_said(event)
            follower.look()
        if act.wait() == ACT_CRASHED:
            console.event("act crashed, which is its own fault: please start the demo again")
    return follower


def _wait_until_gone(world: World, follower: Follower, signals: Signals) -> None:
    deadline = time.monotonic() + _PATIENCE
    follower.look()
    while sum(left(world)) and time.monotonic() < deadline:
        signals.check()
        time.sleep(0.05)
        follower.look()


def left(world: World) -> tuple[int, int]:
    """How many instances are not terminated, and how many runners are registered."""
    instances = sum(one.state != "terminated" for one in world.ec2.instances())
    return instances, len(world.github.runners())


def _verdict(
    options: Options, world: World, legs: Legs, console: Console, follower: Follower
) -> int:
    counts = counted(world.calls.all(), legs.all)
    instances_left, runners_left = left(world)
    console.print()
    console.print(table(legs.all, counts, instances_left, runners_left))
    console.print()
    found = jobs.problems(jobs.expected_jobs(WORKFLOW), follower.results, follower.skipped)
    if any(leg.results.get("test") == "success" and not leg.ran_on for leg in legs.all):
        found.append("a test succeeded that no runner of the sandbox had")
    if instances_left or runners_left:
        found.append("something is left")
    for problem in found:
        console.print(console.styled(problem, "bad"))
    if not found:
        console.print(console.styled("every job ran and succeeded", "good"))
        return 0
    if options.test_fails and all(problem.endswith("/test: failure") for problem in found):
        console.print("the test failed, as SCENARIO=failing-test asks, and still nothing is left")
    return 1
