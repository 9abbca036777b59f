"""The log of calls, and faults by rule."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError
from sandbox.ec2.door import Door
from sandbox.faults import Fault

from tests.actions.harness import until


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


def test_a_call_that_is_delayed_until_a_reset_has_no_effect_and_is_not_logged(
    cloud: Any, refusal: Any
) -> None:
    slow = Fault("RunInstances", delay=600)
    cloud.ec2.faults.add(slow)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(refusal, cloud.run)
        cloud.until(lambda: slow.times == 0)
        cloud.ec2.reset()
        cloud.ec2.log.clear()
        cloud.ec2.faults.clear()
        assert late.result(60)[:2] == (400, "RequestExpired")
    assert (cloud.ec2.instances(), cloud.ec2.log.all()) == ([], [])


def test_a_reset_waits_for_the_calls_under_way() -> None:
    door, entered, leave = Door(), threading.Event(), threading.Event()
    happened: list[str] = []

    def call() -> None:
        with door.inside(0) as admitted:
            entered.set()
            leave.wait(60)
            happened.append(f"a call, {admitted}")

    def reset() -> None:
        with door.shut():
            happened.append("a reset")

    with ThreadPoolExecutor(2) as pool:
        calls = pool.submit(call)
        assert entered.wait(60)
        resets = pool.submit(reset)
        until(lambda: door.age == 1, "the door is shut")
        leave.set()
        calls.result(60)
        resets.result(60)
    assert happened == ["a call, True", "a reset"]
    with door.inside(0) as too_late, door.inside(1) as in_time:
        assert (too_late, in_time) == (False, True)


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
