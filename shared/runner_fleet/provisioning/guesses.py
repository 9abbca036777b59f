"""What is said of an instance when nothing tells the cause: what it was doing last."""

from __future__ import annotations

from runner_fleet.provisioning.causes import Cause

ENDED_BY_SOMEBODY = Cause(
    "ended-by-somebody",
    "somebody terminated or stopped the instance",
    "look in CloudTrail for who did: a stop-runner, a clean-up of the account, or a person",
    reasons=("Client.UserInitiatedShutdown", "Client.InstanceTerminated"),
)
POWERED_OFF = Cause(
    "powered-off",
    "the instance powered itself off, and its console does not say why",
    "read the whole console: aws ec2 get-console-output --output text --instance-id of the "
    "instance, for about an hour",
    reasons=("Client.InstanceInitiatedShutdown",),
)
SERVED = Cause(
    "served-early",
    "a job took the runner, and was over before the others were online",
    "let jobs ask for the label in the output runs_on, not only for what extra_gh_labels gives to "
    "every runner",
)
NOT_STARTED = Cause(
    "not-started",
    "EC2 has not started the instance in time",
    "start again; if it stays, try another zone or instance type, or more seconds in gh_timeout",
)
CONSOLE_EMPTY = Cause(
    "console-empty",
    "the console is empty: the image boots slowly, does not boot, or writes to no serial console",
    "check that the image fits the instance type, and the way out to the internet of its subnet; "
    "more seconds in gh_timeout help an image that is slow",
)
NO_CLOUD_INIT = Cause(
    "no-cloud-init",
    "the image boots, but nothing runs the user data: it seems to have no cloud-init",
    "choose an image with cloud-init (Ubuntu, Debian, Amazon Linux, the Deep Learning AMIs); one "
    "made from an instance needs 'cloud-init clean' before it is saved",
)
NO_EC2LAUNCH = Cause(
    "no-ec2launch",
    "Windows has booted, but nothing has run the user data yet",
    "choose an image with EC2Launch (those of AWS have it); one made from an instance needs "
    "EC2Launch's sysprep before it is saved; more seconds in gh_timeout help an image that is slow",
)
SLOW_BOOT = Cause(
    "slow-boot",
    "the operating system was still booting",
    "give more seconds in gh_timeout, or a larger aws_instance_type",
)
SLOW_SCRIPT = Cause(
    "slow-pre-script",
    "pre_runner_script was still running",
    "give more seconds in gh_timeout, or move its work into the image",
)
SLOW_PACKAGES = Cause(
    "slow-packages",
    "the runner's dependencies were still being installed",
    "put them into the image (libicu), or check that the instance reaches its package mirrors",
)
SLOW_DOWNLOAD = Cause(
    "slow-download",
    "the runner was still being downloaded",
    "check the way out to the internet (NAT gateway or public IP, port 443), or put the runner "
    "into the image",
)
NOT_CONNECTED = Cause(
    "not-connected",
    "the runner registered, but does not connect to GitHub",
    "let the instance reach *.actions.githubusercontent.com on port 443, and see githubstatus.com",
)
STILL_REGISTERING = Cause(
    "slow-registration",
    "the boot script was still on its way",
    "the lines of the console say how far it came: give more seconds in gh_timeout",
)

GUESSES = (
    *(ENDED_BY_SOMEBODY, POWERED_OFF, SERVED, NOT_STARTED, CONSOLE_EMPTY),
    *(NO_CLOUD_INIT, NO_EC2LAUNCH, SLOW_BOOT),
    *(SLOW_SCRIPT, SLOW_PACKAGES, SLOW_DOWNLOAD, NOT_CONNECTED, STILL_REGISTERING),
)
