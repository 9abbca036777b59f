"""How many API calls a start and a stop make, and how long they take, by number of runners.

Printed by `make bench`, against the sandbox. Arguments: the numbers of runners, if not the usual.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sandbox.calls import Call
from sandbox.world import World

from tests.actions.harness import Actions

COUNTS = (1, 4, 16, 40)
INPUTS = {
    "aws_image_name": "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)",
    "aws_instance_type": "g4dn.xlarge",
    "aws_home_dir": "/home/ubuntu",
}


def main(counts: Sequence[int]) -> None:
    print("API calls of start-runner and stop-runner, by number of runners N\n")
    print(f"{'N':>3}  {'action':<6}  {'GitHub':>6}  {'EC2':>4}  {'seconds':>7}  calls")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory,
        World(
            Path(directory) / "world", labels=[f"runner-bench{n:03}" for n in range(99)]
        ) as world,
    ):
        actions = Actions(world, Path(directory))
        for count in counts:
            world.reset()
            inputs = INPUTS | {"instance_count": str(count)}
            outputs = measure(world, actions, count, "start-runner", inputs)
            mapping = outputs["mapping"]
            assert len(json.loads(mapping)) == count
            measure(world, actions, count, "stop-runner", {"instance_mapping": mapping})
            assert world.github.runners() == []


def measure(
    world: World, actions: Actions, count: int, action: str, inputs: dict[str, str]
) -> dict[str, str]:
    world.calls.clear()
    began = time.monotonic()
    result = actions.run(action, inputs)
    seconds = time.monotonic() - began
    assert result.status == 0, result.log
    calls = [
        call for call in world.calls.all() if call.client.startswith(("runner-fleet", "Boto3"))
    ]
    github = sum(call.service == "github" for call in calls)
    counted = Counter(short(call) for call in calls)
    shown = ", ".join(
        f"{name} x{number}" if number > 1 else name for name, number in counted.items()
    )
    name = action.partition("-")[0]
    print(f"{count:>3}  {name:<6}  {github:>6}  {len(calls) - github:>4}  {seconds:>7.2f}  {shown}")
    return result.outputs


def short(call: Call) -> str:
    if call.service != "github":
        return call.operation
    method, _, path = call.operation.partition(" ")
    tail = path.partition("/actions/")[2]
    return f"{method} {'runners/{id}' if method == 'DELETE' else tail}"


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or COUNTS)
