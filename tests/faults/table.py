"""The result of the campaign, as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.faults.points import SIGNALS
from tests.faults.rows import ROWS
from tests.faults.strike import Outcome

HEADING = ("Action", "Struck by", "Points", "Left to the sweep", "Lost")


def table(outcomes: Iterable[Outcome]) -> str:
    """A row for each action and signal, one for all faults of an action, and the sum."""
    found = list(outcomes)
    rows = [
        _row(row.name, what, of_it)
        for row in ROWS
        for what in (*SIGNALS, "faults")
        if (of_it := [one for one in found if one.point.row == row.name and _kind(one) == what])
    ]
    rows.append(_row("all", "", found))
    lines = [HEADING, ["---"] * 2 + ["---:"] * 3, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _kind(outcome: Outcome) -> str:
    return outcome.point.what if outcome.point.what in SIGNALS else "faults"


def _row(name: str, what: str, outcomes: Sequence[Outcome]) -> list[str]:
    reached = [one for one in outcomes if one.reached]
    return [
        name,
        what,
        str(len(reached)),
        str(sum(bool(one.left_to_sweep) for one in outcomes)),
        str(sum(bool(one.lost) for one in outcomes)),
    ]
