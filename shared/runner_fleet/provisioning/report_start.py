"""What the job summary shows of a start."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from runner_fleet.ec2_model import Instance
from runner_fleet.markdown import bullets, cell, paragraphs, table
from runner_fleet.provisioning.attempts import Trail
from runner_fleet.provisioning.check import PROBLEM, Check
from runner_fleet.provisioning.loss import SHOWN, RunnerLostError
from runner_fleet.provisioning.options.placement import Placement
from runner_fleet.provisioning.options.start import StartOptions
from runner_fleet.provisioning.progress import BOOTING, LAUNCHED, ONLINE, REGISTERED, Progress
from runner_fleet.provisioning.report import usd_per_hour

_PHASES = (LAUNCHED, BOOTING, REGISTERED, ONLINE)
_SHOWN = 200
"""Rows of attempts: GitHub shows 1 MiB of summary, and nobody reads as much."""

_MARKS = {PROBLEM: f"**{PROBLEM}**"}


def started(
    progress: Progress,
    names: Mapping[str, str],
    fleet_id: str,
    trail: Trail,
    options: StartOptions,
) -> str:
    """The instances of a start, with the seconds each took to get to a phase.

    `names`: instance id to the name of its runner.
    """
    place, lifetime = options.placement, options.boot.max_lifetime
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
        f"### Started {_how_many(len(rows), place)} in {trail.region}\n\n"
        f"{table([*heading, *(phase.capitalize() for phase in _PHASES)], rows)}\n\n"
        f"Seconds since the launch, as seen by polling. Fleet `{fleet_id}`."
        f"{_estimate(progress.instances.values(), lifetime)}{_below(attempts(trail))}"
    )


def _how_many(count: int, placement: Placement) -> str:
    if count == placement.count:
        return f"{count} runner{'' if count == 1 else 's'}"
    return f"{count} of {placement.count} runners (min_count {placement.minimum})"


def _below(text: str) -> str:
    return f"\n\n{text}" if text else ""


def fewer(count: int, placement: Placement) -> str:
    """A warning when a start made do with fewer runners than it was asked for."""
    if count == placement.count:
        return ""
    return (
        f"{_how_many(count, placement)} started, as there was no room for more: each takes one "
        f"job, so that only {count} can run, and further ones would wait in vain. Make the matrix "
        "of the output instances"
    )


def taken_back(trail: Trail) -> str:
    """What a start that failed has left: nothing, if all went well."""
    if not trail.back:
        return "Nothing was launched."
    if trail.left:
        return paragraphs(f"{trail.back}. **Not all could be taken back:**", bullets(trail.left))
    return f"{trail.back}: nothing of this start costs money any more."


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
    rows_of_checks = table(["Result", "Checked", "Region", "Detail"], rows)
    return f"### Dry run: nothing was launched\n\n{rows_of_checks}"


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
        f"{table(heading, rows)}\n" + (f"\n{more} more instances were lost." if more > 0 else "")
    )


def _estimate(instances: Collection[Instance], max_lifetime: int) -> str:
    """What they cost, when the price of each is known."""
    prices = [price for each in instances if (price := usd_per_hour(each)) is not None]
    if len(prices) < len(instances):
        return ""
    hourly = sum(prices)
    return (
        f" About ${hourly:.4g} an hour for all, at most ${hourly * max_lifetime / 60:.4g} until "
        "`max_lifetime_minutes`, without volumes and traffic."
    )


def attempts(trail: Trail) -> str:
    """The attempts to launch, when one of them failed, and places that were not even tried."""
    skipped = bullets(trail.skipped)
    if all(attempt.launched for attempt in trail.attempts):
        return skipped
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
        for attempt in trail.attempts[:_SHOWN]
    ]
    heading = ["Pass", "Market", "Type", "Where", "Subnet", "Answer", "After (s)", "Took (s)"]
    more = len(trail.attempts) - len(rows)
    rest = f"and {more} more." if more else ""
    return paragraphs("### Attempts to launch", table(heading, rows), rest, skipped)


def _seconds(progress: Progress, key: str, phase: str) -> str:
    """A dash when polling never saw the instance in this phase."""
    reached = progress.reached.get((key, phase))
    return "-" if reached is None else f"{reached:.1f}"
