"""Which version of the runner instances install, when it is not to be the newest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from runner_fleet.github import RunnerArchive

PIN = r"(?P<version>[0-9]{1,4}\.[0-9]{1,6}\.[0-9]{1,6})(@sha256:(?P<digest>[0-9a-f]{64}))?"
"""A version, and the digest of its archive for the instances' architecture."""

_VERSION = re.compile(r"-(\d+\.\d+\.\d+)\.(tar\.gz|zip)$")


@dataclass(frozen=True)
class Pin:
    """A version that was asked for; `version` is empty when it is the newest."""

    version: str = ""
    digest: str = ""

    @classmethod
    def parse(cls, text: str) -> Pin:
        match = re.fullmatch(PIN, text)
        return cls(match["version"], match["digest"] or "") if match else cls()

    def archives(self, offered: Iterable[RunnerArchive]) -> tuple[RunnerArchive, ...]:
        """Where this version is to be had.

        GitHub lists its newest runner only; the others are beside it, under the same name with
        another version (https://github.com/actions/runner/releases). Nobody tells their digests.
        """
        found = tuple(offered)
        newest = version_of(found)
        if not newest or not self.version:
            return found
        if newest == self.version:
            return tuple(replace(item, sha256=self.digest or item.sha256) for item in found)
        return tuple(
            replace(item, url=item.url.replace(newest, self.version), sha256=self.digest)
            for item in found
        )

    def warning(self, offered: Iterable[RunnerArchive]) -> str:
        """What is to be said about a version that is not the newest; else empty."""
        newest = version_of(offered)
        if not self.version or not newest or _numbers(self.version) >= _numbers(newest):
            return ""
        return (
            f"runner_version: {self.version} is older than {newest}, which GitHub offers. GitHub "
            "refuses a runner 30 days after the release of a newer one"
        )


def version_of(archives: Iterable[RunnerArchive]) -> str:
    """The version in the archives' names; empty when there is none."""
    matches = (_VERSION.search(item.url) for item in archives)
    return next((match[1] for match in matches if match), "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
