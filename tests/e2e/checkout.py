"""A checkout of its own for a test."""

from __future__ import annotations

import shutil
from pathlib import Path

from sandbox.act.rc import ROOT

PARTS = (".actrc", "examples", "shared", "start-runner", "stop-runner", "tests/fixtures")


def copy_checkout(place: Path) -> Path:
    """What the demo and the sandbox need of this checkout, copied to a new directory."""
    for part in PARTS:
        source, target = ROOT / part, place / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, target)
    return place
