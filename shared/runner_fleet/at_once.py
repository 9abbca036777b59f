"""Work beside other work, in threads that keep no process from its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from runner_fleet.errors import gathered

T = TypeVar("T")
Join = Callable[[threading.Thread, float], None]


def begun(work: Callable[[], T]) -> Future[T]:
    """The work under way. Whoever does not wait for its result leaves it to itself."""
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # for whoever asks for the result
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return future


@dataclass
class Answers(Generic[T]):
    """What came of it, place by place: an answer, or the lines that say why there is none."""

    found: dict[str, T] = field(default_factory=dict)
    failed: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """The lines of those that failed, each with its place."""
        return [f"{place}: {line}" for place, lines in self.failed.items() for line in lines]


def at_once(
    places: Iterable[str],
    work: Callable[[str], T],
    limit: float,
    join: Join = threading.Thread.join,
) -> Answers[T]:
    """Do the work in all places; give a place up after `limit` seconds.

    Such a place is among the failed, and its thread is left to itself: it keeps neither the others
    waiting nor the process from its end. `join` waits so long for the thread named as the place.
    """
    names = list(places)
    answers: Answers[T] = Answers()
    lock = threading.Lock()

    def one(place: str) -> None:
        problems: list[str] = []
        with gathered(problems):
            answer = work(place)
        with lock:
            if place in answers.failed:
                return  # too late
            if problems:
                answers.failed[place] = tuple(problems)
            else:
                answers.found[place] = answer

    threads = [
        threading.Thread(target=one, args=(place,), name=place, daemon=True) for place in names
    ]
    end = time.monotonic() + limit
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread, max(0.0, end - time.monotonic()))
    with lock:
        for place in names:
            if place not in answers.found and place not in answers.failed:
                late = f"no answer within {limit:g} seconds (region_timeout)"
                answers.failed[place] = (late,)
    return answers
