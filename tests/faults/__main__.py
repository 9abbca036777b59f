"""Strike the actions at every call they make; exit status 1 when anything was lost.

`make test-faults`, or some points only, by the words of their names:
`make test-faults ARGS="start SIGKILL after RunInstances"`. `--calls` only tells the calls,
`--record` puts the result into docs/proof.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence

from tests.faults.points import Point, points
from tests.faults.record import record
from tests.faults.strike import Outcome
from tests.faults.table import table
from tests.faults.workers import Workers, workers

WORKERS = 4 * (os.cpu_count() or 1)  # most of a point is waiting
EVERY = 25  # points between two lines of progress where there is no terminal
SHORT = 5  # points of which the logs are shown, whatever became of them


def main() -> int:
    parser = argparse.ArgumentParser(prog="make test-faults", description=__doc__)
    parser.add_argument("words", nargs="*", help="words of the names of the points")
    parser.add_argument("--workers", type=int, default=WORKERS, help=f"default: {WORKERS}")
    parser.add_argument("--calls", action="store_true", help="only tell the calls")
    parser.add_argument("--record", action="store_true", help="put the result into docs/proof.md")
    arguments = parser.parse_args()
    began = time.monotonic()
    with workers(arguments.workers) as pool:
        calls = pool.record()
        for row, names in calls.items():
            print(f"{row}: {', '.join(names)}", flush=True)
        if arguments.calls:
            return 0
        chosen = choose(calls, arguments.words)
        if not chosen:
            print("no point has such a name")
            return 1
        outcomes = list(follow(pool, chosen, began))
    show(outcomes, all_logs=len(chosen) <= SHORT)
    if arguments.record:
        record(table(outcomes), len(outcomes), time.monotonic() - began)
    return int(any(outcome.lost for outcome in outcomes))


def choose(calls: Mapping[str, Sequence[str]], words: Sequence[str]) -> list[Point]:
    """The points whose names have all the words; those that wait for long come first."""
    wanted = {word for argument in words for word in argument.split()}
    found = [point for row, names in calls.items() for point in points(row, names)]
    chosen = [point for point in found if wanted <= set(str(point).split())]
    return sorted(chosen, key=lambda point: point.what != "429")


def follow(pool: Workers, chosen: Sequence[Point], began: float) -> list[Outcome]:
    outcomes: list[Outcome] = []
    lost = 0
    for outcome in pool.strike(chosen):
        outcomes.append(outcome)
        lost += bool(outcome.lost)
        if outcome.lost:
            print(f"\nLOST  {outcome.point}: {'; '.join(outcome.lost)}", flush=True)
        done = len(outcomes)
        if sys.stdout.isatty() or done % EVERY == 0 or done == len(chosen):
            seconds = time.monotonic() - began
            end = "" if sys.stdout.isatty() else "\n"
            text = f"\r{done} of {len(chosen)} points, {lost} lost, {seconds:.0f} s"
            print(text if end == "" else text.strip(), end=end, flush=True)
    return outcomes


def show(outcomes: Sequence[Outcome], *, all_logs: bool) -> None:
    for outcome in outcomes:
        if outcome.lost or all_logs:
            print(f"\n=== {outcome.point} ({outcome.seconds:.1f} s)")
            print(*outcome.logs, sep="\n")
    unreached = [str(one.point) for one in outcomes if not one.reached and not one.lost]
    print(f"\n{table(outcomes)}\n")
    if unreached:
        print(f"{len(unreached)} more had ended before their call: {'; '.join(unreached)}")
    for outcome in outcomes:
        if outcome.lost:
            print(f'LOST: make test-faults ARGS="{outcome.point}"  ({"; ".join(outcome.lost)})')


if __name__ == "__main__":
    sys.exit(main())
