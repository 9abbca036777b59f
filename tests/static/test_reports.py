"""What users of other actions report: each has its answer here, and each answer is tested."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "docs" / "reports.md"

SENTENCE = 80  # characters: what is shorter says no reason


class Row(NamedTuple):
    number: str
    reports: str
    problem: str
    here: str


def rows() -> list[Row]:
    lines = REPORTS.read_text(encoding="utf-8").splitlines()
    return [Row(*line.strip("| ").split(" | ")) for line in lines if line.startswith("| R")]


def names_of_tests(row: Row) -> list[str]:
    return re.findall(r"`(test_\w+)`", row.here)


def every_test() -> set[str]:
    return {
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def test_no_report_is_left_out() -> None:
    assert [row.number for row in rows()] == [f"R{number}" for number in range(1, 54)]


def test_each_test_that_is_named_exists() -> None:
    named = {name for row in rows() for name in names_of_tests(row)}
    assert len(named) > 60
    assert named - every_test() == set()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.number)
def test_each_report_has_its_source_and_an_answer(row: Row) -> None:
    assert re.search(r"[\w/.-]+#\d+", row.reports)
    words = re.sub(r"`test_\w+`|[@:,]", "", row.here).strip()
    assert words
    assert names_of_tests(row) or len(words) > SENTENCE
