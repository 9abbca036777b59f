"""Signals become an exception, but never in the middle of what must finish."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from runner_fleet.cancel import Cancellation
from runner_fleet.errors import Cancelled


@pytest.fixture
def cancellation() -> Iterator[Cancellation]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    installed = Cancellation()
    installed.install()
    yield installed
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_ends_what_is_under_way(cancellation: Cancellation) -> None:
    with pytest.raises(Cancelled) as caught:
        os.kill(os.getpid(), signal.SIGTERM)
    assert caught.value.exit_code == 143


def signalled_while_shielded(cancellation: Cancellation, step: Callable[[], object]) -> None:
    with cancellation.shield():
        os.kill(os.getpid(), signal.SIGINT)
        step()


def test_a_shielded_step_finishes_first(cancellation: Cancellation) -> None:
    done: list[str] = []
    with pytest.raises(Cancelled) as caught:
        signalled_while_shielded(cancellation, lambda: done.append("finished"))
    assert done == ["finished"]
    assert caught.value.exit_code == 130


def test_the_second_signal_does_not_cut_the_way_back_short(cancellation: Cancellation) -> None:
    done = []
    with pytest.raises(Cancelled):
        os.kill(os.getpid(), signal.SIGTERM)
    with cancellation.shield():
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("taken back")
    assert done == ["taken back"]


def test_when_all_is_done_a_signal_changes_nothing(cancellation: Cancellation) -> None:
    done = []
    cancellation.finish()
    os.kill(os.getpid(), signal.SIGINT)
    with cancellation.shield():
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("shielded")
    done.append("to its end")
    assert done == ["shielded", "to its end"]


def test_the_error_of_a_shielded_step_stands(cancellation: Cancellation) -> None:
    with pytest.raises(ZeroDivisionError):
        signalled_while_shielded(cancellation, lambda: 1 / 0)
