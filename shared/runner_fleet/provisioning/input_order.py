"""Problems in the order in which action.yml declares the inputs that they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[3]  # where each action has its directory
T = TypeVar("T")


def in_order(problems: Iterable[T], action: str, line: Callable[[T], str] = str) -> list[T]:
    """Sorted by the input that each `line` begins with; those that name none come last."""
    found = list(problems)
    names = declared(action) if found else []

    def rank(problem: T) -> int:
        named = re.match(r"\w*", line(problem))
        return names.index(named[0]) if named and named[0] in names else len(names)

    return sorted(found, key=rank)


def declared(action: str) -> list[str]:
    """The inputs of an action, in order; read only when something is wrong."""
    text = (ROOT / action / "action.yml").read_text(encoding="utf-8")
    inputs = text.partition("\ninputs:\n")[2].partition("\noutputs:\n")[0]
    return re.findall(r"^  (\w+):$", inputs, re.MULTILINE)
