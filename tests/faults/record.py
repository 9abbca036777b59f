"""The last measured result, as it stands in the documentation."""

from __future__ import annotations

import os
import time

from tests.actions.harness import ROOT

PAGE = ROOT / "docs" / "proof.md"
BEGIN, END = "<!-- measured -->\n", "<!-- end of measured -->\n"


def record(table: str, points: int, seconds: float) -> None:
    """Put the table into the page, with what it was measured by."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    said = (
        f"Measured on {day} with `make test-faults` on a machine of {os.cpu_count()} processors: "
        f"{points} points in\n{seconds / 60:.0f} minutes.\n"
    )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{said}\n{table}\n\n{END}{after}", encoding="utf-8")
