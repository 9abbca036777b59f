"""Runners that are registered before their instances are launched (just in time, JIT)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial

from runner_fleet.errors import CapacityError
from runner_fleet.github import GitHub, JitConfig
from runner_fleet.provisioning.identity import LABEL_TAG, Fleet
from runner_fleet.provisioning.placing import Placing
from runner_fleet.provisioning.prepare import Script

AT_ONCE = 4
"""Registrations under way at a time."""

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
    clock: Callable[[], float],
) -> dict[str, JitConfig]:
    """A registration for each label of the fleet, by label.

    When one fails, or this is interrupted, no further ones are begun, and those under way are
    waited for: whoever takes the fleet back then sees all there are. Raises `GitHubError`.
    """
    over = threading.Event()
    pace = Pace(clock, over.wait)

    def register(label: str) -> JitConfig | None:
        pace.wait()
        if over.is_set():
            return None
        labels = fleet.jit_labels(label, extra_labels)
        return github.jit_config(fleet.jit_name(label), labels, group_id)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            begun = {label: pool.submit(register, label) for label in fleet.labels}
            done, _ = wait(begun.values(), return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        finally:
            over.set()
    return {label: config for label, future in begun.items() if (config := future.result())}


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
