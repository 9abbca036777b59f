"""Every way the boot script can fail: one line on the console, with a code and no secret."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tests.actions.boot_host import SLEEP, TOKEN, Host
from tests.actions.harness import until

ICU = (
    "Libicu's dependencies is missing for Dotnet Core 6.0\n"
    "Execute sudo ./bin/installdependencies.sh to install any missing Dotnet Core 6.0 dependencies."
)
LOCK = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (apt-get)"
NOT_FOUND = (
    "Http response code: NotFound from 'POST https://api.github.com/actions/runner-registration'\n"
    "Response status code does not indicate success: 404 (Not Found)."
)
EXISTS = "A runner exists with the same name runner-aaaaaaa1-i-0123456789abcdef0."
GONE = "Failed to create a session. The runner registration has been deleted from the server"
DEPRECATED = "An error occurred: Runner version v2.300.0 is deprecated and cannot receive messages."


def failing(text: str) -> str:
    return f"cat <<'TEXT'\n{text}\nTEXT\nexit 1"


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (ICU, "[missing-library]: the image lacks a library that the runner needs"),
        (EXISTS, "[name-taken]: there is a runner of this name already"),
        (DEPRECATED, "[runner-too-old]: GitHub refuses this version of the runner as too old"),
        ("No space left on device : '/home/ubuntu'", "[disk-full]: no space is left on the disk"),
        ("cannot execute binary file: Exec format error", "[no-runner-for-architecture]: "),
    ],
)
def test_a_registration_that_can_never_succeed_ends_at_once(
    host: Host, output: str, error: str
) -> None:
    host.runner(config=failing(output))

    host.run()

    (line,) = host.errors()
    assert line.startswith(error)
    assert len(host.calls("config.sh")) == 1
    assert host.calls()[-1] == "shutdown -h now"


@pytest.mark.parametrize(
    ("output", "error", "attempts"),
    [
        (NOT_FOUND, "[token-rejected]: GitHub does not accept the token", 3),
        ("Name or service not known (api.github.com:443)", "[no-egress]: the runner cannot", 8),
        ("something nobody has seen before", "[registration-failed]: the runner cannot", 8),
    ],
)
def test_a_registration_is_tried_again_before_it_is_given_up(
    host: Host, output: str, error: str, attempts: int
) -> None:
    host.runner(config=failing(output))
    host.hurry(16)

    host.run()

    (line,) = host.errors()
    assert line.startswith(error)
    assert len(host.calls("config.sh")) == attempts


def test_a_registration_that_failed_half_way_is_made_anew(host: Host) -> None:
    """config.sh refuses when it finds what an earlier try has left."""
    host.hurry(1)
    host.runner(
        """[[ ! -e .runner ]] || { echo 'it is already configured'; exit 1; }
        touch .runner
        [[ -e ../failed ]] || { touch ../failed; echo 'Http response code: BadGateway'; exit 1; }"""
    )
    assert "runner-fleet: runner registered" in host.run()
    assert len(host.calls("config.sh")) == 2


def test_no_token_is_shown_whatever_the_runner_says(host: Host) -> None:
    host.runner(config='echo "refused: $*"; exit 1')
    host.command("sleep")
    process = host.start()
    until(lambda: "refused: " in host.console, "the answer")
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=60)

    assert "--token ***" in host.console
    assert TOKEN not in host.console


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (5, "the name of the proxy does not resolve"),
        (6, "DNS does not resolve the name"),
        (7, "no connection"),
        (28, "no answer in time"),
        (60, "TLS failed"),
        (56, "curl ended with status 56"),
    ],
)
def test_a_download_that_fails_is_no_way_out(host: Host, status: int, why: str) -> None:
    host.metadata(download=f"exit {status}")
    host.hurry(60)

    host.run()

    (line,) = host.errors()
    assert line == (
        f"[no-egress]: cannot download the runner ({why}): the instance needs a way out to the "
        "internet (NAT, a public IP or a proxy)"
    )


def test_a_version_that_does_not_exist_is_not_asked_for_again(host: Host) -> None:
    host.metadata(download="printf 404; exit 22")

    host.run()

    (line,) = host.errors()
    assert line.startswith("[no-runner]: there is no runner at https://github.com/actions/runner/")
    assert len(host.calls("curl")) == 4


def test_an_archive_with_another_digest_is_said_to_have_one(host: Host) -> None:
    host.metadata(download='while [[ $1 != -o ]]; do shift; done; echo no runner >"$2"')

    host.run()

    assert host.errors() == ["[bad-digest]: the runner archive has a wrong digest"]
    assert len([call for call in host.calls("curl") if "github.com" in call]) == 2
    assert host.calls("config.sh") == []


def test_an_architecture_without_a_runner_is_said(host: Host) -> None:
    host.command("uname", "echo riscv64")

    host.run()

    assert host.errors() == [
        "[no-runner-for-architecture]: GitHub offers no runner for this architecture (riscv64)"
    ]


def test_a_full_disk_is_the_cause_of_whatever_failed(host: Host) -> None:
    host.command("df", "echo Filesystem; echo /dev/root 100 100 0 100% /")
    host.command("tar", "exit 2")

    host.run()

    (line,) = host.errors()
    assert line.startswith("[disk-full]: no space is left on the disk: the boot script ended")


def test_a_script_that_fails_with_space_left_is_not_taken_for_a_full_disk(host: Host) -> None:
    host.command("df", "echo Filesystem; echo /dev/root 100 50 99999 50% /")

    host.run(pre_script="exit 3")

    assert host.errors() == ["[pre-script-failed]: pre_runner_script ended with status 3"]


def test_whatever_fails_unexpectedly_is_named_with_its_line(host: Host) -> None:
    host.command("tar", "exit 2")

    host.run()

    (line,) = host.errors()
    begin, _, command = line.rpartition(": ")
    assert begin.startswith("[user-data-failed]: the boot script ended unexpectedly at line ")
    number = int(begin.rpartition(" ")[2])
    assert command == 'tar -xzf "$file" -C "$directory"'
    assert command in host.script.splitlines()[number - 1]


@pytest.mark.parametrize(
    ("boot", "error"),
    [
        ({"home": "/home/x"}, "[no-home]: home directory /home/x does not exist on this image"),
        ({"home": "/root"}, "[no-user]: home directory /root belongs to root"),
        ({"runner_directory": "/opt/runner"}, "[no-runner]: runner_directory /opt/runner holds no"),
    ],
)
def test_what_the_image_lacks_is_said(host: Host, boot: dict[str, Any], error: str) -> None:
    host.run(**boot)

    (line,) = host.errors()
    assert line.startswith(error)


def test_an_image_without_a_first_user_is_said(host: Host) -> None:
    host.command("getent", "exit 2")

    host.run(home="")

    (line,) = host.errors()
    assert line.startswith("[no-user]: this image has no user with id 1000")


def test_a_metadata_service_that_does_not_answer_is_said(host: Host) -> None:
    host.command("curl", "exit 28")
    host.hurry(16)

    host.run()

    assert host.errors() == ["[no-metadata]: the instance metadata service does not answer"]


def test_told_to_end_before_it_registers_it_says_so(host: Host) -> None:
    process = host.start(pre_script=f"echo waiting; {SLEEP} 20")
    until(lambda: "waiting\n" in host.console, "the script")

    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=60)

    (line,) = host.errors()
    assert line.startswith("[shutting-down]: ")


def test_a_package_manager_that_keeps_its_lock_is_the_cause(host: Host) -> None:
    host.command("ldconfig")
    host.runner(config=failing(ICU), files={"bin/installdependencies.sh": failing(LOCK)})
    host.command("dnf", "exit 127")
    host.hurry(60)

    host.run()

    (line,) = host.errors()
    assert line.startswith("[package-lock]: another package manager kept its lock")
    assert len(host.calls("bin/installdependencies.sh")) == 6


def test_apt_waits_for_the_lock_instead_of_failing(host: Host) -> None:
    host.command("ldconfig")
    host.runner(files={"bin/installdependencies.sh": 'cat "$APT_CONFIG" >"$0.seen"; exit 1'})
    host.command("dnf", "echo it works")

    assert "installing the runner's dependencies" in host.run()
    assert host.errors() == []
    (seen,) = host.root.rglob("*.seen")
    assert seen.read_text() == 'DPkg::Lock::Timeout "120";\n'


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (f"{failing(DEPRECATED)}".replace("exit 1", "exit 7"), "[runner-too-old]: "),
        (
            f"mkdir _diag; echo 'WRITE ERROR: {DEPRECATED}' >_diag/Runner_1.log",
            "[runner-too-old]: ",
        ),
        ("mkdir _diag; echo no >_diag/Runner_1.log", "[registration-failed]: "),
        (f"mkdir _diag; echo '{GONE}' >_diag/Runner_1.log", "[registration-removed]: "),
    ],
)
def test_a_runner_that_ends_before_it_listens_has_a_cause(host: Host, run: str, error: str) -> None:
    host.runner(run=run)

    host.run()

    (line,) = host.errors()
    assert line.startswith(error)
