"""The ways to fail. Each message is one line for the person who reads the job's log."""

from __future__ import annotations


class LaunchError(Exception):
    """Nothing more can be tried: the message says what is wrong and what to do about it."""


class BuilderMissingError(Exception):
    """This way to build is not there on this host; the message is its name."""


class BuilderFailedError(Exception):
    """This way to build is there and did not work; the next one may."""

    def __init__(self, builder: str, reason: str, *, network: bool = False) -> None:
        super().__init__(f"{builder}: {reason}")
        # The package index did not answer, or not as one.
        self.network = network
        # The builders after this one would ask the same index in the same way.
        self.final = False
