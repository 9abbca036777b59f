"""What the job summary shows: tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from runner_fleet.provisioning.check import PROBLEM, Check
from runner_fleet.provisioning.take_back import Taken
from runner_fleet.provisioning.wait import BOOTING, ONLINE, Progress

_MARKS = {PROBLEM: f"**{PROBLEM}**"}


def counted(things: Collection[object], name: str) -> str:
    """As `1 instance`, `3 instances`."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def started(progress: Progress, fleet_id: str, region: str) -> str:
    """The instances of a start, with the seconds each took to get to a phase."""
    rows = [
        [
            f"`{progress.labels[key]}`",
            f"`{key}`",
            instance.type,
            instance.zone,
            *(_seconds(progress, key, phase) for phase in (BOOTING, ONLINE)),
        ]
        for key, instance in progress.instances.items()
    ]
    heading = ["Runner label", "Instance", "Type", "Zone", "Running", "Online"]
    return (
        f"### Started {counted(rows, 'runner')} in {region}\n\n{_table(heading, rows)}\n\n"
        f"Seconds since the launch, as seen by polling. Fleet `{fleet_id}`."
    )


def checked(checks: Sequence[Check]) -> str:
    """What a dry run looked at."""
    rows = [
        [_MARKS.get(check.outcome, check.outcome), check.what, check.region or "-", check.detail]
        for check in checks
    ]
    table = _table(["Result", "Checked", "Region", "Detail"], rows)
    return f"### Dry run: nothing was launched\n\n{table}"


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
