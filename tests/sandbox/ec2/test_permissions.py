"""IAM enforced: who may do what, and what EC2 says to the others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sandbox.ec2.policies import Ask, allowed


def _user(cloud: Any, actions: list[str], *statements: dict[str, Any], of: str = "ec2") -> Any:
    """A client of a user who may do these actions and what statements say, with IAM enforced."""
    iam = cloud.of("iam")
    iam.create_user(UserName="ci")
    first = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [first, *statements]})
    iam.put_user_policy(UserName="ci", PolicyName="p", PolicyDocument=document)
    made = iam.create_access_key(UserName="ci")["AccessKey"]
    cloud.ec2.enforce_iam()
    return cloud.of(of, key=made["AccessKeyId"], secret=made["SecretAccessKey"])


def test_what_iam_does_not_allow_is_an_unauthorized_operation(cloud: Any, refusal: Any) -> None:
    client = _user(cloud, ["ec2:DescribeInstances"])

    client.describe_instances()
    status, code, message = refusal(client.terminate_instances, InstanceIds=["i-00000001"])
    assert (status, code) == (403, "UnauthorizedOperation")
    assert message.startswith("You are not authorized to perform this operation.")
    assert "ec2:TerminateInstances" in message


LAUNCH = {
    "ImageId": "ami-0c240000000000002",
    "InstanceType": "g6.xlarge",
    "MinCount": 1,
    "MaxCount": 1,
}
TAGGED = [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "b"}]}]


def test_a_launch_with_what_iam_allows_is_carried_out(cloud: Any) -> None:
    client = _user(cloud, ["ec2:RunInstances", "ec2:CreateTags"])

    client.run_instances(**LAUNCH, TagSpecifications=TAGGED)

    assert len(cloud.ec2.instances()) == 1


def test_a_launch_with_tags_needs_to_be_allowed_to_tag(cloud: Any, refusal: Any) -> None:
    client = _user(cloud, ["ec2:RunInstances"])

    refused = refusal(client.run_instances, **LAUNCH, TagSpecifications=TAGGED)

    assert refused[1] == "UnauthorizedOperation"
    assert "perform: ec2:CreateTags on resource" in refused[2]


def test_a_launch_with_a_profile_needs_to_be_allowed_to_pass_its_role(
    cloud: Any, refusal: Any
) -> None:
    iam = cloud.of("iam")
    iam.create_role(RoleName="ci", AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName="ci")
    iam.add_role_to_instance_profile(InstanceProfileName="ci", RoleName="ci")
    client = _user(cloud, ["ec2:RunInstances"])

    refused = refusal(client.run_instances, **LAUNCH, IamInstanceProfile={"Name": "ci"})

    assert "perform: iam:PassRole on resource: arn:aws:iam::123456789012:role/ci" in refused[2]


def test_unknown_credentials_are_told_from_missing_permissions(cloud: Any, refusal: Any) -> None:
    cloud.ec2.enforce_iam()

    refused = refusal(cloud.client.describe_instances)

    assert refused[:2] == (401, "AuthFailure")


def test_a_wrong_secret_is_an_authentication_failure(cloud: Any, refusal: Any) -> None:
    iam = cloud.of("iam")
    iam.create_user(UserName="ci")
    key = iam.create_access_key(UserName="ci")["AccessKey"]["AccessKeyId"]
    cloud.ec2.enforce_iam()
    client = cloud.of("ec2", key=key, secret="wrong")

    assert refusal(client.describe_instances)[1] == "AuthFailure"


OWN = {"StringEquals": {"aws:ResourceTag/runner-fleet:repository": "octo-org/gpu-tests"}}
ANY_INSTANCE = "arn:aws:ec2:*:123456789012:instance/*"


def _tagged(repository: str) -> list[Any]:
    tags = [{"Key": "runner-fleet:repository", "Value": repository}]
    return [{"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume")]


def test_instances_may_be_ended_by_their_tag(cloud: Any, refusal: Any) -> None:
    own, other = (
        cloud.launch(TagSpecifications=_tagged(repository))[0]["InstanceId"]
        for repository in ("octo-org/gpu-tests", "octo-org/other")
    )
    end = {"Effect": "Allow", "Action": "ec2:TerminateInstances", "Resource": ANY_INSTANCE}
    client = _user(cloud, ["ec2:DescribeInstances"], end | {"Condition": OWN})

    refused = refusal(client.terminate_instances, InstanceIds=[own, other])
    client.terminate_instances(InstanceIds=[own])

    assert refused[1] == "UnauthorizedOperation"
    assert f"instance/{other}" in refused[2]
    assert (cloud.state(own) != "running", cloud.state(other)) == (True, "running")


def test_a_launch_may_be_bound_to_its_tags(cloud: Any, refusal: Any) -> None:
    places = ["image", "subnet", "security-group", "network-interface"]
    run = {"Effect": "Allow", "Action": "ec2:RunInstances"}
    anywhere = run | {"Resource": [f"arn:aws:ec2:*:*:{place}/*" for place in places]}
    made = [f"arn:aws:ec2:*:123456789012:{kind}/*" for kind in ("instance", "volume")]
    condition = {"StringEquals": {"aws:RequestTag/runner-fleet:repository": "octo-org/gpu-tests"}}
    tag = {
        "Effect": "Allow",
        "Action": "ec2:CreateTags",
        "Resource": made,
        "Condition": {"StringEquals": {"ec2:CreateAction": "RunInstances"}},
    }
    bound = run | {"Resource": made, "Condition": condition}
    client = _user(cloud, ["ec2:DescribeInstances"], anywhere, bound, tag)

    refused = refusal(client.run_instances, **LAUNCH, TagSpecifications=_tagged("octo-org/other"))
    client.run_instances(**LAUNCH, TagSpecifications=_tagged("octo-org/gpu-tests"))

    assert (
        "ec2:RunInstances on resource: arn:aws:ec2:us-east-1:123456789012:instance/*" in refused[2]
    )
    assert len(cloud.ec2.instances()) == 1


def test_a_deny_wins(cloud: Any, refusal: Any) -> None:
    deny = {"Effect": "Deny", "Action": "ec2:Terminate*", "Resource": "*"}
    known = cloud.launch()[0]["InstanceId"]
    client = _user(cloud, ["ec2:*"], deny)

    assert refusal(client.terminate_instances, InstanceIds=[known])[1] == "UnauthorizedOperation"
    assert client.describe_instances()["Reservations"]


def test_a_parameter_may_be_read_by_its_name(cloud: Any, refusal: Any) -> None:
    for name in ("/ci/image", "/secret"):
        cloud.of("ssm").put_parameter(Name=name, Value="v", Type="String")
    place = "arn:aws:ssm:us-east-1:123456789012:parameter/ci/*"
    read = {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": place}
    client = _user(cloud, ["ec2:DescribeInstances"], read, of="ssm")

    assert client.get_parameter(Name="/ci/image")["Parameter"]["Value"] == "v"
    status, code, message = refusal(client.get_parameter, Name="/secret")
    assert (status, code) == (400, "AccessDeniedException")
    assert "ssm:GetParameter on resource" in message


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ({"StringLike": {"aws:RequestTag/a": "x*"}}, True),
        ({"StringNotEquals": {"aws:RequestTag/a": "xy"}}, False),
        ({"StringNotEquals": {"aws:RequestTag/missing": "xy"}}, True),
        ({"StringEquals": {"aws:RequestTag/missing": "xy"}}, False),
        ({"StringEqualsIfExists": {"aws:RequestTag/missing": "xy"}}, True),
        ({"Null": {"aws:RequestTag/a": "true"}}, False),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["a", "b"]}}, True),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["b"]}}, False),
        ({"ForAnyValue:StringEquals": {"aws:TagKeys": ["c", "a"]}}, True),
        ({"DateGreaterThan": {"aws:CurrentTime": "2020-01-01T00:00:00Z"}}, False),
    ],
)
def test_conditions_are_judged(condition: dict[str, Any], met: bool) -> None:
    statement = {"Effect": "Allow", "Action": "ec2:*", "Resource": "*", "Condition": condition}
    context = {"aws:RequestTag/a": ["xy"], "aws:TagKeys": ["a", "b"]}

    asked = Ask("ec2:RunInstances", "*", context)

    assert allowed([{"Statement": statement}], asked) is met


def test_a_launch_from_a_template_needs_to_be_allowed_to_use_the_template(
    cloud: Any, refusal: Any
) -> None:
    cloud.client.create_launch_template(
        LaunchTemplateName="gpu", LaunchTemplateData={"InstanceType": "g6.xlarge"}
    )
    everything_else = ["image", "instance", "volume", "network-interface", "subnet"]
    client = _user(
        cloud,
        ["ec2:DescribeInstances"],
        {
            "Effect": "Allow",
            "Action": "ec2:RunInstances",
            "Resource": [
                f"arn:aws:ec2:*:*:{kind}/*" for kind in (*everything_else, "security-group")
            ],
        },
    )

    refused = refusal(client.run_instances, **LAUNCH, LaunchTemplate={"LaunchTemplateName": "gpu"})

    assert refused[1] == "UnauthorizedOperation"
    assert (
        "perform: ec2:RunInstances on resource: arn:aws:ec2:us-east-1:123456789012:launch-te"
        in (refused[2])
    )


def test_iam_looks_at_the_resource_and_denies_in_its_own_words(cloud: Any, refusal: Any) -> None:
    cloud.of("iam").create_instance_profile(InstanceProfileName="ci-gpu")
    cloud.of("iam").create_instance_profile(InstanceProfileName="other")
    profiles = {
        "Effect": "Allow",
        "Action": "iam:GetInstanceProfile",
        "Resource": "arn:aws:iam::123456789012:instance-profile/ci-*",
    }
    client = _user(cloud, ["ec2:DescribeInstances"], profiles, of="iam")

    client.get_instance_profile(InstanceProfileName="ci-gpu")
    status, code, message = refusal(client.get_instance_profile, InstanceProfileName="other")

    assert (status, code) == (403, "AccessDenied")
    assert "perform: iam:GetInstanceProfile on resource" in message
