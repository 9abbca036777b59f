"""Looking for instances and ending them."""

from __future__ import annotations

from typing import Any

import pytest

UNKNOWN = "i-0123456789abcdef0"


def _ids(cloud: Any, **asked: Any) -> list[str]:
    reply = cloud.client.describe_instances(**asked)
    return [each["InstanceId"] for r in reply["Reservations"] for each in r["Instances"]]


@pytest.mark.parametrize("operation", ["describe_instances", "terminate_instances"])
def test_one_unknown_id_fails_the_whole_call(cloud: Any, refusal: Any, operation: str) -> None:
    known = cloud.launch()[0]["InstanceId"]

    refused = refusal(getattr(cloud.client, operation), InstanceIds=[known, UNKNOWN])

    assert refused == (
        400,
        "InvalidInstanceID.NotFound",
        f"The instance ID '{UNKNOWN}' does not exist",
    )
    assert cloud.state(known) == "running"


def test_all_unknown_ids_are_named(cloud: Any, refusal: Any) -> None:
    asked = [UNKNOWN, "i-0123456789abcdef1"]

    message = refusal(cloud.client.terminate_instances, InstanceIds=asked)[2]

    assert message == ("The instance IDs 'i-0123456789abcdef0, i-0123456789abcdef1' do not exist")


@pytest.mark.parametrize("operation", ["describe_instances", "terminate_instances"])
def test_a_malformed_id_is_told_from_an_unknown_one(
    cloud: Any, refusal: Any, operation: str
) -> None:
    refused = refusal(getattr(cloud.client, operation), InstanceIds=["i-xyz"])

    assert refused == (400, "InvalidInstanceID.Malformed", 'Invalid id: "i-xyz"')


def test_a_terminated_instance_stays_terminated(cloud: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]
    first = cloud.client.terminate_instances(InstanceIds=[known])["TerminatingInstances"][0]
    cloud.until(lambda: cloud.state(known) == "terminated")

    again = cloud.client.terminate_instances(InstanceIds=[known])["TerminatingInstances"][0]

    assert first["PreviousState"]["Name"] == "running"
    assert first["CurrentState"]["Name"] == "shutting-down"
    assert again["PreviousState"]["Name"] == "terminated"
    assert again["CurrentState"]["Name"] == "terminated"


def test_a_terminated_instance_tells_who_ended_it(cloud: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]
    cloud.client.terminate_instances(InstanceIds=[known])
    cloud.until(lambda: cloud.state(known) == "terminated")

    instance = cloud.instance(known)
    assert instance["StateReason"]["Code"] == "Client.UserInitiatedShutdown"
    assert instance["StateTransitionReason"].startswith("User initiated")


def test_a_running_instance_has_no_reason_to_be_in_its_state(cloud: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]

    assert "StateReason" not in cloud.instance(known)


def test_a_termination_can_take_its_time(cloud: Any) -> None:
    cloud.ec2.rules.termination_delay = 60
    known = cloud.launch()[0]["InstanceId"]
    cloud.client.terminate_instances(InstanceIds=[known])
    cloud.ec2.settle()
    before = cloud.instance(known)["State"]["Name"]

    cloud.ec2.advance(60)

    assert before == "shutting-down"
    cloud.until(lambda: cloud.instance(known)["State"]["Name"] == "terminated")


def test_volumes_go_with_the_instance_unless_they_are_to_stay(cloud: Any) -> None:
    stays = {"DeviceName": "/dev/sdf", "Ebs": {"VolumeSize": 3, "DeleteOnTermination": False}}
    known = cloud.launch(BlockDeviceMappings=[stays])[0]["InstanceId"]
    assert len(cloud.client.describe_volumes()["Volumes"]) == 2

    cloud.client.terminate_instances(InstanceIds=[known])
    cloud.until(lambda: cloud.state(known) == "terminated")

    assert [volume["Size"] for volume in cloud.client.describe_volumes()["Volumes"]] == [3]


def test_a_protected_instance_is_not_terminated(cloud: Any, refusal: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]
    cloud.client.modify_instance_attribute(InstanceId=known, DisableApiTermination={"Value": True})

    code = refusal(cloud.client.terminate_instances, InstanceIds=[known])[1]

    assert code == "OperationNotPermitted"
    assert cloud.state(known) == "running"


def test_a_dry_run_ends_nothing(cloud: Any, refusal: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]

    code = refusal(cloud.client.terminate_instances, InstanceIds=[known], DryRun=True)[1]

    assert code == "DryRunOperation"
    assert cloud.state(known) == "running"


def test_unknown_ids_in_a_filter_are_merely_absent(cloud: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]

    found = _ids(cloud, Filters=[{"Name": "instance-id", "Values": [known, UNKNOWN]}])

    assert found == [known]


def test_instances_are_found_by_tag_and_state(cloud: Any) -> None:
    tags = [{"Key": "runner-fleet:fleet-id", "Value": "f1"}]
    specification = [{"ResourceType": "instance", "Tags": tags}]
    ended, living = [
        each["InstanceId"] for each in cloud.launch(2, TagSpecifications=specification)
    ]
    cloud.launch()
    cloud.client.terminate_instances(InstanceIds=[ended])

    found = _ids(
        cloud,
        Filters=[
            {"Name": "tag:runner-fleet:fleet-id", "Values": ["f?"]},
            {"Name": "instance-state-name", "Values": ["pending", "running"]},
        ],
    )

    assert found == [living]


def test_spot_instances_are_found_by_their_lifecycle(cloud: Any) -> None:
    cloud.launch()
    spot = cloud.launch(InstanceMarketOptions={"MarketType": "spot"})[0]["InstanceId"]

    assert _ids(cloud, Filters=[{"Name": "instance-lifecycle", "Values": ["spot"]}]) == [spot]


def test_a_filter_that_does_not_exist_is_refused(cloud: Any, refusal: Any) -> None:
    filters = [{"Name": "colour", "Values": ["red"]}]

    refused = refusal(cloud.client.describe_instances, Filters=filters)

    assert refused == (400, "InvalidParameterValue", "The filter 'colour' is invalid")


def test_ids_cannot_be_asked_for_in_pages(cloud: Any, refusal: Any) -> None:
    known = cloud.launch()[0]["InstanceId"]

    code = refusal(cloud.client.describe_instances, InstanceIds=[known], MaxResults=10)[1]

    assert code == "InvalidParameterCombination"


def test_an_instance_type_that_does_not_exist_is_named(cloud: Any, refusal: Any) -> None:
    refused = refusal(cloud.client.describe_instance_types, InstanceTypes=["g6.huge"])

    assert refused == (
        400,
        "InvalidInstanceType",
        "The following supplied instance types do not exist: [g6.huge]",
    )
