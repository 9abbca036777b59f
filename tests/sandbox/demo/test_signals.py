from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from sandbox.demo.signals import Interrupted, Signals


@pytest.fixture
def signals() -> Iterator[Signals]:
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    yield Signals().install()
    for number, handler in before.items():
        signal.signal(number, handler)


def test_without_a_signal_nothing_happens(signals: Signals) -> None:
    signals.check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_raised_where_it_is_asked_for(signals: Signals, number: signal.Signals) -> None:
    signal.raise_signal(number)
    with pytest.raises(Interrupted) as raised:
        signals.check()
    assert raised.value.number == number


def test_the_first_signal_is_the_one_that_counts(signals: Signals) -> None:
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(Interrupted) as raised:
        signals.check()
    assert raised.value.number == signal.SIGTERM
