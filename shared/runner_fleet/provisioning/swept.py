"""What a sweep has to tell: each thing that was looked at, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One thing that was looked at, and what became of it."""

    kind: str  # instance, registration
    name: str
    region: str
    age: float | None  # seconds
    run: str
    why: str
    outcome: str
    orphan: bool

    def plain(self) -> dict[str, str]:
        """As the output `orphans` holds it."""
        values = {"kind": self.kind, "name": self.name, "region": self.region, "run": self.run}
        return {**values, "why": self.why, "outcome": self.outcome.strip("*")}


@dataclass
class Swept:
    """All that is worth telling, and what went wrong."""

    rows: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def registration(name: str, why: str, run: str, outcome: str = "left", *, orphan: bool) -> Row:
    """What a registration has of a row."""
    return Row(
        kind="registration",
        name=name,
        region="",
        age=None,
        run=run,
        why=why,
        outcome=outcome,
        orphan=orphan,
    )
