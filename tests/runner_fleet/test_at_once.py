"""The same work in several places."""

from __future__ import annotations

import threading
import time

from runner_fleet.at_once import at_once
from runner_fleet.errors import CloudError


def test_a_place_that_fails_does_not_keep_the_others_from_answering() -> None:
    def work(place: str) -> str:
        if place == "b":
            msg = "no way"
            raise CloudError(msg)
        return place.upper()

    answers = at_once(["a", "b", "c"], work, 10.0)
    assert answers.found == {"a": "A", "c": "C"}
    assert answers.failed == {"b": ("no way",)}


def test_a_place_that_does_not_answer_is_given_up() -> None:
    never, late = threading.Event(), threading.Event()

    def work(place: str) -> str:
        if place == "slow":
            never.wait(30)
            late.set()
        return place

    began = time.monotonic()
    answers = at_once(["slow", "fast"], work, 0.2)
    assert time.monotonic() - began < 5
    assert answers.found == {"fast": "fast"}
    assert answers.failed == {"slow": ("no answer within 0.2 seconds (region_timeout)",)}
    never.set()
    assert late.wait(5)
    assert answers.found == {"fast": "fast"}


def test_all_are_asked_at_once() -> None:
    meeting = threading.Barrier(3, timeout=10)
    answers = at_once(["a", "b", "c"], lambda _place: meeting.wait() >= 0, 20.0)
    assert answers.found == {"a": True, "b": True, "c": True}
