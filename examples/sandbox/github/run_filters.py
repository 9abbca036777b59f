"""The query parameters of the list of workflow runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone

from sandbox.github.errors import validation_failed
from sandbox.github.records import Run

MOST_RESULTS = 1000
_SEARCHES = ("actor", "branch", "check_suite_id", "created", "event", "head_sha", "status")
_STATUSES = ("queued", "in_progress", "completed", "requested", "waiting", "pending")
_CONCLUSIONS = (
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "skipped",
    "stale",
    "success",
    "timed_out",
)
_DATE = re.compile(r"(>=|<=|>|<)?(\S+)\Z")


def is_search(query: Mapping[str, str]) -> bool:
    """A search has at most 1,000 results, however large its total_count."""
    return any(query.get(name) for name in _SEARCHES)


def select(found: Sequence[Run], query: Mapping[str, str]) -> list[Run]:
    """The runs that match every parameter; a status that does not exist matches none."""
    tests: list[Callable[[Run], bool]] = []
    status = query.get("status")
    if status:
        tests.append(lambda run: _has_status(run, status))
    for name, field in (
        ("actor", "actor"),
        ("branch", "head_branch"),
        ("event", "event"),
        ("head_sha", "head_sha"),
    ):
        wanted = query.get(name)
        if wanted:
            tests.append(lambda run, field=field, wanted=wanted: getattr(run, field) == wanted)  # type: ignore[misc]
    created = query.get("created")
    if created:
        tests.append(_created(created))
    return [run for run in found if all(test(run) for test in tests)]


def _has_status(run: Run, wanted: str) -> bool:
    """Statuses and conclusions share the parameter."""
    if wanted in _STATUSES:
        return run.status == wanted
    return wanted in _CONCLUSIONS and run.conclusion == wanted


def _created(text: str) -> Callable[[Run], bool]:
    if ".." in text:
        first, last = text.split("..", 1)
        return _both(_compare(">=", first), _compare("<=", last))
    match = _DATE.match(text)
    if match is None:
        msg = f"{text} is not a date or a range of dates"
        raise validation_failed(msg)
    return _compare(match[1] or "=", match[2])


def _both(one: Callable[[Run], bool], other: Callable[[Run], bool]) -> Callable[[Run], bool]:
    return lambda run: one(run) and other(run)


def _compare(operator: str, text: str) -> Callable[[Run], bool]:
    if text == "*":
        return bool
    start, end = _span(text)
    return {
        ">=": lambda run: run.created_at >= start,
        ">": lambda run: run.created_at >= end,
        "<=": lambda run: run.created_at < end,
        "<": lambda run: run.created_at < start,
        "=": lambda run: start <= run.created_at < end,
    }[operator]


def _span(text: str) -> tuple[datetime, datetime]:
    """From when until before when: a day for a date, a second for a time."""
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        msg = f"{text} is not a date"
        raise validation_failed(msg) from None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return at, at + (timedelta(days=1) if len(text) == len("2026-01-01") else timedelta(seconds=1))
