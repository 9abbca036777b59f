"""What the job summary shows: tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from runner_fleet.provisioning.attempts import Attempt
from runner_fleet.provisioning.check import PROBLEM, Check
from runner_fleet.provisioning.identity import runner_name
from runner_fleet.provisioning.take_back import Taken
from runner_fleet.provisioning.wait import BOOTING, LAUNCHED, ONLINE, REGISTERED, Progress

_PHASES = (LAUNCHED, BOOTING, REGISTERED, ONLINE)
_SHOWN = 200
"""Rows of attempts: GitHub shows 1 MiB of summary, and nobody reads as much."""

_MARKS = {PROBLEM: f"**{PROBLEM}**"}


def counted(things: Collection[object], name: str) -> str:
    """As `1 instance`, `3 instances`."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def started(
    progress: Progress, fleet_id: str, attempts: Sequence[Attempt], max_lifetime: int
) -> str:
    """The instances of a start, with the seconds each took to get to a phase.

    `max_lifetime`: minutes after which they end in any case.
    """
    place = attempts[-1].candidate
    rows = [
        [
            f"`{progress.labels[key]}`",
            f"`{key}`",
            instance.type,
            instance.zone,
            instance.market,
            f"`{runner_name(progress.labels[key], key)}`",
            *(_seconds(progress, key, phase) for phase in _PHASES),
        ]
        for key, instance in progress.instances.items()
    ]
    heading = ["Runner label", "Instance", "Type", "Zone", "Market", "Runner"]
    return (
        f"### Started {counted(rows, 'runner')} in {place.region}\n\n"
        f"{_table([*heading, *(phase.capitalize() for phase in _PHASES)], rows)}\n\n"
        f"Seconds since the launch, as seen by polling. Fleet `{fleet_id}`."
        f"{_estimate(place.usd_per_hour, len(rows), max_lifetime)}{failed(attempts)}"
    )


def checked(checks: Sequence[Check]) -> str:
    """What a dry run looked at."""
    rows = [
        [_MARKS.get(check.outcome, check.outcome), check.what, check.region or "-", check.detail]
        for check in checks
    ]
    table = _table(["Result", "Checked", "Region", "Detail"], rows)
    return f"### Dry run: nothing was launched\n\n{table}"


def _estimate(usd_per_hour: float | None, count: int, max_lifetime: int) -> str:
    if usd_per_hour is None:
        return ""
    hourly = usd_per_hour * count
    return (
        f" About ${hourly:.4g} an hour for all, at most ${hourly * max_lifetime / 60:.4g} until "
        "`max_lifetime_minutes`, without volumes and traffic."
    )


def failed(attempts: Sequence[Attempt]) -> str:
    """The attempts to launch, when one of them failed."""
    if all(attempt.launched for attempt in attempts):
        return ""
    rows = [
        [
            str(attempt.number),
            attempt.candidate.market,
            attempt.candidate.instance_type,
            attempt.candidate.zone or attempt.candidate.region,
            attempt.candidate.subnet_id or "-",
            attempt.outcome,
            f"{attempt.began:.1f}",
            f"{attempt.seconds:.1f}",
        ]
        for attempt in attempts[:_SHOWN]
    ]
    heading = ["Pass", "Market", "Type", "Where", "Subnet", "Answer", "After (s)", "Took (s)"]
    more = len(attempts) - len(rows)
    rest = f"\n\nand {more} more." if more else ""
    return f"\n\n### Attempts to launch\n\n{_table(heading, rows)}{rest}"


def stopped(taken: Taken) -> str:
    """What a stop ended, and what it could not."""
    rows = [
        *([f"`{key}`", "instance", "terminated"] for key in taken.terminated),
        *([f"`{key}`", "instance", "had ended already"] for key in taken.ended_before),
        *([f"`{key}`", "instance", "unknown to EC2"] for key in taken.unknown),
        *([f"`{key}`", "instance", "**NOT terminated**"] for key in taken.left),
        *([f"`{name}`", "runner", "registration removed"] for name in taken.removed),
        *([f"`{name}`", "runner", "was busy; its instance is terminated"] for name in taken.busy),
    ]
    nothing = "" if taken.problems else "Nothing was left to stop."
    table = _table(["Name", "Kind", "Outcome"], rows) if rows else nothing
    problems = "".join(f"\n- {problem}" for problem in taken.problems)
    return f"### Stopped runners\n\n{table}\n{problems}"


def _seconds(progress: Progress, key: str, phase: str) -> str:
    """A dash when polling never saw the instance in this phase."""
    reached = progress.reached.get((key, phase))
    return "-" if reached is None else f"{reached:.1f}"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
