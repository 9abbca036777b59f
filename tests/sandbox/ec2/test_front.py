"""The log of calls, faults by rule, and IAM."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError
from sandbox.faults import Fault


def test_every_call_is_logged(cloud: Any) -> None:
    cloud.client.describe_instances()
    cloud.of("sts").get_caller_identity()
    cloud.of("ssm").describe_parameters()
    cloud.of("iam").list_roles()

    logged = [(call.service, call.operation, call.status) for call in cloud.ec2.log.all()]
    assert logged == [
        ("ec2", "DescribeInstances", 200),
        ("sts", "GetCallerIdentity", 200),
        ("ssm", "DescribeParameters", 200),
        ("iam", "ListRoles", 200),
    ]


def test_the_log_has_the_parameters_but_not_the_user_data(cloud: Any) -> None:
    cloud.run(UserData="secret", MaxCount=2)

    [call] = cloud.ec2.log.all()
    assert call.fields["MaxCount"] == "2"
    assert "UserData" not in call.fields
    assert call.client.startswith("Boto3/")


def test_a_fault_before_the_call_leaves_it_without_effect(cloud: Any, refusal: Any) -> None:
    cloud.ec2.faults.add(Fault("RunInstances", 503))

    assert refusal(cloud.run)[:2] == (503, "RequestLimitExceeded")
    assert cloud.ec2.instances() == []
    assert len(cloud.launch()) == 1


def test_a_fault_has_the_code_and_the_message_of_its_rule(cloud: Any, refusal: Any) -> None:
    cloud.ec2.faults.add(Fault("RunInstances", 400, code="PendingVerification", message="Wait."))

    assert refusal(cloud.run) == (400, "PendingVerification", "Wait.")


def test_a_lost_reply_comes_after_the_effect(cloud: Any, refusal: Any) -> None:
    cloud.ec2.faults.add(Fault("RunInstances", 500, when="after", code="InternalError"))

    assert refusal(cloud.run)[:2] == (500, "InternalError")
    assert len(cloud.ec2.instances()) == 1


def test_a_dropped_connection_comes_after_the_effect(cloud: Any) -> None:
    cloud.ec2.faults.add(Fault("RunInstances", when="drop"))

    with pytest.raises(ConnectionClosedError):
        cloud.run()
    assert len(cloud.ec2.instances()) == 1
    assert [call.status for call in cloud.ec2.log.all()] == [0]


def test_right_after_the_launch_an_instance_may_not_be_seen_yet(cloud: Any, refusal: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]
    cloud.ec2.faults.add(Fault("DescribeInstances", when="stale", stale_seconds=60, times=2))

    assert cloud.client.describe_instances()["Reservations"] == []
    code = refusal(cloud.client.describe_instances, InstanceIds=[known])[1]
    assert code == "InvalidInstanceID.NotFound"
    assert cloud.instance(known)["State"]["Name"] == "running"


def test_right_after_its_end_an_instance_may_still_be_seen_running(cloud: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]
    cloud.clock.added += 60
    cloud.client.terminate_instances(InstanceIds=[known])
    cloud.ec2.settle()
    cloud.ec2.faults.add(Fault("DescribeInstances", when="stale", stale_seconds=30))

    seen = [cloud.instance(known)["State"]["Name"] for _ in range(2)]

    assert seen == ["running", "terminated"]
    assert cloud.state(known) == "terminated"


def test_a_fault_of_another_service_has_that_service_s_form(cloud: Any, refusal: Any) -> None:
    cloud.ec2.faults.add(Fault("GetParameter$", 400, code="ParameterNotFound", message="No."))

    assert refusal(cloud.of("ssm").get_parameter, Name="/x") == (400, "ParameterNotFound", "No.")


def _user(cloud: Any, actions: list[str]) -> Any:
    """An EC2 client of a user who may do these actions, with IAM enforced."""
    iam = cloud.of("iam")
    iam.create_user(UserName="ci")
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName="ci", PolicyName="p", PolicyDocument=document)
    made = iam.create_access_key(UserName="ci")["AccessKey"]
    cloud.ec2.enforce_iam()
    return cloud.of("ec2", key=made["AccessKeyId"], secret=made["SecretAccessKey"])


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
    assert refused[2].endswith("ec2:CreateTags")


def test_a_launch_with_a_profile_needs_to_be_allowed_to_pass_its_role(
    cloud: Any, refusal: Any
) -> None:
    iam = cloud.of("iam")
    iam.create_role(RoleName="ci", AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName="ci")
    iam.add_role_to_instance_profile(InstanceProfileName="ci", RoleName="ci")
    client = _user(cloud, ["ec2:RunInstances"])

    refused = refusal(client.run_instances, **LAUNCH, IamInstanceProfile={"Name": "ci"})

    assert refused[2].endswith("iam:PassRole")


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
