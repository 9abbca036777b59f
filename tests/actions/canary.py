"""Secrets that a run was given, and every place where they must not show.

Each run of an action is looked through (`Running.result`), whatever its test is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandbox.world import World

CANARY = re.compile(r"canary-[a-z0-9-]+")
"""What a test may plant in any value: a word that is nowhere else."""

_LONG_LIVED = re.compile(
    r"GH_PAT|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|.*PRIVATE_KEY"
)
_PASSWORD = re.compile(r"\w://[^/@\s:]*:([^/@\s]+)@")
_SHOWN = "FLEET_AWS_TAGS"  # tags are made to be seen
_SHORTEST = 8  # characters: what is shorter may stand in any text
_MASKS = re.compile(r"^::add-mask::.*$", re.MULTILINE)


@dataclass(frozen=True)
class Canaries:
    """The secrets of one run. The long-lived ones must not even reach a machine."""

    long_lived: frozenset[str]
    others: frozenset[str]

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Canaries:
        """Those in a step's environment: credentials, passwords in URLs, words that begin so."""
        keys = {name: text for name, text in environment.items() if _LONG_LIVED.fullmatch(name)}
        rest = " ".join(text for name, text in environment.items() if name != _SHOWN)
        return cls(_worth(keys.values()), _worth([*_PASSWORD.findall(rest), *CANARY.findall(rest)]))

    def found_in(self, text: str) -> bool:
        return any(secret in text for secret in self.long_lived | self.others)

    def leaks(self, world: World, said: Mapping[str, str]) -> list[str]:
        """The places that show one: of what an action said, and of what became of it in EC2."""
        everything = Canaries(self.long_lived, self.others | _worth(world.github.issued))
        masked = {place: _MASKS.sub("", text) for place, text in said.items()}
        for instance in world.ec2.instances():
            masked[f"tags of {instance.id}"] = str(instance.tags)
            masked[f"console of {instance.id}"] = world.ec2.console(instance.id)
        found = [place for place, text in masked.items() if everything.found_in(text)]
        machines = Canaries(self.long_lived, frozenset())
        return found + [
            f"user data of {key}"
            for key, script in world.ec2.user_data.items()
            if machines.found_in(script)
        ]


def _worth(texts: Iterable[str]) -> frozenset[str]:
    """The lines that are long enough to be told from innocent text."""
    return frozenset(
        line.strip()
        for text in texts
        for line in text.splitlines()
        if len(line.strip()) >= _SHORTEST and not line.startswith("-----")
    )
