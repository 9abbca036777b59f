"""The boot script on a machine where parts fail that never fail in the sandbox."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from tests.actions.boot_host import SLEEP, Host
from tests.actions.harness import until


def full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("broken", [full, without_reader])
def test_it_powers_off_though_its_console_is_broken(host: Host, broken: Callable[[], int]) -> None:
    console = broken()
    host.run(home="/home/nobody-here", stdout=console)
    os.close(console)

    assert host.calls()[-1] == "shutdown -h now"


def test_a_broken_console_does_not_keep_it_from_registering(host: Host) -> None:
    console = without_reader()
    host.run(stdout=console)
    os.close(console)

    assert len(host.calls("config.sh")) == 1


def test_it_registers_for_one_job_under_a_name_that_no_other_instance_has(host: Host) -> None:
    host.run()

    (call,) = host.calls("config.sh")
    assert call == (
        "config.sh --unattended --ephemeral --replace --disableupdate --no-default-labels "
        "--url https://github.com/o/r --token AREGISTRATIONTOKEN "
        "--name runner-aaaaaaa1-i-0123456789abcdef0 --labels runner-aaaaaaa1"
    )


def test_the_runner_has_pipes_as_ever_though_the_console_is_guarded(host: Host) -> None:
    host.runner("yes | head -1; echo ${PIPESTATUS[0]}")

    assert "y\n141\n" in host.run()


def test_without_a_scheduled_shutdown_it_ends_itself_at_its_maximum_lifetime(host: Host) -> None:
    host.command("shutdown", "exit 1")
    host.command("sleep")  # at once
    host.command("getent", f"exec {SLEEP} 60")
    host.start(home="")

    until(lambda: host.calls("poweroff"), "the end, while the script is busy")

    assert host.calls("sleep") == ["sleep 5400"]


def test_a_reboot_ends_it(host: Host) -> None:
    host.run()
    before = len(host.calls())

    (script,) = (host.root / "var/lib/cloud/scripts/per-boot").iterdir()
    subprocess.run([script], env={"PATH": f"{host.bin}:/usr/bin:/bin"}, check=True)

    assert host.calls()[before:] == ["shutdown -h now"]


def test_a_home_that_is_a_link_belongs_to_whom_it_leads_to(host: Host) -> None:
    (host.root / "data/ubuntu").mkdir(parents=True)
    (host.root / "home/link").symlink_to("../data/ubuntu")
    (host.root / "run/owners").write_text(
        f"root {host.root}/home/link\nubuntu {host.root}/data/ubuntu\n"
    )

    console = host.run(home="/home/link")

    assert "belongs to root" not in console
    assert "runner registered" in console


def test_each_answer_of_the_metadata_service_is_asked_for_again(host: Host) -> None:
    once = host.root / "once"
    host.metadata(launch_index=f'[[ -e "{once}" ]] && echo 0 || {{ touch "{once}"; exit 22; }}')

    assert "runner registered" in host.run()


def test_nothing_is_waited_for_without_a_limit(host: Host) -> None:
    host.run()

    assert len(host.calls("curl")) == 4
    assert [call for call in host.calls("curl") if "--max-time" not in call] == []


def test_it_does_not_register_while_the_instance_shuts_down(host: Host) -> None:
    host.command("systemctl", "echo stopping; exit 1")

    console = host.run()

    assert host.calls("config.sh") == []
    assert "not registering: the instance is shutting down" in console


def test_told_to_end_it_does_not_try_to_register_again(host: Host) -> None:
    host.runner("exit 1")
    # As on a machine, a pause ends by itself: Bash may begin it after it got the signal.
    host.command("sleep", f"exec {SLEEP} 20")
    process = host.start()
    until(lambda: "trying again in 1 s: register" in host.console, "a failure")

    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=60)

    assert len(host.calls("config.sh")) == 1
    assert host.calls()[-1] == "shutdown -h now"
