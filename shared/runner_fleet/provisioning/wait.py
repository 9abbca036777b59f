"""Wait until every instance of a fleet is an online runner."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Instance
from runner_fleet.errors import CloudError, GitHubError, RateLimitError
from runner_fleet.github import GitHub, Runner
from runner_fleet.provisioning import pace
from runner_fleet.provisioning.loss import Lost, RunnerLostError
from runner_fleet.provisioning.progress import LAUNCHED, ONLINE, Progress, phases

QUIET = 30.0
"""Seconds without news after which we say what is awaited: people look before they read."""


def wait_until_online(
    launched: Sequence[Instance],
    labels: Mapping[str, str],
    ec2: Ec2,
    github: GitHub,
    *,
    timeout: float,
    say: Callable[[str], None],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    now: Callable[[], float] = time.time,
) -> Progress:
    """Look at both services until all runners are online. `labels`: instance id to label.

    A look is one DescribeInstances and, from the time a runner can be registered, one runner
    listing, whatever the number of instances; `pace` says when. `clock` is monotonic, `now`
    seconds since the epoch.

    Raises `RunnerLostError` when an instance ends, or after `timeout` seconds.
    """
    progress = Progress({instance.id: instance for instance in launched}, labels)
    return _Wait(progress, ec2, github, timeout, say, clock, sleep, now).run()


@dataclass
class _Wait:
    progress: Progress
    ec2: Ec2
    github: GitHub
    timeout: float
    say: Callable[[str], None]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    now: Callable[[], float]
    runners: list[Runner] = field(default_factory=list)
    listed: float | None = None  # when, in seconds since the launch
    told: float = 0.0
    stretched: bool = False
    barred: float = 0.0  # until when GitHub wants no listing, in seconds since the launch

    def run(self) -> Progress:
        began = self.clock()
        self._advance(dict.fromkeys(self.progress.labels, LAUNCHED), 0.0)
        while True:
            self._look(began)
            elapsed = self.clock() - began
            if self.progress.complete:
                return self.progress
            if elapsed >= self.timeout:
                raise self._too_late()
            if elapsed - self.told >= QUIET:
                self._tell(self.progress.awaited(elapsed), elapsed)
            self.sleep(self._pause(elapsed))

    def _look(self, began: float) -> None:
        """Refresh what is known; a bad moment of a service is only noted."""
        progress, asked = self.progress, self.clock() - began
        try:
            progress.instances |= self.ec2.instances(list(progress.labels), hasty=True)
            lost = [key for key, item in progress.instances.items() if item.gone]
            if lost:
                raise RunnerLostError([self._lost(key) for key in lost])
            self._advance(self._phases(), asked)  # a slow answer is no reason to wait longer
            elapsed = self.clock() - began
            if elapsed >= min(self._next_listing(elapsed), self.timeout):
                self.runners, self.listed = self.github.runners(), elapsed
                self._advance(self._phases(), self.clock() - began)
        except (CloudError, GitHubError) as error:
            if not error.transient:
                raise
            if isinstance(error, RateLimitError):
                self.barred = self.clock() - began + error.seconds
            progress.trouble = str(error)
            self._tell(f"Going on in spite of: {error}", self.clock() - began)

    def _pause(self, elapsed: float) -> float:
        """Seconds of sleep: to the next look, or to an earlier time at which a listing is due."""
        pause = pace.pause(self.progress, elapsed)
        if 0 < self._next_listing(elapsed) - elapsed < pause:
            pause = self._next_listing(elapsed) - elapsed
        return min(pause, max(0.1, self.timeout - elapsed))

    def _next_listing(self, elapsed: float) -> float:
        """When the next listing may be, in seconds since the launch: not before an instance can
        have booted, nor before the token's budget bears it."""
        boots = pace.boots_until(self.progress)
        if boots is None:
            return self.timeout + elapsed
        if self.listed is None:
            return max(boots, self.barred)
        pages = pace.pages(len(self.runners))
        left = self.timeout - elapsed
        shortest = pace.shortest_listing_pause(self.github.budget, pages, left, self.now())
        if shortest > pace.LONGEST_PAUSE and not self.stretched:
            self.stretched = True
            self._tell(
                f"Listing the runners only every {shortest:.0f} s: GitHub's token has few calls "
                "left in this hour",
                elapsed,
            )
        return max(self.listed + shortest, self.barred)

    def _phases(self) -> dict[str, str]:
        return phases(self.progress.instances, self.progress.labels, self.runners)

    def _advance(self, seen: Mapping[str, str], elapsed: float) -> None:
        for key in self.progress.advance(seen, elapsed):
            self._tell(self.progress.line(key, elapsed), elapsed)

    def _tell(self, line: str, elapsed: float) -> None:
        self.told = elapsed
        self.say(line)

    def _lost(self, key: str) -> Lost:
        progress = self.progress
        instance, phase = progress.instances[key], progress.phase[key]
        if instance.gone and (key, ONLINE) in progress.reached:
            phase = ONLINE  # its registration may have gone before it
        return Lost(instance, progress.labels[key], phase)

    def _too_late(self) -> RunnerLostError:
        lost = [self._lost(key) for key, phase in self.progress.phase.items() if phase != ONLINE]
        late = (
            f"gh_timeout: after {self.timeout:.0f} seconds {len(lost)} of "
            f"{len(self.progress.phase)} runners are not online"
        )
        return RunnerLostError(lost, late, self.progress.trouble)
