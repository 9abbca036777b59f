"""Points run side by side: a process with a world of its own for each worker.

However the process ends that made them, be it by SIGKILL, they end with it.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import threading
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from multiprocessing.util import Finalize
from pathlib import Path

from sandbox.world import World

from tests.actions.harness import aws
from tests.actions.warm import interpreter
from tests.faults.calls import made
from tests.faults.points import Point
from tests.faults.rows import ROWS
from tests.faults.strike import Campaign, Outcome

_LABELS = [f"runner-faults{number:02}" for number in range(32)]
_here: list[tuple[Campaign, World]] = []  # of a worker


class Workers:
    """A pool of worlds."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def record(self) -> dict[str, list[str]]:
        """The names of the calls of each row that are struck, as it makes them undisturbed."""
        names = [row.name for row in ROWS]
        return dict(zip(names, self._pool.map(_record, names), strict=True))

    def strike(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """The outcomes as they come."""
        for future in as_completed([self._pool.submit(_strike, point) for point in points]):
            yield future.result()


@contextmanager
def workers(number: int) -> Iterator[Workers]:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory,
        ProcessPoolExecutor(
            number, multiprocessing.get_context("spawn"), _furnish, (directory,)
        ) as pool,
    ):
        try:
            yield Workers(pool)
        finally:
            pool.shutdown(cancel_futures=True)


def _furnish(directory: str) -> None:
    place = Path(directory) / str(os.getpid())
    place.mkdir()
    world = World(place / "world", labels=_LABELS)
    world.__enter__()
    Finalize(world, world.close, exitpriority=10)
    _here.append((Campaign(world, aws(world, "ec2"), place), world))
    threading.Thread(target=_end_with_parent, args=(world, place), daemon=True).start()


def _end_with_parent(world: World, place: Path) -> None:
    """Nobody waits for a point any more, and nobody else removes what this worker has made."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    try:
        interpreter().close()
        world.close()
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):  # other workers' places are in it still
            place.parent.rmdir()
    finally:
        os._exit(1)


def _record(name: str) -> list[str]:
    campaign, world = _here[0]
    row = next(row for row in ROWS if row.name == name)
    result, _ = campaign.record(row)
    assert (result.status != 0) == row.fails, result.log
    return [call for call in made(world.calls.all()) if not row.only or call in row.only]


def _strike(point: Point) -> Outcome:
    campaign, _ = _here[0]
    try:
        return campaign.strike(point)
    except Exception:  # one point that cannot be run is no reason to lose the others
        return Outcome(point, lost=["it could not be run"], logs=[traceback.format_exc()])
