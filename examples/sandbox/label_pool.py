"""The runner labels of a world: one empty file each; whoever unlinks one has drawn it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

VARIABLE = "RUNNER_FLEET_SANDBOX_LABELS"  # what start-runner finds the directory by
_DRAWS = b"start-runner"  # in the command line of the program that draws


class LabelPool:
    """The labels in `directory`, and which of those drawn nobody needs any more."""

    def __init__(self, directory: Path, labels: Iterable[str]) -> None:
        self.directory = directory
        self.labels = frozenset(labels)
        # For each drawn label: who was there when it was missed first and still is.
        self._holders: dict[str, set[int]] = {}
        self._used_once: set[str] = set()

    def fill(self) -> None:
        """Put every label in."""
        self.directory.mkdir(exist_ok=True)
        self._holders.clear()
        self._used_once.clear()
        for label in self.labels:
            (self.directory / label).touch()

    def recycle(self, used: Callable[[], set[str]]) -> None:
        """Put back what has been drawn and is needed no more.

        `used` says which labels runners and living instances have. A label that none of them has
        belongs to the start that drew it, for as long as that lives: its launch is to come.
        """
        drawn = self.labels - {path.name for path in self.directory.iterdir()}
        self._holders = {label: self._holders[label] for label in drawn & set(self._holders)}
        self._used_once &= drawn
        self._used_once |= drawn & used()
        if drawn <= self._used_once and drawn <= used():
            return
        starts = self._starts()
        for label in drawn:
            self._holders[label] = self._holders.get(label, starts) & starts
        # Once more: a start that has ended meanwhile may have launched before.
        for label in drawn - used():
            abandoned = self._can_see_starts() and not self._holders[label]
            if abandoned or label in self._used_once:
                self._holders.pop(label, None)
                self._used_once.discard(label)
                (self.directory / label).touch()

    @staticmethod
    def _can_see_starts() -> bool:
        return Path("/proc/self/environ").exists()

    def _starts(self) -> set[int]:
        """The processes that may be drawing from this pool, read from /proc."""
        wanted = f"{VARIABLE}={self.directory}\0".encode()
        found: set[int] = set()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                draws = _DRAWS in (entry / "cmdline").read_bytes()
                if draws and wanted in (entry / "environ").read_bytes():
                    found.add(int(entry.name))
            except OSError:  # it has ended, or is another user's
                continue
        return found - {os.getpid()}
