"""EC2 as other processes look into it, beside GitHub."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox.ec2.control import Control
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response


@Request.application
def github(_request: Request) -> Response:
    return Response("GitHub")


@pytest.fixture
def control(cloud: Any) -> Client:
    return Client(Control(github, cloud.ec2))


def test_instances_are_shown_with_their_state(cloud: Any, control: Client) -> None:
    cloud.ec2.rules.boot(never=True)
    [launched] = cloud.launch()
    [shown] = control.get("/_sandbox/instances").get_json()
    assert (shown["id"], shown["state"]) == (launched["InstanceId"], "running")
    assert shown["type"] == "g6.xlarge"


def test_a_console_is_text(cloud: Any, control: Client) -> None:
    booted = cloud.boot("echo hello")
    cloud.until_finished(booted)
    shown = control.get(f"/_sandbox/instances/{booted}/console")
    assert shown.content_type.startswith("text/plain")
    assert shown.text.endswith("hello\n")


def test_an_instance_nobody_launched_has_no_console(control: Client) -> None:
    shown = control.get("/_sandbox/instances/i-0123456789abcdef0/console")
    assert (shown.status_code, shown.get_json()) == (
        404,
        {"message": "there is no instance i-0123456789abcdef0"},
    )


def test_a_rule_refuses_an_instance_type(cloud: Any, control: Client, refusal: Any) -> None:
    rule = {"refuse": {"instance_type": "g6.xlarge"}}
    assert control.post("/_sandbox/rules", json=rule).status_code == 204
    assert refusal(cloud.run)[1] == "InsufficientInstanceCapacity"
    [shown] = control.get("/_sandbox/rules").get_json()["refuse"]
    assert shown["instance_type"] == "g6.xlarge"
    assert control.delete("/_sandbox/rules").status_code == 204
    assert len(cloud.launch()) == 1


def test_a_rule_keeps_instances_from_booting(cloud: Any, control: Client) -> None:
    rules = {"boot": [{"instance_type": "g6.xlarge", "never": True}], "capacity": {"slots": 3}}
    assert control.post("/_sandbox/rules", json=rules).status_code == 204
    booted = cloud.boot("echo up")
    assert cloud.events(booted, "boot_started") == []


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"refuse": {"type": "g6.xlarge"}}, "a rule 'refuse' has no field 'type'; there are: "),
        ({"boot": {"delay": "5"}}, "delay of a rule 'boot' is to be a number, not '5'"),
        ({"capacity": {}}, "a rule 'capacity' needs the field 'slots'"),
        ({"fail": {}}, "the body is a JSON object with some of: refuse, capacity, price, boot"),
        ([], "the body is a JSON object with some of: refuse, capacity, price, boot"),
    ],
)
def test_a_wrong_rule_is_refused_by_the_field(control: Client, rules: Any, message: str) -> None:
    reply = control.post("/_sandbox/rules", json=rules)
    assert reply.status_code == 400
    assert reply.get_json()["message"].startswith(message)


def test_everything_else_is_for_github(control: Client) -> None:
    assert control.get("/_sandbox/state").text == "GitHub"
    assert control.get("/repos/octo-org/gpu-tests").text == "GitHub"
