"""What is wrong with a start, gathered while it is prepared, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runner_fleet.errors import InputError, gathered
from runner_fleet.provisioning.input_order import in_order
from runner_fleet.provisioning.options.start import ACTION

_INPUT = re.compile(r"[a-z]+(_[a-z]+)+\b")


@dataclass(frozen=True)
class Problem:
    what: str  # was looked at
    line: str
    region: str = ""  # empty: it is not about a region


class UnpreparedError(InputError):
    """A start that cannot be; a line says which region has it when there are `several`."""

    def __init__(self, found: list[Problem], *, several: bool) -> None:
        self.found = tuple(in_order(found, ACTION, lambda each: each.line))
        super().__init__(
            *(
                f"{each.region}: {each.line}" if several and each.region else each.line
                for each in self.found
            )
        )


@contextmanager
def noted(found: list[Problem], what: str, region: str = "") -> Iterator[None]:
    """Note a failure of the block instead of raising it, as `gathered` does."""
    lines: list[str] = []
    with gathered(lines):
        yield
    found.extend(problem(what, line, region) for line in lines)


def problem(what: str, line: str, region: str = "") -> Problem:
    """A problem; of an input when its line begins with the name of one."""
    named = _INPUT.match(line)
    return Problem(named[0] if named else what, line, region)
