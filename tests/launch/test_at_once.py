"""Several starts at once, and starts that are ended half-way."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.launch.conftest import Checkout, SlowUv


def test_starts_at_once_build_once(checkout: Checkout, slow_uv: SlowUv) -> None:
    starts = [checkout.start("--print-env") for _ in range(8)]
    # The first line of each: one builds, the others say that they wait for it.
    heard = [start.stderr.readline() for start in starts if start.stderr]
    slow_uv.release()
    outputs = {start.communicate()[0] for start in starts}

    assert sum("another start is building" in line for line in heard) == 7
    assert slow_uv.calls() == ["venv", "pip"]
    assert [f"{path}\n" for path in checkout.environments()] == list(outputs)


def test_a_killed_build_is_finished_by_the_next_start(checkout: Checkout, slow_uv: SlowUv) -> None:
    killed = checkout.start("--print-env")
    uv = slow_uv.pid_of_call(1)
    killed.kill()
    killed.communicate()
    os.kill(uv, signal.SIGKILL)
    (left,) = checkout.environments()

    slow_uv.release()
    result = checkout.launch("-m", "hello")

    assert result.returncode == 0
    assert not left.exists()
    assert len(checkout.environments()) == 1


def test_what_a_killed_build_started_is_waited_for(checkout: Checkout, slow_uv: SlowUv) -> None:
    killed = checkout.start("--print-env")
    slow_uv.pid_of_call(1)
    killed.kill()
    killed.communicate()

    start = checkout.start("--print-env")
    assert start.stderr
    assert "another start is building" in start.stderr.readline()
    slow_uv.release()
    output, _ = start.communicate()

    assert [f"{path}\n" for path in checkout.environments()] == [output]


def test_what_a_killed_build_of_another_set_left_is_removed(
    checkout: Checkout, slow_uv: SlowUv
) -> None:
    left = checkout.cache / "other-0123456789abcdef.build-abc"
    left.mkdir(parents=True)

    slow_uv.release()
    checkout.launch("--print-env")

    assert not left.exists()


def test_a_build_of_another_set_that_goes_on_is_left_alone(
    checkout: Checkout, slow_uv: SlowUv
) -> None:
    going_on = checkout.start("--print-env")
    slow_uv.pid_of_call(1)
    (stage,) = checkout.environments()
    checkout.lock("tiny", checkout.add_wheel("hello-2.0-py3-none-any.whl", {"hello.py": ""}))
    other = checkout.start("--print-env")
    slow_uv.pid_of_call(2)

    assert stage.exists()

    slow_uv.release()
    other.communicate()
    going_on.communicate()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_cancelled_build_leaves_nothing(
    checkout: Checkout, slow_uv: SlowUv, number: signal.Signals, status: int
) -> None:
    start = checkout.start("--print-env")
    slow_uv.pid_of_call(1)

    start.send_signal(number)
    output, _ = start.communicate()

    assert (start.returncode, output) == (status, "")
    assert checkout.environments() == []
    assert not slow_uv.is_alive(1)
