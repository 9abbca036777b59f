"""How many API calls a start and a stop make, and how long they take, by number of runners.

Printed by `make bench`: each beside the same with OMSF's published library (`peer.py`), in one run,
against the same sandbox. Arguments: the numbers of runners, if not the usual; `--ours` leaves the
library out, and the long lists.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.calls import Call
from sandbox.world import REPOSITORY, World

from tests.actions.harness import ROOT, Actions, aws

COUNTS = (1, 4, 16, 40)
MANY = 100  # runners in one start
OTHERS = 1000  # runners of somebody else in the same repository: ten pages
IMAGE = "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)"
INPUTS = {
    "aws_image_name": IMAGE,
    "aws_instance_type": "g4dn.xlarge",
    "aws_home_dir": "/home/ubuntu",
}
CLIENTS = ("runner-fleet", "Boto3", "python-requests")
PEER = ROOT / "tests" / "bench" / "peer.py"
OLDEST_OF_PEER = (3, 11)

HEADING = f"{'N':>4}  {'':<12}  {'GitHub':>6}  {'EC2':>4}  {'seconds':>7}  {'after':>6}"


@dataclass(frozen=True)
class Measured:
    """One process, from its start to its end."""

    github: int  # calls
    ec2: int  # calls
    seconds: float
    after: float | None  # seconds from "all runners are online" to the end; of a start
    names: str

    def show(self, count: int, what: str, beside: Measured | None = None) -> None:
        after = "" if self.after is None else f"{self.after:.2f}"
        line = (
            f"{count:>4}  {what:<12}  {self.github:>6}  {self.ec2:>4}  {self.seconds:>7.2f}  "
            f"{after:>6}  {self.names}"
        )
        if beside is not None:
            calls = (beside.github + beside.ec2) / (self.github + self.ec2)
            line += f"  [1 : {calls:.1f} calls, 1 : {beside.seconds / self.seconds:.1f} time]"
        print(line, flush=True)


class Bench:
    """Runs processes against a world and counts what they ask."""

    def __init__(self, world: World, directory: Path) -> None:
        self._world = world
        self._actions = Actions(world, directory)

    def ours(self, count: int) -> tuple[Measured, Measured]:
        """A start and a stop."""
        inputs = INPUTS | {"instance_count": str(count)}
        outputs, start = self._action("start-runner", inputs)
        assert len(json.loads(outputs["mapping"])) == count
        mapping = {"instance_mapping": outputs["mapping"], "aws_region_name": outputs["region"]}
        _, stop = self._action("stop-runner", mapping)
        return start, stop

    def _action(self, action: str, inputs: Mapping[str, str]) -> tuple[dict[str, str], Measured]:
        step = self._actions.step(action, inputs)
        _, measured = self._run([sys.executable, str(step.program)], step.environment)
        return step.outputs(), measured

    def peers(self, count: int, python: str) -> tuple[Measured, Measured]:
        """The same with OMSF's library."""
        environment = {
            "PATH": os.environ["PATH"],
            "BENCH_IMAGE": self._image(),
            **self._world.environment(),
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        log, start = self._run([python, str(PEER), "start", str(count)], environment)
        mapping = log.splitlines()[-1]
        assert len(json.loads(mapping)) == count
        _, stop = self._run([python, str(PEER), "stop"], environment, mapping)
        return start, stop

    def _image(self) -> str:
        images = aws(self._world, "ec2").describe_images(
            Owners=["amazon"], Filters=[{"Name": "name", "Values": [f"{IMAGE}*"]}]
        )["Images"]
        return max(images, key=lambda image: image["CreationDate"])["ImageId"]

    def _run(
        self, command: Sequence[str], environment: Mapping[str, str], text: str = ""
    ) -> tuple[str, Measured]:
        self._world.calls.clear()
        before = len(self._world.github.history)
        began = time.time()
        done = subprocess.run(
            command, env=environment, input=text, capture_output=True, text=True, check=False
        )
        ended = time.time()
        assert done.returncode == 0, done.stdout + done.stderr
        online = [
            event.at.timestamp()
            for event in self._world.github.history[before:]
            if event.kind == "runner_online"
        ]
        calls = [one for one in self._world.calls.all() if one.client.startswith(CLIENTS)]
        github = sum(call.service == "github" for call in calls)
        return done.stdout, Measured(
            github,
            len(calls) - github,
            ended - began,
            ended - max(online) if online else None,
            _told(calls),
        )


def _told(calls: Sequence[Call]) -> str:
    counted = Counter(map(short, calls))
    return ", ".join(f"{name} x{times}" if times > 1 else name for name, times in counted.items())


def short(call: Call) -> str:
    if call.service != "github":
        return call.operation
    method, _, path = call.operation.partition(" ")
    tail = path.partition("/actions/")[2]
    return f"{method} {'runners/{id}' if method == 'DELETE' else tail}"


def python_of_peer() -> str | None:
    """The interpreter that has the library; None where the library does not run."""
    if sys.version_info < OLDEST_OF_PEER:
        return None
    command = [sys.executable, str(ROOT / "shared" / "launch"), "--set", "bench", "--print-env"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return str(Path(done.stdout.strip()) / "bin" / "python")


def compare(bench: Bench, world: World, counts: Sequence[int], python: str | None) -> None:
    print("\nAPI calls and wall time of a start and a stop, by number of runners N")
    print("after: seconds from the moment the last runner is online until the start has returned")
    if python is not None:
        print("OMSF: gha-runner of PyPI; its provider asks EC2 what OMSF's start action asks")
        print("[1 : x]: what OMSF's takes for one of ours. An instance of the sandbox boots in 1 s")
    print(f"\n{HEADING}")
    for count in counts:
        world.reset()
        ours = bench.ours(count)
        theirs = None
        if python is not None:
            world.reset()
            theirs = bench.peers(count, python)
        for number, name in enumerate(("start", "stop")):
            beside = theirs[number] if theirs else None
            ours[number].show(count, name, beside)
            if beside is not None:
                beside.show(count, f"{name} (OMSF)")


def long_lists(bench: Bench, world: World) -> None:
    print(f"\nWith {OTHERS} runners of others in the repository, and {MANY} in one start\n")
    print(HEADING)
    for count, others in ((1, 0), (1, OTHERS), (16, OTHERS), (MANY, 0)):
        world.reset()
        for number in range(others):
            world.github.add_runner(REPOSITORY, f"other-{number}", ["other"])
        for name, measured in zip(("start", "stop"), bench.ours(count), strict=True):
            measured.show(count, f"{name} +{others}" if others else name)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("counts", nargs="*", type=int)
    parser.add_argument("--ours", action="store_true")
    arguments = parser.parse_args()
    labels = [f"runner-bench{number:03}" for number in range(MANY + 20)]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory,
        World(Path(directory) / "world", labels=labels) as world,
    ):
        bench = Bench(world, Path(directory))
        python = None if arguments.ours else python_of_peer()
        compare(bench, world, arguments.counts or COUNTS, python)
        if not arguments.ours:
            long_lists(bench, world)


if __name__ == "__main__":
    main()
