"""Run an action as its `action.yml` says, without act: its defaults, its `env`, its entrypoint."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal

import boto3
import botocore.session
import yaml
from sandbox.calls import Call
from sandbox.world import World

from tests.actions.canary import Canaries
from tests.actions.warm import WarmProcess, interpreter

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from runner_fleet.at_once import Join

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 120.0  # seconds; only a hang takes as long

_ERROR = re.compile(r"^::error[^:]*::(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What a finished action leaves."""

    status: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def errors(self) -> list[str]:
        return _ERROR.findall(self.log)


@dataclass(frozen=True)
class Step:
    """An action as its `action.yml` runs it, in a directory of its own for its output files."""

    program: Path
    environment: dict[str, str]
    directory: Path

    def outputs(self) -> dict[str, str]:
        path = self.directory / "output"
        return parse_outputs(path.read_text()) if path.is_file() else {}

    def summary(self) -> str:
        return (self.directory / "summary").read_text()


class Running:
    """An action under way."""

    def __init__(self, step: Step, world: World, deadline: float) -> None:
        self.process: WarmProcess = interpreter().start(step.program, step.environment)
        self._step = step
        self._world = world
        self._deadline = deadline

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def break_outputs(self) -> None:
        """Take the file GITHUB_OUTPUT away, as a full disk might."""
        directory = self._step.directory
        (directory / "output").rename(directory / "output.gone")
        (directory / "output").mkdir()

    def result(self) -> Result:
        """When it has ended. No secret that it was given may show anywhere."""
        log = self.process.output(timeout=self._deadline)
        status = self.process.wait(self._deadline)
        result = Result(status, log, self._step.outputs(), self._step.summary())
        said = {"log": log, "outputs": str(result.outputs), "summary": result.summary}
        leaks = Canaries.of(self._step.environment).leaks(self._world, said)
        assert not leaks, f"secrets show in {leaks}"
        return result


class Actions:
    """Runs actions against a world; each in a directory of its own for its output files."""

    def __init__(self, world: World, directory: Path, deadline: float = DEADLINE) -> None:
        self.world = world
        self._directory = directory
        self._deadline = deadline  # seconds for one run
        self._count = 0

    def step(
        self, action: str, inputs: Mapping[str, str], env: Mapping[str, str] | None = None
    ) -> Step:
        """The action; `env` is added to the step's environment ("" takes a value away)."""
        self._count += 1
        directory = self._directory / f"{self._count}-{action}"
        directory.mkdir()
        for name in ("output", "summary"):
            (directory / name).touch()
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "shared"),
            **self.world.environment(),
            "GITHUB_RUN_ID": "77",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_JOB": "start-aws-runner",
            "GITHUB_OUTPUT": str(directory / "output"),
            "GITHUB_STEP_SUMMARY": str(directory / "summary"),
            **step_environment(action, inputs),
            **(env or {}),
        }
        given = {name: value for name, value in environment.items() if value != ""}
        return Step(ROOT / action / "main.py", given, directory)

    def begin(
        self, action: str, inputs: Mapping[str, str], env: Mapping[str, str] | None = None
    ) -> Running:
        """Start the action, as a step of it."""
        return Running(self.step(action, inputs, env), self.world, self._deadline)

    def calls(self) -> list[Call]:
        """The API calls that actions made; machines and their runners make others."""
        ours = ("runner-fleet/", "Boto3/")
        return [call for call in self.world.calls.all() if call.client.startswith(ours)]

    def run(
        self, action: str, inputs: Mapping[str, str], env: Mapping[str, str] | None = None
    ) -> Result:
        return self.begin(action, inputs, env).result()


def step_environment(action: str, inputs: Mapping[str, str]) -> dict[str, str]:
    """The `env` of the action's step, with inputs and defaults put in as GitHub does."""
    data = yaml.safe_load((ROOT / action / "action.yml").read_text())
    known = {name: str(spec.get("default", "")) for name, spec in data["inputs"].items()}
    unknown = set(inputs) - set(known)
    assert not unknown, f"{action} has no input {unknown}"
    values = known | dict(inputs)
    (step,) = data["runs"]["steps"]
    return {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: values[match[1]], text)
        for name, text in step["env"].items()
    }


def parse_outputs(text: str) -> dict[str, str]:
    """The file GITHUB_OUTPUT as the runner reads it: `name=value`, or a here-document."""
    outputs: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, mark, rest = line.partition("<<")
        if mark and "=" not in name:
            value = []
            for part in lines:
                if part == rest:
                    break
                value.append(part)
            outputs[name] = "\n".join(value)
        elif line:
            name, _, value_text = line.partition("=")
            outputs[name] = value_text
    return outputs


@cache
def _session() -> boto3.Session:
    """One for all clients, as it keeps the services' models; no test's environment reaches it."""
    none = dict.fromkeys(("profile", "region"), (None, None, None, None))
    files = dict.fromkeys(("config_file", "credentials_file"), (None, None, os.devnull, None))
    return boto3.Session(botocore_session=botocore.session.Session(none | files))


def aws(world: World, service: Literal["ec2"], region: str = "us-east-1") -> EC2Client:
    """A client of the test's own."""
    return _session().client(
        service,
        endpoint_url=world.ec2_url,
        region_name=region,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )


@contextmanager
def hanging(place: str) -> Iterator[Join]:
    """A `join` for work in several places that waits for all but one; it has ended afterwards."""
    given_up: list[Thread] = []

    def join(thread: Thread, _seconds: float) -> None:
        if thread.name == place:
            given_up.append(thread)
        else:
            thread.join(DEADLINE)

    yield join
    for thread in given_up:
        thread.join(DEADLINE)
        assert not thread.is_alive()


def until(condition: Callable[[], object], what: str) -> None:
    """Return as soon as the condition holds; fail when it does not within the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.01)
