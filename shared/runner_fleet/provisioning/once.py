"""Each fault once, though several checks of a dry run come upon it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from runner_fleet.aws_errors import DENIED
from runner_fleet.provisioning.check import NOT_CHECKED, PROBLEM, Check

TRIAL = "dry run of RunInstances"
"""How the check begins that asks EC2 for everything together: others tell more of what is wrong."""


def once(checks: Iterable[Check]) -> list[Check]:
    """The checks without those that repeat another; a refused launch says what it was for."""
    told: list[Check] = []
    for check in dict.fromkeys(checks):
        if check.outcome != PROBLEM:
            told.append(check)
            continue
        before = [each for each in told if each.outcome == PROBLEM and each.region == check.region]
        if check.what.startswith(TRIAL):
            cause = next((each for each in before if _same(check, each)), None)
            if cause:
                text = f"EC2 refuses it, for the same reason as: {cause.what}"
                told.append(replace(check, outcome=NOT_CHECKED, detail=text))
                continue
        same = next((each for each in before if each.detail == check.detail), None)
        if same:  # the later one is of the very thing, the earlier one of an input
            told[told.index(same)] = check
        else:
            told.append(check)
    return told


def _same(trial: Check, other: Check) -> bool:
    """Whether a refused launch was refused for what another check has found."""
    refusal = _refusal(trial)
    if other.what.startswith(TRIAL):
        return _refusal(other) == refusal
    subject = other.what.rpartition(" ")[2]
    if other.what.startswith("zones of "):
        return trial.code == "Unsupported" and subject in trial.what
    # A missing permission names what it is missing for, be that right or wrong.
    return trial.code not in DENIED and bool(
        re.search(rf"(?<![\w-]){re.escape(subject)}(?![\w-])", refusal)
    )


def _refusal(trial: Check) -> str:
    """What AWS said, without what was asked for."""
    return trial.detail.partition("AWS refused")[2] or trial.detail
