"""The IAM policies beside the actions are enough, and nothing in them is too much.

Run as a user who has exactly that policy, with IAM enforced by resource and condition, as the
sandbox knows them (`sandbox.ec2.permissions`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from sandbox.world import World

from tests.actions.harness import ROOT, Actions, Result, aws

ACCOUNT = "123456789012"
ROLE = "gpu-tests"
PARAMETER = "golden-image"
REPOSITORY = "octo-org/gpu-tests"
TERMINATE = "ec2:TerminateInstances"
CONSOLE = "ec2:GetConsoleOutput"

# Uses every optional statement but those for looking around, too.
START = {
    "aws_image_id": f"resolve:ssm:/{PARAMETER}",
    "aws_instance_type": "g4dn.xlarge",
    "aws_home_dir": "/home/ubuntu",
    "aws_iam_role": ROLE,
    "aws_launch_template": "gpu",
    "market": "spot",
}

# Without these a start works all the same.
DISPENSABLE = (
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeSpotPriceHistory",
    "ec2:DescribeSubnets",
    "pricing:GetProducts",
)

ONLY_IN_A_DRY_RUN = (
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroups",
    "iam:GetInstanceProfile",
)


def filled(action: str) -> dict[str, Any]:
    """The policy as a user would fill it in."""
    text = (ROOT / action / "iam-policy.json").read_text(encoding="utf-8")
    for placeholder, value in (
        ("ACCOUNT_ID", ACCOUNT),
        ("OWNER/REPOSITORY", REPOSITORY),
        ("IMAGE_PARAMETER", PARAMETER),
        ("INSTANCE_ROLE", ROLE),
    ):
        text = text.replace(placeholder, value)
    policy: dict[str, Any] = json.loads(text)
    return policy


def names(statement: dict[str, Any]) -> list[str]:
    action = statement["Action"]
    return [action] if isinstance(action, str) else list(action)


def allowed(action: str) -> list[str]:
    """Every AWS action that a policy allows, once."""
    statements = filled(action)["Statement"]
    return sorted({name for statement in statements for name in names(statement)})


def judged(action: str, denied: str = "") -> dict[str, Any]:
    """The policy, less one AWS action."""
    policy = filled(action)
    statements = []
    for statement in policy["Statement"]:
        left = [name for name in names(statement) if name != denied]
        if left:
            statements.append(statement | {"Action": left})
    return policy | {"Statement": statements}


class Account:
    """The AWS account of the world, and the users in it."""

    def __init__(self, world: World, actions: Actions) -> None:
        self._world = world
        self._actions = actions
        self._session = boto3.Session("testing", "testing", region_name="us-east-1")
        self._clients: list[Any] = []
        iam = self._iam = self.client("iam")
        iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument="{}")
        iam.create_instance_profile(InstanceProfileName=ROLE)
        iam.add_role_to_instance_profile(InstanceProfileName=ROLE, RoleName=ROLE)
        self.client("ec2").create_launch_template(
            LaunchTemplateName="gpu", LaunchTemplateData={"KeyName": "ssh"}
        )
        self.client("ssm").put_parameter(Name=f"/{PARAMETER}", Value=self._image(), Type="String")

    def _image(self) -> str:
        images = self.client("ec2").describe_images(
            Filters=[{"Name": "architecture", "Values": ["x86_64"]}]
        )["Images"]
        return str(next(image["ImageId"] for image in images if "Platform" not in image))

    def client(self, service: Any) -> Any:
        """With all rights, as long as IAM is not enforced."""
        client = self._session.client(service, endpoint_url=self._world.ec2_url)
        self._clients.append(client)
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def user(self, name: str, policy: dict[str, Any] | None) -> dict[str, str]:
        """The credentials of a new user who has this policy and no other, as variables."""
        self._iam.create_user(UserName=name)
        if policy is not None:
            self._iam.put_user_policy(
                UserName=name, PolicyName="policy", PolicyDocument=json.dumps(policy)
            )
        key = self._iam.create_access_key(UserName=name)["AccessKey"]
        return {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
            "AWS_SESSION_TOKEN": "",
        }

    def start(self, env: dict[str, str] | None = None, **inputs: str) -> dict[str, str]:
        """Start without IAM; returns what stop-runner is given."""
        result = self._actions.run("start-runner", START | inputs, env)
        assert result.status == 0, result.log
        return to_stop(result)

    def run(self, action: str, inputs: dict[str, str], user: dict[str, str]) -> Result:
        """Run as the user; from now on IAM is enforced."""
        self._world.ec2.enforce_iam()
        return self._actions.run(action, inputs, user)


def to_stop(started: Result) -> dict[str, str]:
    return {
        "instance_mapping": started.outputs["mapping"],
        "fleet_id": started.outputs["fleet_id"],
    }


@pytest.fixture
def account(world: World, tmp_path: Path) -> Iterator[Account]:
    account = Account(world, Actions(world, tmp_path))
    yield account
    account.close()


def test_the_policies_are_enough_to_start_and_to_stop(account: Account, world: World) -> None:
    starter = account.user("starter", judged("start-runner"))
    stopper = account.user("stopper", judged("stop-runner"))
    started = account.run("start-runner", START, starter)
    assert started.status == 0, started.log
    stopped = account.run("stop-runner", to_stop(started) | {"wait": "true"}, stopper)
    assert stopped.status == 0, stopped.log
    assert [instance.state for instance in world.ec2.instances()] == ["terminated"]


def test_a_dry_run_says_what_it_may_not_check(account: Account) -> None:
    everything = account.user("all", filled("start-runner"))
    policy = filled("start-runner")
    policy["Statement"] = [
        item
        for item in policy["Statement"]
        if not set(names(item)) & {*DISPENSABLE, *ONLY_IN_A_DRY_RUN}
    ]
    least = account.user("least", policy)
    checked = account.run("start-runner", START | {"dry_run": "true"}, everything)
    assert checked.status == 0, checked.log
    assert "needs " not in checked.log
    unchecked = account.run("start-runner", START | {"dry_run": "true"}, least)
    assert unchecked.status == 0, unchecked.log
    assert "not checked: subnets: needs ec2:DescribeSubnets" in unchecked.log
    profile = f"not checked: instance profile {ROLE}: needs iam:GetInstanceProfile"
    assert profile in unchecked.log


def test_a_user_without_a_policy_can_do_nothing(account: Account) -> None:
    result = account.run("start-runner", START, account.user("nobody", None))
    assert result.status == 1
    assert result.outputs.keys() <= {"fleet_id", "region"}


@pytest.mark.parametrize(
    "denied",
    [
        name
        for name in allowed("start-runner")
        if name not in (TERMINATE, CONSOLE, *DISPENSABLE, *ONLY_IN_A_DRY_RUN)
    ],
)
def test_start_fails_and_names_the_permission_it_lacks(
    account: Account, world: World, denied: str
) -> None:
    user = account.user("starter", judged("start-runner", denied))
    result = account.run("start-runner", START, user)
    assert result.status == 1
    assert [line for line in result.errors if f"lacks the permission {denied}" in line], result.log
    states = {instance.state for instance in world.ec2.instances()}
    assert states <= {"shutting-down", "terminated"}


def looking_around(world: World) -> dict[str, str]:
    """Inputs that use the rest of the permissions."""
    found = aws(world, "ec2").describe_subnets(
        Filters=[{"Name": "availability-zone", "Values": ["us-east-1a", "us-east-1e"]}]
    )["Subnets"]
    return {
        "aws_subnet_id": ",".join(subnet["SubnetId"] for subnet in found),
        "market": "spot-then-on-demand",
        "placement_strategy": "cheapest-first",
        "capacity_timeout": "0",
    }


def test_the_policy_is_enough_to_look_around(account: Account, world: World) -> None:
    inputs = START | looking_around(world)
    result = account.run("start-runner", inputs, account.user("starter", judged("start-runner")))
    assert result.status == 0, result.log
    assert "lacks the permission" not in result.log


@pytest.mark.parametrize("denied", DISPENSABLE)
def test_start_works_without_looking_around_and_names_the_permission(
    account: Account, world: World, denied: str
) -> None:
    inputs = START | looking_around(world)
    user = account.user("starter", judged("start-runner", denied))
    result = account.run("start-runner", inputs, user)
    assert result.status == 0, result.log
    assert result.log.count(f"lacks the permission {denied}") == 1


def test_a_role_without_the_statement_for_spot_cannot_ask_for_it(account: Account) -> None:
    policy = judged("start-runner")
    kept = [one for one in policy["Statement"] if one["Sid"] != "OptionalAskForSpotInstances"]
    user = account.user("starter", policy | {"Statement": kept})
    result = account.run("start-runner", START, user)
    assert result.status == 1
    assert [line for line in result.errors if "lacks the permission ec2:RunInstances" in line]


def test_start_needs_to_terminate_only_when_it_fails_and_then_says_so(
    account: Account, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    user = account.user("starter", judged("start-runner", TERMINATE))
    result = account.run("start-runner", START | {"gh_timeout": "1"}, user)
    assert result.status == 1
    assert f"lacks the permission {TERMINATE}" in result.log


def test_start_reads_consoles_only_when_it_fails_and_without_them_says_what_it_lacks(
    account: Account, world: World
) -> None:
    world.ec2.rules.boot(never=True)
    user = account.user("starter", judged("start-runner", CONSOLE))
    result = account.run("start-runner", START | {"gh_timeout": "1"}, user)
    assert result.status == 1
    (line,) = result.errors
    assert "Its console cannot be read" in line
    assert f"lacks the permission {CONSOLE}" in line
    assert [instance.state for instance in world.ec2.instances()] == ["terminated"]


def test_start_may_read_the_consoles_of_its_own_instances(account: Account, world: World) -> None:
    world.ec2.rules.boot(never=True)
    user = account.user("starter", judged("start-runner"))
    result = account.run("start-runner", START | {"gh_timeout": "1"}, user)
    (line,) = result.errors
    assert "[console-empty]" in line


@pytest.mark.parametrize("denied", allowed("stop-runner"))
def test_stop_fails_and_names_the_permission_it_lacks(account: Account, denied: str) -> None:
    left = account.start()
    user = account.user("stopper", judged("stop-runner", denied))
    result = account.run("stop-runner", left, user)
    assert result.status == 1
    assert [line for line in result.errors if f"lacks the permission {denied}" in line], result.log


def test_instances_of_another_repository_cannot_be_stopped(account: Account, world: World) -> None:
    world.github.add_repository("octo-org/other")
    world.github.add_token("a-token-for-the-other-one", repos={"octo-org/other": "admin"})
    foreign = account.start(repo="octo-org/other", env={"GH_PAT": "a-token-for-the-other-one"})
    user = account.user("stopper", judged("stop-runner"))
    result = account.run("stop-runner", foreign, user)
    assert result.status == 1
    assert [line for line in result.errors if f"lacks the permission {TERMINATE}" in line]
    assert [instance.state for instance in world.ec2.instances()] == ["running"]


def test_a_role_that_may_start_may_stop() -> None:
    assert set(allowed("stop-runner")) <= set(allowed("start-runner"))
