"""What the job summary shows: tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from runner_fleet.ec2_model import Instance
from runner_fleet.provisioning.attempts import Attempt
from runner_fleet.provisioning.check import PROBLEM, Check
from runner_fleet.provisioning.identity import PRICE_TAG
from runner_fleet.provisioning.loss import SHOWN, RunnerLostError
from runner_fleet.provisioning.own import Own
from runner_fleet.provisioning.progress import BOOTING, LAUNCHED, ONLINE, REGISTERED, Progress
from runner_fleet.provisioning.swept import Row
from runner_fleet.provisioning.take_back import Taken

_PHASES = (LAUNCHED, BOOTING, REGISTERED, ONLINE)
_SHOWN = 200
"""Rows of attempts: GitHub shows 1 MiB of summary, and nobody reads as much."""

_MARKS = {PROBLEM: f"**{PROBLEM}**"}


def counted(things: Collection[object], name: str) -> str:
    """As `1 instance`, `3 instances`."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def started(
    progress: Progress,
    names: Mapping[str, str],
    fleet_id: str,
    attempts: Sequence[Attempt],
    max_lifetime: int,
) -> str:
    """The instances of a start, with the seconds each took to get to a phase.

    `names`: instance id to the name of its runner. `max_lifetime`: minutes after which all end in
    any case.
    """
    region = attempts[-1].candidate.region
    rows = [
        [
            f"`{progress.labels[key]}`",
            f"`{key}`",
            instance.type,
            instance.zone,
            instance.market,
            f"`{names[key]}`",
            *(_seconds(progress, key, phase) for phase in _PHASES),
        ]
        for key, instance in progress.instances.items()
    ]
    heading = ["Runner label", "Instance", "Type", "Zone", "Market", "Runner"]
    return (
        f"### Started {counted(rows, 'runner')} in {region}\n\n"
        f"{_table([*heading, *(phase.capitalize() for phase in _PHASES)], rows)}\n\n"
        f"Seconds since the launch, as seen by polling. Fleet `{fleet_id}`."
        f"{_estimate(progress.instances.values(), max_lifetime)}{failed(attempts)}"
    )


def checked(checks: Sequence[Check]) -> str:
    """What a dry run looked at."""
    rows = [
        [
            _MARKS.get(check.outcome, check.outcome),
            cell(check.what),
            check.region or "-",
            cell(check.detail),
        ]
        for check in checks
    ]
    table = _table(["Result", "Checked", "Region", "Detail"], rows)
    return f"### Dry run: nothing was launched\n\n{table}"


def lost(error: RunnerLostError) -> str:
    """Why a start failed: what became of each instance that was lost, and what to do."""
    shown = error.lost[:SHOWN]
    rows = [
        [
            f"`{item.label}`",
            f"`{item.instance.id}`",
            item.instance.type,
            item.instance.zone,
            f"{item.phase}, {item.instance.state}",
            cell(f"{item.why.title} [{item.why.code}]" if item.why else item.hint or "unknown"),
            cell(item.why.remedy if item.why else "-"),
        ]
        for item in shown
    ]
    heading = ["Runner label", "Instance", "Type", "Zone", "Came to", "Why", "What to do"]
    more = len(error.lost) - len(shown)
    return (
        f"### Why the start failed\n\n{cell(error.late or 'Instances ended')}.\n\n"
        f"{_table(heading, rows)}\n" + (f"\n{more} more instances were lost." if more > 0 else "")
    )


def cell(text: str) -> str:
    """Text of others inside a table: neither HTML nor Markdown."""
    return re.sub(r"([\\`*_|<>\[\]~])", r"\\\1", " ".join(text.split()))


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {cell(line)}" for line in lines)


def paragraphs(*texts: str) -> str:
    """Those that are not empty."""
    return "\n\n".join(text for text in texts if text)


def _estimate(instances: Collection[Instance], max_lifetime: int) -> str:
    """What they cost, when the price of each is known."""
    prices = [price for each in instances if (price := _usd_per_hour(each)) is not None]
    if len(prices) < len(instances):
        return ""
    hourly = sum(prices)
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


def stopped(taken: Taken, now: float, regions: Collection[str], own: Own) -> str:
    """What a stop ended, left alone, and could not end; `now` in seconds since the epoch."""
    where = ", ".join(regions)
    rows = [
        *(_instance(taken, key, "terminated", now) for key in taken.terminated),
        *(_instance(taken, key, "had ended already") for key in taken.ended_before),
        *(_instance(taken, key, f"not found in {where}") for key in taken.unknown),
        *(_instance(taken, key, "**NOT terminated**", now) for key in taken.left),
        *(_instance(taken, key, "left alone: maybe of another job") for key in own.doubtful),
        *(_instance(taken, key, "left alone: of another job") for key in own.theirs),
        *([f"`{name}`", "runner", "registration removed"] for name in taken.removed),
        *([f"`{name}`", "runner", "was busy; its instance is terminated"] for name in taken.busy),
    ]
    heading = ["Name", "Kind", "Outcome"]
    if taken.seen:
        heading += ["Type", "Seconds lived", "Cost (estimate)"]
    rows = [(row + [""] * len(heading))[: len(heading)] for row in rows]
    nothing = "" if taken.problems else f"None found in {where}."
    table = _table(heading, rows) if rows else nothing
    return paragraphs("### Stopped runners", table, bullets(taken.problems))


def _instance(taken: Taken, key: str, outcome: str, now: float | None = None) -> list[str]:
    """`now` where the instance has lived until now; of one that ended EC2 does not tell when."""
    row = [f"`{key}`", "instance", outcome]
    seen = taken.seen.get(key)
    if seen is None:
        return row
    seconds = now - seen.launched_at if now is not None and seen.launched_at else None
    lived = "" if seconds is None else f"{max(0.0, seconds):.0f}"
    return [*row, seen.type, lived, _cost(seen, seconds)]


def swept(rows: Sequence[Row], problems: Sequence[str], *, dry_run: bool) -> str:
    """What a sweep found, and what became of it."""
    cells = [
        [row.kind, f"`{row.name}`", row.region, _age(row.age), row.run, row.why, row.outcome]
        for row in rows
    ]
    heading = ["Kind", "Name", "Region", "Age", "Run", "Why", "Outcome"]
    table = _table(heading, cells) if cells else "" if problems else "There is no orphan."
    title = "Orphans, if this were not a dry run" if dry_run else "Swept orphans"
    return paragraphs(f"### {title}", table, bullets(problems))


def _age(seconds: float | None) -> str:
    """As `2 h 05 min`."""
    if seconds is None:
        return ""
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def _cost(instance: Instance, seconds: float | None) -> str:
    """What an instance has cost, when the start knew its price; volumes and traffic not counted."""
    price = _usd_per_hour(instance)
    if price is None or seconds is None:
        return ""
    return f"${max(0.0, seconds) * price / 3600:.2f}"


def _usd_per_hour(instance: Instance) -> float | None:
    """As the start that knew it wrote it down."""
    try:
        return float(instance.tags[PRICE_TAG])
    except (LookupError, ValueError):
        return None


def _seconds(progress: Progress, key: str, phase: str) -> str:
    """A dash when polling never saw the instance in this phase."""
    reached = progress.reached.get((key, phase))
    return "-" if reached is None else f"{reached:.1f}"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
