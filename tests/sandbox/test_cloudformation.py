"""The CloudFormation template in docs/aws gives one repository all it needs, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from sandbox.ec2.policies import Ask, allowed
from sandbox.world import World

from tests.actions.harness import ROOT, Actions
from tests.sandbox.test_iam_policy import REPOSITORY, filled

TEMPLATE = ROOT / "docs" / "aws" / "runner-fleet.yaml"
ORGANIZATION, NAME = REPOSITORY.split("/")
GITHUB = "token.actions.githubusercontent.com"
AUDIENCE = "sts.amazonaws.com"
START = {
    "aws_image_id": "ami-0c240000000000002",
    "aws_instance_type": "g4dn.xlarge",
    "aws_home_dir": "/home/ubuntu",
}


@dataclass
class Stack:
    """A stack, as it stands in the account."""

    outputs: dict[str, str]
    trust: dict[str, Any]
    policy: dict[str, Any]

    def trusts(self, subject: str, audience: str = AUDIENCE) -> bool:
        """Whether a job whose token has this subject may assume the role."""
        context = {f"{GITHUB}:sub": [subject], f"{GITHUB}:aud": [audience]}
        document = {"Statement": [item | {"Resource": "*"} for item in self.trust["Statement"]]}
        return allowed([document], Ask("sts:AssumeRoleWithWebIdentity", context=context))


class Account:
    """The account, as its administrator works with it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._session = boto3.Session("testing", "testing", region_name="us-east-1")
        self._clients: dict[str, Any] = {}

    def client(self, service: Any) -> Any:
        if service not in self._clients:
            self._clients[service] = self._session.client(service, endpoint_url=self._world.ec2_url)
        return self._clients[service]

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def deploy(self, **parameters: str) -> Stack:
        names = {"GitHubOrganization": ORGANIZATION, "GitHubRepository": NAME} | parameters
        formation = self.client("cloudformation")
        formation.create_stack(
            StackName="runner-fleet",
            TemplateBody=TEMPLATE.read_text(encoding="utf-8"),
            Capabilities=["CAPABILITY_IAM"],
            Parameters=[
                {"ParameterKey": key, "ParameterValue": value} for key, value in names.items()
            ],
        )
        (stack,) = formation.describe_stacks(StackName="runner-fleet")["Stacks"]
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        outputs = {item["OutputKey"]: item["OutputValue"] for item in stack["Outputs"]}
        name = outputs["RoleArn"].rpartition("/")[2]
        iam = self.client("iam")
        role = iam.get_role(RoleName=name)["Role"]
        policy = iam.get_role_policy(RoleName=name, PolicyName="runner-fleet")["PolicyDocument"]
        return Stack(outputs, role["AssumeRolePolicyDocument"], policy)

    def session(self, role: str) -> dict[str, str]:
        """Credentials of the role, as the environment of a job holds them."""
        keys = self.client("sts").assume_role(RoleArn=role, RoleSessionName="job")["Credentials"]
        return {
            "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
            "AWS_SESSION_TOKEN": keys["SessionToken"],
        }


@pytest.fixture
def account(world: World) -> Iterator[Account]:
    account = Account(world)
    yield account
    account.close()


def test_only_jobs_of_the_repository_may_assume_the_role(account: Account) -> None:
    stack = account.deploy()
    assert stack.trusts("repo:octo-org/gpu-tests:ref:refs/heads/main")
    assert stack.trusts("repo:octo-org/gpu-tests:environment:gpu")
    assert not stack.trusts("repo:octo-org/gpu-tests:ref:refs/heads/main", audience="other")
    assert not stack.trusts("repo:octo-org/gpu-tests-2:ref:refs/heads/main")
    assert not stack.trusts("repo:octo-org/other:ref:refs/heads/repo:octo-org/gpu-tests:x")
    assert not stack.trusts("repo:mallory/gpu-tests:ref:refs/heads/main")
    assert not stack.trusts("repo:octo-org@1/gpu-tests@2:ref:refs/heads/main")
    (provider,) = account.client("iam").list_open_id_connect_providers()[
        "OpenIDConnectProviderList"
    ]
    assert stack.trust["Statement"][0]["Principal"] == {"Federated": provider["Arn"]}


def test_trust_can_be_narrowed_and_a_provider_that_is_there_is_used(account: Account) -> None:
    stack = account.deploy(
        GitHubOrganizationId="1",
        GitHubRepositoryId="2",
        Subject="ref:refs/heads/main",
        OidcProviderExists="true",
    )
    assert stack.trusts("repo:octo-org@1/gpu-tests@2:ref:refs/heads/main")
    assert stack.trusts("repo:octo-org/gpu-tests:ref:refs/heads/main")
    assert not stack.trusts("repo:octo-org@1/gpu-tests@3:ref:refs/heads/main")
    assert not stack.trusts("repo:octo-org/gpu-tests:ref:refs/heads/feature")
    assert stack.trust["Statement"][0]["Principal"] == {
        "Federated": f"arn:aws:iam::123456789012:oidc-provider/{GITHUB}"
    }
    assert account.client("iam").list_open_id_connect_providers()["OpenIDConnectProviderList"] == []


def test_the_role_may_what_the_policy_beside_the_action_says(account: Account) -> None:
    stack = account.deploy(InstanceRole="gpu-tests", ImageParameter="golden-image")
    assert stack.policy == filled("start-runner")


def test_what_is_optional_is_left_out_and_regions_can_be_limited(account: Account) -> None:
    vpc = account.client("ec2").describe_vpcs()["Vpcs"][0]["VpcId"]
    stack = account.deploy(AllowedRegions="eu-west-1,eu-central-1", VpcId=vpc)
    statements = {item["Sid"]: item for item in stack.policy["Statement"]}
    assert "OptionalGiveInstancesTheirRole" not in statements
    assert statements["OnlyInTheseRegions"]["Condition"] == {
        "StringNotEquals": {"aws:RequestedRegion": ["eu-west-1", "eu-central-1"]}
    }
    (group,) = account.client("ec2").describe_security_groups(
        GroupIds=[stack.outputs["SecurityGroupId"]]
    )["SecurityGroups"]
    assert group["IpPermissions"] == []
    assert [rule["IpProtocol"] for rule in group["IpPermissionsEgress"]] == ["-1"]


def test_the_role_starts_and_stops_runners_and_nothing_outside_of_its_regions(
    account: Account, world: World, tmp_path: Path
) -> None:
    role = account.deploy(AllowedRegions="us-east-1").outputs["RoleArn"]
    job = account.session(role)
    actions = Actions(world, tmp_path)
    world.ec2.enforce_iam()
    started = actions.run("start-runner", START, job)
    assert started.status == 0, started.log
    stopped = actions.run(
        "stop-runner", {"instance_mapping": started.outputs["mapping"], "wait": "true"}, job
    )
    assert stopped.status == 0, stopped.log
    assert [instance.state for instance in world.ec2.instances()] == ["terminated"]
    elsewhere = actions.run("start-runner", START | {"aws_region_name": "us-west-2"}, job)
    assert elsewhere.status == 1
    assert "lacks the permission ec2:RunInstances" in elsewhere.log
