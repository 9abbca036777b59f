"""Look at the consoles of lost instances while they exist, and say why they were lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from runner_fleet.ec2 import Ec2
from runner_fleet.errors import CloudError
from runner_fleet.masking import plain
from runner_fleet.provisioning.diagnosis import diagnose, ended_by_ec2, is_whole
from runner_fleet.provisioning.loss import Lost, RunnerLostError
from runner_fleet.provisioning.progress import BOOTING, LAUNCHED, ONLINE, REGISTERED

EXAMINED = 3
"""Consoles that are read, of all lost instances: they tell the same, and siblings cost money."""

PAUSES = (0.0, 2.0, 4.0)
"""Seconds before each look at the console of an instance that powered itself off: EC2 posts it
some seconds after the end (EC2 user guide, instance console output)."""

LINES, WIDTH = 30, 200
"""The end of a console as it is shown: lines, and characters of each."""


@dataclass(frozen=True)
class Examination:
    """What it takes. `hide` takes secrets out of a text, `show` gets a title and lines."""

    ec2: Ec2
    hide: Callable[[str], str]
    show: Callable[[str, Sequence[str]], None]
    sleep: Callable[[float], None]

    def explain(self, error: RunnerLostError) -> RunnerLostError:
        """The same failure with what the consoles and EC2 say about it."""
        order = (BOOTING, REGISTERED, LAUNCHED, ONLINE)
        lost = sorted(error.lost, key=lambda item: order.index(item.phase))
        examined = [self._examine(item) for item in lost[:EXAMINED]]
        others = [
            replace(item, why=ended_by_ec2(item.instance.state_reason)) for item in lost[EXAMINED:]
        ]
        return RunnerLostError([*examined, *others], error.late, error.trouble)

    def _examine(self, item: Lost) -> Lost:
        instance = item.instance
        try:
            lines = [] if item.phase == LAUNCHED and not instance.gone else self._console(item)
        except CloudError as error:
            return replace(
                item,
                why=ended_by_ec2(instance.state_reason),
                hint=f"Its console cannot be read, which would say why: {error}",
            )
        if lines:
            title = f"Console of {item.label} ({instance.id}), the last lines"
            self.show(title, tail(lines))
        console = "\n".join(lines)
        why = diagnose(console, instance.state, instance.state_reason, item.phase)
        return replace(item, why=why)

    def _console(self, item: Lost) -> list[str]:
        """The whole console, fit to be shown."""
        instance = item.instance
        posted_late = instance.gone and ended_by_ec2(instance.state_reason) is None
        text = ""
        for pause in PAUSES if posted_late else PAUSES[:1]:
            if pause:
                self.sleep(pause)
            text = self.ec2.console(instance.id)
            if is_whole(text):
                break
        return [line.rstrip() for line in self.hide(plain(text)).split("\n") if line.strip()]


def tail(lines: Sequence[str]) -> list[str]:
    """The end of a console, bounded."""
    return [line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in lines[-LINES:]]
