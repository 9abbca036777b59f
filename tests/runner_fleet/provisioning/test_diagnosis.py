"""What consoles mean: excerpts as machines, cloud-init and the runner write them."""

from __future__ import annotations

import pytest
from runner_fleet.provisioning.causes import CAUSES
from runner_fleet.provisioning.diagnosis import diagnose, is_whole
from runner_fleet.provisioning.guesses import GUESSES

POWERED_OFF = "Client.InstanceInitiatedShutdown: Instance initiated shutdown"
CLOUD_INIT = (
    "[   31.412] cloud-init[1203]: Cloud-init v. 24.1.3-0ubuntu1 running 'modules:final' at Tue, "
    "03 Jun 2025 09:14:02 +0000. Up 31.20 seconds.\n"
)
CRASHED = (
    "2025-06-03 09:14:40,118 - cc_scripts_user.py[WARNING]: Failed to run module scripts-user "
    "(scripts in /var/lib/cloud/instance/scripts)\n"
    "2025-06-03 09:14:40,120 - util.py[WARNING]: Running module scripts-user failed\n"
)
RETRY = "runner-fleet: trying again in 4 s: download\n"

# Of instances that powered themselves off.
DEAD = {
    "no-egress": "curl: (6) Could not resolve host: github.com\n" + RETRY,
    "no-egress by a timeout": (
        "curl: (28) Failed to connect to github.com port 443 after 10002 ms: Timeout was reached\n"
    ),
    "no-egress by an old curl": "curl: (28) Connection timed out after 10001 milliseconds\n",
    "no-egress by a package manager": (
        "Err:1 http://us-east-1.ec2.archive.ubuntu.com/ubuntu noble InRelease\n"
        "  Temporary failure resolving 'us-east-1.ec2.archive.ubuntu.com'\n"
        "Temporary failure in name resolution\n"
    ),
    "token-rejected": (
        "# Authentication\n\nHttp response code: NotFound from 'POST "
        "https://api.github.com/actions/runner-registration' (Request Id: 5351:12FEFB)\n"
        '{"message":"Not Found","documentation_url":"https://docs.github.com/rest"}\n'
        "Response status code does not indicate success: 404 (Not Found).\n"
    ),
    "runner-too-old": (
        "√ Connected to GitHub\n\nCurrent runner version: '2.310.0'\n"
        "2025-01-15 10:00:05Z: Listening for Jobs\n"
        "An error occured: Runner version v2.310.0 is deprecated and cannot receive messages.\n"
        "Runner listener exit with terminated error, stop the service, no retry needed.\n"
    ),
    "name-taken": "A runner exists with the same name\nFailed to replace the runner.\n",
    "name-taken by a session": (
        "√ Connected to GitHub\nA session for this runner already exists.\n"
        "Runner connect error: Error: Conflict. Retrying until reconnected.\n"
    ),
    "group-full": (
        '{"message":"Invalid Argument - Runner group 1 has reached max limit of 10000 runners."}\n'
        "runner-fleet: error [registration-failed]: the runner cannot register: its own words are "
        "above\n"
    ),
    "missing-library": (
        "Libicu's dependencies is missing for Dotnet Core 6.0\nExecute sudo "
        "./bin/installdependencies.sh to install any missing Dotnet Core 6.0 dependencies.\n"
    ),
    "package-lock": (
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1482 "
        "(unattended-upgr)\nE: Unable to acquire the dpkg frontend lock "
        "(/var/lib/dpkg/lock-frontend), is another process using it?\n"
    ),
    "wrong-architecture": "/home/ubuntu/actions-runner/bin/Runner.Listener: Exec format error\n",
    "disk-full": "tar: ./bin/System.Private.Xml.dll: Cannot write: No space left on device\n",
    "no-user": "Must not run with sudo\n",
    "kernel-panic": (
        "[    1.923] VFS: Unable to mount root fs on unknown-block(0,0)\n"
        "[    1.924] Kernel panic - not syncing: VFS: Unable to mount root fs\n"
    ),
    "out-of-memory": "[  71.2] Out of memory: Killed process 1711 (apt-get) total-vm:812340kB\n",
    "rebooted": "[  64.118] reboot: Restarting system\n[    0.000000] Linux version 6.8.0\n",
    "user-data-failed": "part-001: line 12: syntax error near unexpected token `fi'\n",
    "no-job": "runner-fleet: runner registered\nrunner-fleet: no job came within 10 minutes\n",
    "spot-interruption": (
        "runner-fleet: spot interruption notice: terminate at 2025-06-03T09:16:10Z\n"
    ),
}


@pytest.mark.parametrize("name", DEAD)
def test_what_others_print_is_understood(name: str) -> None:
    console = CLOUD_INIT + DEAD[name] + CRASHED + "runner-fleet: powering off (exit status 1)\n"
    cause = diagnose(console, "terminated", POWERED_OFF, "booting")
    assert cause is not None
    assert cause.code == name.partition(" ")[0]


# Of instances that EC2 ended: whatever their console says.
ENDED = {
    "Server.SpotInstanceTermination: Instance terminated by a spot interruption": (
        "spot-interruption"
    ),
    "Server.InsufficientInstanceCapacity: There was insufficient capacity": "capacity-reclaimed",
    "Server.InternalError: Internal error on launch": "host-failed",
    "Client.InternalError: Client error on launch": "volume-key",
    "Client.VolumeLimitExceeded: Volume limit exceeded": "volume-limit",
    "Client.InvalidSnapshot.NotFound: The snapshot does not exist": "snapshot-missing",
}


@pytest.mark.parametrize("reason", ENDED)
def test_what_ec2_did_goes_before_what_the_console_says(reason: str) -> None:
    console = CLOUD_INIT + "runner-fleet: error [shutting-down]: the instance is shutting down\n"
    cause = diagnose(console, "terminated", reason, "booting")
    assert cause is not None
    assert cause.code == ENDED[reason]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (POWERED_OFF, "powered-off"),
        ("Client.UserInitiatedShutdown: User initiated shutdown", "ended-by-somebody"),
    ],
)
def test_an_end_that_nothing_explains_says_who_asked_for_it(reason: str, code: str) -> None:
    cause = diagnose("", "terminated", reason, "booting")
    assert cause is not None
    assert cause.code == code


def test_an_instance_that_had_come_online_powered_off_after_its_job() -> None:
    cause = diagnose("runner-fleet: registered\n", "terminated", POWERED_OFF, "online")
    assert cause is not None
    assert cause.code == "served-early"
    idle = "runner-fleet: no job came within 5 minutes\n"
    cause = diagnose(idle, "terminated", POWERED_OFF, "online")
    assert cause is not None
    assert cause.code == "no-job"


def test_an_end_without_any_reason_has_no_cause() -> None:
    assert diagnose("", "terminated", "", "booting") is None


# Of instances that live, when the time is over.
LATE = {
    "not-started": ("launched", ""),
    "console-empty": ("booting", "  \n"),
    "no-cloud-init": ("booting", "Welcome to Flatcar Container Linux\nlocalhost login: "),
    "no-ec2launch": ("booting", "2025/10/15 08:00:12Z: Message: Windows is Ready to use\n"),
    "slow-boot": ("booting", CLOUD_INIT),
    "slow-download": (
        "booting",
        "runner-fleet: downloading https://github.com/actions/runner/releases/download/v2.tar.gz\n",
    ),
    "slow-packages": ("booting", "runner-fleet: installing the runner's dependencies\n"),
    "slow-pre-script": ("booting", RETRY + "runner-fleet: running pre_runner_script\ncompiling\n"),
    "slow-registration": (
        "booting",
        "runner-fleet: running pre_runner_script\nrunner-fleet: trying again in 8 s: register\n",
    ),
    "not-connected": ("registered", CLOUD_INIT + "runner-fleet: runner registered\n"),
}


@pytest.mark.parametrize("code", LATE)
def test_of_one_that_is_late_the_last_step_is_named(code: str) -> None:
    phase, console = LATE[code]
    cause = diagnose(console, "running" if phase != "launched" else "pending", "", phase)
    assert cause is not None
    assert cause.code == code


def test_a_windows_that_is_not_ready_yet_is_not_asked_for_cloud_init() -> None:
    console = "2025/10/15 08:00:01Z: Windows sysprep configuration complete.\n"
    cause = diagnose(console, "running", "", "booting")
    assert cause is not None
    assert cause.code == "slow-boot"


def test_the_boot_scripts_own_words_go_before_those_of_others() -> None:
    console = (
        "curl: (6) Could not resolve host: example.com\n"
        "runner-fleet: error [pre-script-failed]: pre_runner_script ended with status 6\n" + CRASHED
    )
    cause = diagnose(console, "shutting-down", POWERED_OFF, "booting")
    assert cause is not None
    assert str(cause) == (
        "pre_runner_script ended with status 6 [pre-script-failed]: its own output is in the "
        "lines of the console: correct the script (it runs as root with bash -e, and HOME is "
        "not the home directory of the user who runs the job)"
    )


def test_where_the_boot_script_knows_little_others_are_asked() -> None:
    vague = "runner-fleet: error [registration-failed]: the runner cannot register\n" + CRASHED
    alone = diagnose(vague, "terminated", POWERED_OFF, "booting")
    told = diagnose(DEAD["token-rejected"] + vague, "terminated", POWERED_OFF, "booting")
    assert alone is not None
    assert told is not None
    assert (alone.code, told.code) == ("registration-failed", "token-rejected")


def test_a_code_from_a_newer_boot_script_is_shown_as_it_is() -> None:
    console = "runner-fleet: error [no-battery]: the battery is empty\n"
    cause = diagnose(console, "terminated", POWERED_OFF, "booting")
    assert cause is not None
    assert (cause.code, cause.title) == ("no-battery", "the battery is empty")


def test_what_the_boot_survived_is_no_cause() -> None:
    console = (
        "Temporary failure in name resolution\n" + RETRY + "runner-fleet: running pre_runner_script"
        "\nA runner exists with the same name\n√ Successfully replaced the runner\n"
    )
    cause = diagnose(console, "running", "", "booting")
    assert cause is not None
    assert cause.code == "slow-pre-script"


@pytest.mark.parametrize(
    "console",
    ["runner-fleet: powering off (exit status 1)", "x\nrunner-fleet: error [no-home]: /home/a\n"],
)
def test_a_console_that_tells_the_end_is_whole(console: str) -> None:
    assert is_whole(console)
    assert not is_whole(CLOUD_INIT)


def test_every_cause_has_a_code_of_its_own_and_a_remedy() -> None:
    causes = [*CAUSES, *GUESSES]
    assert len({cause.code for cause in causes}) == len(causes)
    assert all(len(cause.remedy) > 30 for cause in causes)
