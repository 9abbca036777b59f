"""A fleet of two, and the token with which its runners register."""

from __future__ import annotations

from runner_fleet.provisioning.identity import Caller, Fleet

TOKEN = "AABBCCDDEEFFGGHHIIJJKKLLMMNNO"
FLEET = Fleet(
    "77-1-start-x",
    "octo-org/gpu-tests",
    Caller("octo-org/gpu-tests", "77", "1", "start"),
    ("runner-aaaaaaa1", "runner-aaaaaaa2"),
    "runner-aaaaaaa3",
)
