"""Lay out this checkout's actions as act's --local-repository wants a repository.

act copies the whole folder it is given for each step, so it gets one without `.git` and `.cache`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sandbox.act.rc import ROOT, local_repositories


def our_repository(root: Path = ROOT) -> str:
    """`owner/name@ref` under which the examples name this project's actions."""
    (name,) = [name for name in local_repositories(root) if name.startswith("runner-fleet/")]
    return name


def parts(root: Path = ROOT) -> list[Path]:
    """The folders an action needs: each one with an action.yml, and `shared`."""
    return [*sorted(file.parent for file in root.glob("*/action.yml")), root / "shared"]


def copy_actions(target: Path, root: Path = ROOT) -> Path:
    """A copy, as GitHub would download a tag: what Python compiles stays out of the checkout."""
    for part in parts(root):
        if part.is_dir():
            shutil.copytree(part, target / part.name, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def link_actions(target: Path, root: Path = ROOT) -> Path:
    """Links to the checkout itself, for act by hand: an edit counts at once."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for part in parts(root):
        (target / part.name).symlink_to(part)
    return target
