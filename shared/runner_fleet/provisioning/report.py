"""What the job summary shows of a stop and of a sweep."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner_fleet.ec2_model import Instance
from runner_fleet.markdown import bullets, paragraphs
from runner_fleet.markdown import table as tabulated
from runner_fleet.provisioning.identity import PRICE_TAG
from runner_fleet.provisioning.own import Own
from runner_fleet.provisioning.swept import Row
from runner_fleet.provisioning.take_back import Taken


def counted(things: Collection[object], name: str) -> str:
    """As `1 instance`, `3 instances`."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


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
    table = tabulated(heading, rows) if rows else nothing
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
    table = tabulated(heading, cells) if cells else "" if problems else "There is no orphan."
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
    price = usd_per_hour(instance)
    if price is None or seconds is None:
        return ""
    return f"${max(0.0, seconds) * price / 3600:.2f}"


def usd_per_hour(instance: Instance) -> float | None:
    """As the start that knew it wrote it down."""
    try:
        return float(instance.tags[PRICE_TAG])
    except (LookupError, ValueError):
        return None
