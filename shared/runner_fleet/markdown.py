"""Pieces of Markdown for the job summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Text of others, also inside a table: neither HTML nor Markdown."""
    return re.sub(r"([\\`*_|<>\[\]~])", r"\\\1", " ".join(text.split()))


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {cell(line)}" for line in lines)


def paragraphs(*texts: str) -> str:
    """Those that are not empty."""
    return "\n\n".join(text.strip() for text in texts if text.strip())


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
