"""The script an instance boots with."""

from __future__ import annotations

import email
import gzip
import re
import subprocess
from typing import Any

import pytest
from runner_fleet.errors import InputError
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.user_data import Boot, user_data

from tests.noise import noise
from tests.runner_fleet.provisioning.fleet import FLEET, TOKEN

ARCHIVES = (
    RunnerArchive("x64", "https://example.com/linux-x64-2.335.1.tar.gz", "1" * 64),
    RunnerArchive("arm64", "https://example.com/linux-arm64-2.335.1.tar.gz", "2" * 64),
)


def data(**values: Any) -> bytes:
    boot = Boot(url="https://github.com/octo-org/gpu-tests", archives=ARCHIVES, **values)
    return user_data(boot, FLEET, TOKEN)


def script(**values: Any) -> str:
    return data(**values).decode()


def values_of(text: str) -> dict[str, str]:
    """What bash makes of the header."""
    header = text.partition("\nset -E")[0]
    names = [
        line.split()[1].partition("=")[0]
        for line in header.splitlines()
        if line.startswith("readonly ")
    ]
    show = "\n".join(f'printf "%s\\0" "${name}"' for name in names)
    done = subprocess.run(["bash", "-c", f"{header}\n{show}"], capture_output=True, check=True)
    return dict(zip(names, done.stdout.decode().split("\0"), strict=False))


def test_it_is_a_bash_script_that_carries_what_the_instance_needs() -> None:
    text = script(
        extra_labels=("gpu", "big box"),
        home="/home/ubuntu",
        max_lifetime=90,
        idle_timeout=7,
        run_as_root=True,
        runner_directory="/opt/actions-runner",
        proxy=(("https_proxy", "http://proxy:3128"), ("no_proxy", "169.254.169.254")),
        market="spot",
        remove_token="REMOVE",
    )
    assert text.startswith("#!/bin/bash\nreadonly FLEET_URL=")
    assert values_of(text) == {
        "FLEET_URL": "https://github.com/octo-org/gpu-tests",
        "FLEET_TOKEN": TOKEN,
        "FLEET_JIT_CONFIG": "",
        "FLEET_REMOVE_TOKEN": "REMOVE",
        "FLEET_LABELS": "runner-aaaaaaa1 runner-aaaaaaa2",
        "FLEET_COMMON_LABELS": "runner-aaaaaaa3,gpu,big box",
        "FLEET_RUNNER_GROUP": "",
        "FLEET_ARCHIVE_X64": f"https://example.com/linux-x64-2.335.1.tar.gz {'1' * 64}",
        "FLEET_ARCHIVE_ARM64": f"https://example.com/linux-arm64-2.335.1.tar.gz {'2' * 64}",
        "FLEET_OFFERED_VERSION": "2.335.1",
        "FLEET_RUNNER_DIRECTORY": "/opt/actions-runner",
        "FLEET_HOME": "/home/ubuntu",
        "FLEET_RUN_AS_ROOT": "true",
        "FLEET_PROXY": "https_proxy=http://proxy:3128\nno_proxy=169.254.169.254",
        "FLEET_MARKET": "spot",
        "FLEET_IDLE_TIMEOUT": "7",
        "FLEET_MAX_LIFETIME": "90",
        "FLEET_PRE_SCRIPT": "",
    }


def test_a_pre_runner_script_arrives_unchanged_whatever_it_holds() -> None:
    evil = 'echo "$HOME" `id` $(id) \'single\' \\ \n  indented\n""\' EOF\n!!'
    header = script(pre_script=evil).partition("\nset -E")[0]
    done = subprocess.run(
        ["bash", "-c", f'{header}\nprintf %s "$FLEET_PRE_SCRIPT"'], capture_output=True, check=True
    )
    assert done.stdout.decode() == evil


def test_what_fits_is_not_compressed() -> None:
    assert script().startswith("#!/bin/bash\n")


def test_what_fits_only_compressed_is_compressed_to_the_same_bytes_each_time() -> None:
    packed = data(pre_script="#" * 16384)

    assert len(packed) < 16384
    assert gzip.decompress(packed).startswith(b"#!/bin/bash\n")
    assert packed[4:8] == b"\0\0\0\0"  # no time of day
    assert data(pre_script="#" * 16384) == packed


def test_more_than_ec2_takes_is_refused_with_the_bytes_to_spare() -> None:
    sizes = {}
    for size in (20_000, 20_100):
        with pytest.raises(InputError) as caught:
            data(pre_script=noise(size))
        (line,) = caught.value.lines
        found = re.fullmatch(
            r"the user data is (\d+) bytes, (\d+) as it is sent, and EC2 takes 16384: shorten "
            r"pre_runner_script or aws_user_data_extra by (\d+) bytes, .*",
            line,
        )
        assert found, line
        assert int(found[2]) - int(found[3]) == 16384
        sizes[size] = int(found[1])
    assert sizes[20_100] - sizes[20_000] == 100


def test_two_hundred_labels_fit() -> None:
    labels = tuple(f"runner-{number:08}" for number in range(200))
    fleet = Fleet("77-1-start-x", "o/r", FLEET.caller, labels, "runner-shared00")
    assert len(user_data(Boot(url="u", archives=ARCHIVES), fleet, TOKEN)) < 10_000


def test_a_hundred_labels_leave_room_for_a_script() -> None:
    labels = tuple(f"runner-{number:08}" for number in range(100))
    fleet = Fleet("77-1-start-x", "o/r", FLEET.caller, labels, "runner-shared00")
    boot = Boot(url="u", archives=ARCHIVES, pre_script=noise(8_000))
    assert len(user_data(boot, fleet, TOKEN)) < 16_384


def test_an_instance_gets_neither_our_comments_nor_what_is_sourced_by_name() -> None:
    lines = script().splitlines()[1:]

    assert [line for line in lines if line.lstrip().startswith("#") or not line] == []
    assert [line for line in lines if "BASH_SOURCE" in line] == []


def parts(text: bytes) -> list[tuple[str, str | None, str]]:
    """As cloud-init reads them."""
    message = email.message_from_string(text.decode())
    return [
        (
            part.get_content_type(),
            part.get_filename(),
            part.get_payload(decode=True).decode(),  # type: ignore[union-attr]
        )
        for part in message.walk()
        if not part.is_multipart()
    ]


@pytest.mark.parametrize(
    "extra",
    ["#cloud-config\nruncmd:\n- From here: \u00e9\n", "#!/bin/sh\nFrom the start\n.\n--x--\n"],
)
def test_a_part_of_the_user_s_own_comes_along_unchanged(extra: str) -> None:
    plain = gzip.decompress(data(extra=extra)) if data(extra=extra)[0] == 31 else data(extra=extra)

    first, second = parts(plain)
    assert first == ("text/plain", None, extra)
    assert second[:2] == ("text/x-shellscript", "runner-fleet")
    assert second[2] == script()


def test_our_script_comes_after_all_that_cloud_init_runs_for_the_user() -> None:
    assert sorted(["runner-fleet", "runcmd", "part-001"])[-1] == "runner-fleet"


def test_the_same_launch_has_the_same_user_data() -> None:
    assert data(extra="#!/bin/sh\n") == data(extra="#!/bin/sh\n")


def test_no_secret_shows_in_what_is_to_be_booted() -> None:
    boot = Boot(url="u", archives=(), jit_config="JIT", remove_token="REMOVE", pre_script="SCRIPT")
    assert not {"JIT", "REMOVE", "SCRIPT"} & set(re.findall(r"[A-Z]+", repr(boot)))
