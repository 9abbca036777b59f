"""The script an instance boots with."""

from __future__ import annotations

import subprocess

import pytest
from runner_fleet.errors import InputError
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.identity import Caller, Fleet
from runner_fleet.provisioning.user_data import Boot, user_data

TOKEN = "AABBCCDDEEFFGGHHIIJJKKLLMMNNO"
FLEET = Fleet(
    "77-1-start-x",
    "octo-org/gpu-tests",
    Caller("octo-org/gpu-tests", "77", "1", "start"),
    ("runner-aaaaaaa1", "runner-aaaaaaa2"),
    "runner-aaaaaaa3",
)
ARCHIVES = (
    RunnerArchive("x64", "https://example.com/x64.tar.gz", "1" * 64),
    RunnerArchive("arm64", "https://example.com/arm64.tar.gz", "2" * 64),
)


def script(**values: object) -> str:
    boot = Boot(url="https://github.com/octo-org/gpu-tests", archives=ARCHIVES, **values)  # type: ignore[arg-type]
    return user_data(boot, FLEET, TOKEN)


def values_of(text: str) -> dict[str, str]:
    """What bash makes of the header."""
    header = "\n".join(line for line in text.partition("\nset -euo")[0].splitlines())
    names = [
        line.split()[1].partition("=")[0] for line in header.splitlines() if "readonly " in line
    ]
    show = "\n".join(f'printf "%s\\0" "${name}"' for name in names)
    done = subprocess.run(["bash", "-c", f"{header}\n{show}"], capture_output=True, check=True)
    return dict(zip(names, done.stdout.decode().split("\0"), strict=False))


def test_it_is_a_bash_script_that_carries_what_the_instance_needs() -> None:
    text = script(extra_labels=("gpu", "big box"), home="/home/ubuntu", max_lifetime=90)
    assert text.startswith("#!/bin/bash\nreadonly FLEET_URL=")
    assert values_of(text) == {
        "FLEET_URL": "https://github.com/octo-org/gpu-tests",
        "FLEET_TOKEN": TOKEN,
        "FLEET_JIT_CONFIG": "",
        "FLEET_LABELS": "runner-aaaaaaa1 runner-aaaaaaa2",
        "FLEET_COMMON_LABELS": "runner-aaaaaaa3,gpu,big box",
        "FLEET_RUNNER_GROUP": "",
        "FLEET_ARCHIVE_X64": f"https://example.com/x64.tar.gz {'1' * 64}",
        "FLEET_ARCHIVE_ARM64": f"https://example.com/arm64.tar.gz {'2' * 64}",
        "FLEET_HOME": "/home/ubuntu",
        "FLEET_MAX_LIFETIME": "90",
        "FLEET_PRE_SCRIPT": "",
    }


def test_a_pre_runner_script_arrives_unchanged_whatever_it_holds() -> None:
    evil = 'echo "$HOME" `id` $(id) \'single\' \\ \n  indented\n""\' EOF\n!!'
    boot = Boot(url="u", archives=ARCHIVES, pre_script=evil)
    header = user_data(boot, FLEET, TOKEN).partition("\nset -euo")[0]
    done = subprocess.run(
        ["bash", "-c", f'{header}\nprintf %s "$FLEET_PRE_SCRIPT"'], capture_output=True, check=True
    )
    assert done.stdout.decode() == evil


def test_more_than_ec2_takes_is_refused_with_the_bytes_to_spare() -> None:
    with pytest.raises(InputError) as caught:
        script(pre_script="#" * 16384)
    (line,) = caught.value.lines
    assert line.startswith("the user data is ")
    assert "EC2 takes 16384" in line


def test_a_hundred_labels_fit() -> None:
    labels = tuple(f"runner-{number:08}" for number in range(100))
    fleet = Fleet("77-1-start-x", "o/r", FLEET.caller, labels, "runner-shared00")
    assert len(user_data(Boot(url="u", archives=ARCHIVES), fleet, TOKEN).encode()) < 10_000
