"""The same work in several places."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from runner_fleet.at_once import at_once, begun
from runner_fleet.errors import CloudError


def test_what_is_begun_answers_or_fails() -> None:
    assert begun(lambda: 3).result() == 3
    with pytest.raises(ZeroDivisionError):
        begun(lambda: 1 // 0).result()


def test_what_is_begun_keeps_no_process_from_its_end() -> None:
    code = (
        "import time; from runner_fleet.at_once import begun\n"
        "begun(lambda: time.sleep(60))\n"
        "exit(7)"
    )
    ended = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert ended.returncode == 7


def test_a_place_that_fails_does_not_keep_the_others_from_answering() -> None:
    def work(place: str) -> str:
        if place == "b":
            msg = "no way"
            raise CloudError(msg)
        return place.upper()

    answers = at_once(["a", "b", "c"], work, 10.0)
    assert answers.found == {"a": "A", "c": "C"}
    assert answers.failed == {"b": ("no way",)}
    assert answers.problems == ["b: no way"]


def test_a_place_that_does_not_answer_is_given_up() -> None:
    never = threading.Event()
    joined: dict[str, float] = {}
    given_up: list[threading.Thread] = []

    def work(place: str) -> str:
        if place == "slow":
            never.wait(60)
        return place

    def join(thread: threading.Thread, seconds: float) -> None:
        joined[thread.name] = seconds
        if thread.name == "slow":
            given_up.append(thread)  # as if the time were over
        else:
            thread.join(60)

    answers = at_once(["slow", "fast"], work, 10.0, join)
    assert answers.found == {"fast": "fast"}
    assert answers.failed == {"slow": ("no answer within 10 seconds (region_timeout)",)}
    assert 0 <= joined["fast"] <= joined["slow"] <= 10
    never.set()
    given_up[0].join(60)
    assert answers.found == {"fast": "fast"}


def test_no_place_is_waited_for_longer_than_the_limit() -> None:
    never = threading.Event()
    answers = at_once(["a", "b"], lambda _place: never.wait(600), 0.05)
    never.set()
    assert answers.found == {}
    assert list(answers.failed) == ["a", "b"]


def test_all_are_asked_at_once() -> None:
    meeting = threading.Barrier(3, timeout=60)
    answers = at_once(["a", "b", "c"], lambda _place: meeting.wait() >= 0, 60.0)
    assert answers.found == {"a": True, "b": True, "c": True}
