"""One thing that a dry run looked at, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from runner_fleet.errors import CloudError, FleetError

OK, WARNING, PROBLEM, NOT_CHECKED = "ok", "warning", "problem", "not checked"


@dataclass(frozen=True)
class Check:
    what: str
    outcome: str  # OK, WARNING, PROBLEM or NOT_CHECKED
    detail: str
    region: str = ""  # empty: it is not about a region
    code: str = ""  # EC2's, of a refusal

    def of(self, region: str) -> Check:
        return replace(self, region=region)


def tried(what: str, ask: Callable[[], str], permission: str = "") -> Check:
    """What came of a question; `permission` is the one it needs, if a start does without it."""
    try:
        return Check(what, OK, ask())
    except CloudError as error:
        if error.denied and permission:
            return Check(what, NOT_CHECKED, f"needs {permission}")
        return Check(what, PROBLEM, "; ".join(error.lines), code=error.code)
    except FleetError as error:
        return Check(what, PROBLEM, "; ".join(error.lines))
