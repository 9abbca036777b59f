"""Secrets planted in every input and variable show nowhere.

The harness looks through every run of every test (canary.py); here are runs that would tempt most.
"""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, World

from tests.actions.canary import Canaries
from tests.actions.harness import Actions
from tests.actions.test_start import INPUTS, assert_nothing_left
from tests.static.test_action_contract import ENVIRONMENT, PARSERS, VALUES

PAT = "canary-pat-0123456789abcdefghij"
PLANTED = {
    "GH_PAT": PAT,
    "AWS_ACCESS_KEY_ID": "canary-access-key-id",
    "AWS_SECRET_ACCESS_KEY": "canary-secret-access-key",
    "AWS_SESSION_TOKEN": "canary-session-token",
    "HTTPS_PROXY": "http://user:canary-proxy-password@127.0.0.1:9",
}
SCRIPT = {
    "pre_runner_script": "export SECRET=canary-in-the-script",
    "aws_user_data_extra": "#!/bin/sh\nexport SECRET=canary-in-the-extra-part\n",
}


@pytest.fixture(autouse=True)
def _admitted(world: World) -> None:
    world.github.add_token(PAT, repos={REPOSITORY: "admin"})


def test_a_start_and_a_stop_show_no_secret(actions: Actions, world: World) -> None:
    started = actions.run("start-runner", INPUTS | SCRIPT, PLANTED)
    assert started.status == 0, started.log
    (script,) = world.ec2.user_data.values()
    assert "canary-in-the-script" in script
    assert "canary-in-the-extra-part" in script
    stopped = actions.run("stop-runner", {"fleet_id": started.outputs["fleet_id"]}, PLANTED)
    assert stopped.status == 0, stopped.log
    assert_nothing_left(world)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST .*", status=403, body='{"message": "no"}', times=None),
        Fault("POST .*", status=200, body="<html>", times=None),
        Fault("RunInstances", status=400, code="InvalidParameterValue", message="no", times=None),
    ],
    ids=["refused", "garbled", "not launched"],
)
def test_a_start_that_fails_shows_no_secret(actions: Actions, world: World, fault: Fault) -> None:
    world.faults.add(fault)
    result = actions.run("start-runner", INPUTS | SCRIPT, PLANTED)
    assert result.status == 1
    assert_nothing_left(world)


def test_a_start_that_shows_a_console_shows_no_secret(actions: Actions, world: World) -> None:
    script = SCRIPT | {"pre_runner_script": "SECRET=canary-in-the-script\nset -x\nexit 7"}
    result = actions.run("start-runner", INPUTS | script, PLANTED)
    assert result.status == 1
    assert_nothing_left(world)


@pytest.mark.parametrize("service", ["GITHUB_API_URL", "AWS_ENDPOINT_URL"])
def test_a_proxy_that_cannot_be_reached_is_named_without_its_password(
    actions: Actions, service: str
) -> None:
    result = actions.run("start-runner", INPUTS, PLANTED | {service: "https://192.0.2.1"})
    assert result.status == 1
    assert result.errors


@pytest.mark.parametrize("name", ["GH_PAT", "AWS_SECRET_ACCESS_KEY"])
def test_a_credential_that_cannot_be_sent_is_not_quoted(actions: Actions, name: str) -> None:
    result = actions.run("start-runner", INPUTS, PLANTED | {name: "canary-of-two\twords"})
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith(f"{name}: the ")


def test_a_secret_that_shows_is_found_wherever_it_is(actions: Actions, world: World) -> None:
    tags = '{"note": "sandbox-pat-with-admin-rights"}'
    with pytest.raises(AssertionError, match="tags of i-"):
        actions.run("start-runner", INPUTS | {"aws_tags": tags})
    (token,) = world.github.issued - set(world.github.state.credentials)
    canaries = Canaries.of({"GH_PAT": "canary-pat", "FLEET_REPO": "innocent"})
    for place in ("log", "outputs", "summary"):
        for secret in ("canary-pat", token):
            assert canaries.leaks(world, {place: f"so {secret}!"}) == [place]
    assert canaries.leaks(world, {"log": f"::add-mask::{token}\nso innocent"}) == []


@pytest.mark.parametrize(
    "secret",
    [
        f"ghp_{'canary' * 6}",
        f"ghs_{'canary' * 6}",
        f"github_pat_{'canary' * 13}",
        "AKIACANARYCANARY2345",
        "https://me:canary-password@example.com",
        f"text {'ghp_'}{'canary' * 6} text",
    ],
)
@pytest.mark.parametrize("action", PARSERS)
def test_a_secret_in_a_wrong_input_is_refused_without_being_quoted(
    action: str, secret: str
) -> None:
    refused = 0
    for name in VALUES[action]:
        for text in (secret, f'["{secret}"]', f'{{"{secret}": "{secret}"}}'):
            try:
                PARSERS[action]({**VALUES[action], name: text}, ENVIRONMENT)
            except InputError as error:
                refused += 1
                said = " ".join(error.lines).lower()
                assert "canary" not in said, name
                assert "password" not in said.replace("user and password", ""), name
    assert refused >= len(VALUES[action])
