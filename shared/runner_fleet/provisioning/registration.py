"""Runners that are registered before their instances are launched (just in time, JIT)."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from functools import partial

from runner_fleet.at_once import begun
from runner_fleet.errors import CapacityError
from runner_fleet.github import GitHub, JitConfig
from runner_fleet.provisioning.identity import LABEL_TAG, Fleet
from runner_fleet.provisioning.placing import Placing
from runner_fleet.provisioning.prepare import Script

AT_ONCE = 4
"""Registrations under way at a time."""

UNDER_WAY = 3.0
"""Seconds that those under way get after a failure: a cancelled step has 10."""

A_MINUTE = 80
"""Requests a minute that create something, as GitHub allows (REST API docs, rate limits, secondary
ones). Whether a registration counts as one is not documented."""

_WINDOW = 60.0  # seconds


class Pace:
    """Lets the first `A_MINUTE` through at once, each later one a minute after the one as far back.

    May be asked from several threads.
    """

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], object]) -> None:
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._turns: list[float] = []

    def wait(self) -> None:
        with self._lock:
            now = self._clock()
            turn = now
            if len(self._turns) >= A_MINUTE:
                turn = max(now, self._turns[-A_MINUTE] + _WINDOW)
            self._turns.append(turn)
        if turn > now:
            self._sleep(turn - now)


def register_all(
    github: GitHub,
    fleet: Fleet,
    extra_labels: Sequence[str],
    group_id: int,
) -> dict[str, JitConfig]:
    """A registration for each label of the fleet, by label.

    When one fails, or this is interrupted, no further ones are begun, and those under way are
    waited for, so that whoever takes the fleet back sees all there are; but no longer than
    `UNDER_WAY`, for one may be waiting for a rate limit to end. Raises `GitHubError`.
    """
    over = threading.Event()
    pace = Pace(time.monotonic, over.wait)
    waiting = deque(fleet.labels)

    def register() -> dict[str, JitConfig]:
        made: dict[str, JitConfig] = {}
        while not over.is_set():
            try:
                label = waiting.popleft()
            except IndexError:
                break
            pace.wait()
            if not over.is_set():
                labels = fleet.jit_labels(label, extra_labels)
                made[label] = github.jit_config(fleet.jit_name(label), labels, group_id)
        return made

    workers = [begun(register) for _ in range(min(AT_ONCE, len(fleet.labels)))]
    try:
        done, _ = wait(workers, return_when=FIRST_EXCEPTION)
        made = [worker.result() for worker in done]
    finally:
        over.set()
        wait(workers, timeout=UNDER_WAY)
    found = {label: config for each in made for label, config in each.items()}
    return {label: found[label] for label in fleet.labels}


def place_each(
    placing: Placing, script: Script, configs: Mapping[str, JitConfig], minimum: int
) -> list[JitConfig]:
    """Launch an instance for each registration; returns those that were left over.

    Raises `CapacityError` when there was room for fewer than `minimum`.
    """
    # Before the first launch: one that is too large ends the start while it costs nothing.
    scripts = {label: script.alone(label, config.encoded) for label, config in configs.items()}
    for number, (label, text) in enumerate(scripts.items()):
        try:
            placing.place(1, 1, partial(bytes, text), {LABEL_TAG: label})
        except CapacityError:
            if number < minimum:
                raise
            return list(configs.values())[number:]
    return []
