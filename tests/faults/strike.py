"""One point: strike, clean up, look what is left."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import Actions, Result, Running
from tests.faults.calls import pattern_of
from tests.faults.gate import Gate
from tests.faults.points import SIGNALS, Point, kind_of
from tests.faults.rows import ROWS, SWEEP, Row
from tests.faults.scene import Scene, stop_inputs

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

DEADLINE = 200.0  # seconds for one action: it waits a minute for a limit that names no time
GRACE = 10.0
"""Seconds from a signal until GitHub kills the step (actions/runner,
src/Runner.Sdk/ProcessInvoker.cs)."""


@dataclass
class Outcome:
    """What became of a point. `lost` is empty when nothing was."""

    point: Point
    reached: bool = False
    left_to_sweep: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Campaign:
    """Runs points in one world."""

    def __init__(self, world: World, ec2: EC2Client, directory: Path) -> None:
        self._world = world
        self._ec2 = ec2
        self._gate = Gate()
        world.intercept(self._gate.around)
        self._actions = Actions(world, directory, DEADLINE)

    def scene(self) -> Scene:
        """A new one, in place of what was there."""
        return Scene(self._world, self._ec2)

    def record(self, row: Row) -> tuple[Result, Scene]:
        """The action undisturbed; the calls are in the world's log."""
        scene = self.scene()
        inputs = row.prepare(scene)
        self._world.calls.clear()
        return self._actions.run(row.action, inputs, scene.environment(row.action)), scene

    def strike(self, point: Point) -> Outcome:
        began = time.monotonic()
        outcome = Outcome(point)
        row = next(row for row in ROWS if row.name == point.row)
        scene = self.scene()
        inputs = row.prepare(scene)
        if point.what in SIGNALS:
            struck = self._signal(point, outcome, row, inputs, scene)
        else:
            struck = self._disturb(point, outcome, row, inputs, scene)
        outcome.logs.append(f"struck: exit status {struck.status}\n{struck.log}")
        self._clean_up(outcome, row, inputs, scene, struck)
        outcome.seconds = time.monotonic() - began
        return outcome

    def _signal(
        self, point: Point, outcome: Outcome, row: Row, inputs: dict[str, str], scene: Scene
    ) -> Result:
        self._gate.close_at(point.call, point.number - 1, point.moment)
        running = self._actions.begin(row.action, inputs, scene.environment(row.action))
        outcome.reached = self._gate.signal(running, SIGNALS[point.what])
        self._kill_when_late(running)
        return running.result()

    @staticmethod
    def _kill_when_late(running: Running) -> None:
        try:
            running.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            running.signal(SIGNALS["SIGKILL"])

    def _disturb(
        self, point: Point, outcome: Outcome, row: Row, inputs: dict[str, str], scene: Scene
    ) -> Result:
        kind = kind_of(point.what)
        fault = Fault(pattern_of(point.call), skip=point.number - 1, **kind.fields)
        self._world.faults.add(fault)
        before = fault.times
        try:
            result = self._actions.run(row.action, inputs, scene.environment(row.action))
        finally:
            outcome.reached = fault.skip == 0 and (before is None or fault.times != before)
            self._world.faults.clear()
        if outcome.reached and "Traceback" in result.log + result.summary:
            outcome.lost.append("a traceback")
        if "internal error" in result.log:
            outcome.lost.append("an internal error")
        return result

    def _clean_up(
        self, outcome: Outcome, row: Row, inputs: dict[str, str], scene: Scene, struck: Result
    ) -> None:
        """What a workflow does: its stop job, and when the run is over, the sweep on a schedule."""
        if row.name != "sweep":
            again = inputs if row.action == "stop-runner" else stop_inputs(struck.outputs)
            self._follow("stop", outcome, {} if row.unheard else again, scene)
            outcome.left_to_sweep = scene.left()
            outcome.lost += scene.harmed(run_is_over=False)
            scene.end_run()
        self._gate.settle()
        scene.lose_connections()
        self._follow("sweep", outcome, SWEEP, scene)
        outcome.lost += scene.left()
        outcome.lost += scene.harmed(run_is_over=True)

    def _follow(self, name: str, outcome: Outcome, inputs: dict[str, str], scene: Scene) -> None:
        result = self._actions.run("stop-runner", inputs, scene.environment("stop-runner"))
        outcome.logs.append(f"{name}: exit status {result.status}\n{result.log}")
        if result.status != 0:
            outcome.lost.append(f"the {name} after it failed")
