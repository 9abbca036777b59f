"""The checkout's `.actrc`: the one place that names the labels and the repositories act knows."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from sandbox.plain_path import ROOT_VARIABLE

# The checkout this file belongs to, or the way there that act can go (see sandbox.plain_path).
ROOT = Path(os.environ.get(ROOT_VARIABLE) or Path(__file__).resolve().parents[3])

_LABEL = re.compile(r"(runner-[a-z0-9]{8})=-self-hosted")


def arguments(root: Path = ROOT) -> list[str]:
    """The options of `.actrc`, as act takes them from there."""
    options: list[str] = []
    for line in (root / ".actrc").read_text(encoding="utf-8").splitlines():
        options += shlex.split(line, comments=True)
    return options


def labels(root: Path = ROOT) -> list[str]:
    """The runner labels act is told of beforehand, in the file's order.

    act skips a job whose label it does not know, and exits 0; so the sandbox lets start-runner
    draw its labels from this list and from nowhere else.
    """
    return [match[1] for option in arguments(root) if (match := _LABEL.fullmatch(option))]


def local_repositories(root: Path = ROOT) -> dict[str, str]:
    """`owner/name@ref` of each repository that act takes from this machine, and its folder."""
    options = arguments(root)
    values = [options[i + 1] for i, option in enumerate(options) if option == "--local-repository"]
    return dict(value.split("=", 1) for value in values)
