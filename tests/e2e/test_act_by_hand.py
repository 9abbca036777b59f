"""`make sandbox` in one terminal and act typed in another, in a checkout of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox.act.processes import living_in
from sandbox.act.runner import act_binary
from sandbox.actions_environment import CACHE

from tests.e2e.checkout import copy_checkout

# One in a path that act can go, and one in a path that it cannot.
PLACES = ("checkout", "my checkout's copy & über")


@pytest.fixture
def checkout(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return copy_checkout(tmp_path / getattr(request, "param", PLACES[0]))


@pytest.fixture
def sandbox(checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """The sandbox of that checkout, ready."""
    with start(checkout) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Ctrl-C"):
                break
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)


def start(checkout: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox"],
        env={
            **os.environ,
            "PYTHONPATH": str(checkout / "examples"),
            "RUNNER_FLEET_CACHE": str(CACHE),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def act(
    checkout: Path, home: Path, workflow: str = "matrix-test.yaml", *arguments: str
) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    return subprocess.run(
        [act_binary(), "workflow_dispatch", "-W", f".github/workflows/{workflow}", *arguments],
        cwd=checkout,
        # What a user's shell may well have set, and what must not reach AWS or the actions.
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "AWS_PROFILE": "work",
            "GOMAXPROCS": "1",  # examples/sandbox/README.md: else act crashes once in a while
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("checkout", PLACES, indirect=True)
@pytest.mark.usefixtures("sandbox")
def test_the_matrix_example_runs_with_nothing_but_its_name(checkout: Path, tmp_path: Path) -> None:
    done = act(checkout, tmp_path / "home")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Job succeeded") == 6, done.stdout
    assert "Skipping" not in done.stdout


OWN = """\
name: Own
on: workflow_dispatch
jobs:
  a:
    runs-on: gpu-box
    steps:
      - run: echo "this is $(uname -s)"
"""


@pytest.mark.usefixtures("sandbox")
def test_a_workflow_of_ones_own_may_have_a_label_of_its_own(checkout: Path, tmp_path: Path) -> None:
    (checkout / "examples" / "workflows" / "own.yaml").write_text(OWN)
    done = act(checkout, tmp_path / "home", "own.yaml", "-P", "gpu-box=-self-hosted")
    assert done.returncode == 0, done.stdout
    assert f"this is {os.uname().sysname}" in done.stdout


def test_without_the_sandbox_act_does_not_find_the_actions(checkout: Path, tmp_path: Path) -> None:
    """As examples/sandbox/README.md says it looks."""
    done = act(checkout, tmp_path / "home")
    assert done.returncode == 1
    assert "failed to read 'action.yml'" in done.stdout + done.stderr


def test_ctrl_c_ends_it_and_leaves_nothing(checkout: Path, sandbox: subprocess.Popen[str]) -> None:
    sandbox.send_signal(signal.SIGINT)
    output, _ = sandbox.communicate(timeout=120)
    assert sandbox.returncode == 0, output
    place = checkout / ".cache" / "sandbox"
    assert [path.name for path in place.iterdir()] == ["lock"]
    assert living_in(place) == []


@pytest.mark.usefixtures("sandbox")
def test_a_second_sandbox_in_the_same_checkout_is_refused(checkout: Path) -> None:
    with start(checkout) as second:
        output, _ = second.communicate(timeout=120)
    assert second.returncode == 1
    assert "already" in output
