"""How long the boot script serves: one job; none in time; until an interruption."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.boot_host import LISTEN, SLEEP, Host
from tests.actions.harness import until

IDLE = "runner-fleet: no job came within 7 minutes"
# As the runner does for a job, until it is over.
WORK = "echo working; : >_diag/Worker_20261001-120000-utc.log"


def test_without_a_job_the_instance_powers_off(host: Host) -> None:
    host.runner(run=LISTEN)
    host.sleep_only("420")

    console = host.run(idle_timeout=7)

    assert "listening\nExiting...\n" in console
    assert IDLE in console.splitlines()
    assert host.errors() == []
    assert host.calls()[-1] == "shutdown -h now"


@pytest.mark.parametrize(
    "job", [WORK, "echo '[INFO Terminal] WRITE LINE: Running job: test' >>_diag/Runner_1.log"]
)
def test_a_runner_that_has_a_job_is_left_alone(host: Host, job: str) -> None:
    host.runner(run=LISTEN.replace("touch ready", f"{job}; touch told ready; {SLEEP} 1; exit 0"))
    host.sleep_only("420 | 60")

    console = host.run(idle_timeout=7)

    assert "Exiting..." not in console
    assert IDLE not in console
    assert host.errors() == []


def test_a_job_that_comes_in_the_very_moment_is_served_to_its_end(host: Host) -> None:
    late = f"trap '{WORK}; {SLEEP} 1; echo done; exit 0' INT"
    host.runner(run=LISTEN.replace("trap 'echo Exiting...; touch told; exit 0' INT", late))
    host.sleep_only("420")

    console = host.run(idle_timeout=7)

    assert "working\ndone\n" in console
    assert IDLE not in console


def test_a_runner_that_does_not_listen_to_us_is_killed(host: Host) -> None:
    host.runner(run=LISTEN.replace("exit 0' INT", "' INT"))
    host.sleep_only("420 | 60")

    console = host.run(idle_timeout=7)

    assert IDLE in console.splitlines()
    assert host.calls()[-1] == "shutdown -h now"


def test_no_idle_timeout_means_none(host: Host) -> None:
    host.runner(run=LISTEN.replace("touch ready", "exit 0"))

    host.run(idle_timeout=0)

    assert [call for call in host.calls("sleep") if call == "sleep 0"] == []


def test_the_last_minute_of_the_lifetime_is_the_runner_s_to_end(host: Host) -> None:
    host.runner(run=LISTEN.replace("touch ready", f"{WORK}; touch ready"))
    # 90 minutes, less the last and what passed since the start
    host.sleep_only("5[0-3][0-9][0-9]")

    console = host.run()

    assert "runner-fleet: max_lifetime_minutes are over in a minute: stopping" in console
    assert "Exiting..." in console
    assert host.errors() == []


def noticed(host: Host, **boot: Any) -> str:
    """Start a spot instance, interrupt it when its runner listens; its console at the end."""
    host.sleep_only("5")
    process = host.start(market="spot", **boot)
    until(host.ready.exists, "the runner")
    host.interrupt('{"action": "terminate", "time": "2026-10-01T12:02:00Z"} 200')
    process.wait(timeout=60)
    return host.console


def test_a_spot_notice_is_told_and_ends_the_runner(host: Host) -> None:
    host.runner(run=LISTEN.replace("touch ready", f"{WORK}; touch ready"))

    console = noticed(host)

    line = "runner-fleet: spot interruption notice: terminate at 2026-10-01T12:02:00Z"
    assert line in console.splitlines()
    assert "Exiting..." in console
    assert host.calls()[-1] == "shutdown -h now"


def test_a_spot_notice_before_a_job_removes_the_registration(host: Host) -> None:
    host.runner(run=LISTEN)

    console = noticed(host, remove_token="AREMOVETOKEN")

    assert host.calls("config.sh")[1:] == ["config.sh remove --token AREMOVETOKEN"]
    assert "registration removed" in console
    assert "AREMOVETOKEN" not in console


@pytest.mark.parametrize("boot", [{}, {"jit_config": "eyJ9"}], ids=["token", "jit"])
def test_after_a_spot_notice_no_runner_registers(host: Host, boot: dict[str, Any]) -> None:
    """A job would be given to an instance that has two minutes left."""
    host.interrupt('{"action": "terminate", "time": "2026-10-01T12:00:00Z"} 200')
    console = host.run(market="spot", **boot)
    assert "runner-fleet: spot interruption notice: terminate at 2026-10-01T12:00:00Z" in console
    assert host.errors() == ["[shutting-down]: not registering: the spot instance is interrupted"]
    assert host.calls("config.sh") + host.calls("run.sh") == []


def test_a_runner_that_had_a_job_removes_itself(host: Host) -> None:
    host.runner(run=LISTEN.replace("touch ready", f"{WORK}; touch ready"))

    noticed(host, remove_token="AREMOVETOKEN")

    assert len(host.calls("config.sh")) == 1


def test_a_metadata_token_that_expired_is_renewed(host: Host) -> None:
    host.runner(run=LISTEN)
    host.interrupt("401 401")
    host.sleep_only("5")
    process = host.start(market="spot")

    def tokens() -> int:
        return len([call for call in host.calls("curl") if "api/token" in call])

    until(lambda: tokens() > 3, "new tokens")
    host.interrupt('{"action": "stop", "time": "2026-10-01T12:02:00Z"} 200')
    process.wait(timeout=60)

    assert "notice: stop at" in host.console


def test_only_spot_instances_look_for_a_notice(host: Host) -> None:
    host.sleep_only("5")
    host.runner(run=LISTEN.replace("echo listening", f"{SLEEP} 0.3; exit 0"))

    host.run(market="on-demand")

    assert [call for call in host.calls("curl") if "spot/instance-action" in call] == []


def test_a_just_in_time_runner_is_not_configured(host: Host) -> None:
    host.runner(run=LISTEN.replace("echo listening", f"{WORK}; exit 0"))

    console = host.run(jit_config="ENCODED")

    assert host.calls("config.sh") == []
    assert host.calls("run.sh") == ["run.sh --jitconfig ENCODED"]
    assert host.errors() == []
    assert "ENCODED" not in console


def test_a_just_in_time_registration_that_vanished_is_named(host: Host) -> None:
    """GitHub removes one that waited for too long, for its instance or for a job."""
    gone = "Failed to create a session. The runner registration has been deleted from the server"
    host.runner(run=f"mkdir -p _diag; echo '{gone}' >_diag/Runner_1.log; exit 1")

    host.run(jit_config="ENCODED")

    (line,) = host.errors()
    assert line.startswith("[registration-removed]: GitHub removed the registration: it was used")
    assert host.calls()[-1] == "shutdown -h now"
