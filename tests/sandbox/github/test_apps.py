"""GitHub Apps of the simulator: only a rightly signed, fresh JWT, and never more than granted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from sandbox.github import Simulator, VirtualClock, apps, groups

from tests.runner_fleet.keys import key_pair

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"
PATH = f"/repos/{REPO}/installation"


@pytest.fixture
def installation(github: Simulator) -> apps.Installation:
    permissions = {"administration": "write", "actions": "read"}
    return apps.install(github.state, "12345", key_pair().public, "octo-org", permissions, [REPO])


def signed(
    clock: VirtualClock, key: str = "", *, app: str = "12345", issued: int = -60, ends: int = 300
) -> str:
    now = int(clock().timestamp())
    claims = {"iss": app, "iat": now + issued, "exp": now + ends}
    return jwt.encode(claims, key or key_pair().private, algorithm="RS256")


@pytest.mark.usefixtures("installation")
@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({}, 200, None),
        ({"key": key_pair(1).private}, 401, "A JSON web token could not be decoded"),
        ({"app": "999"}, 404, "Integration not found"),
        ({"issued": 120}, 401, "'Issued at' claim ('iat') must be an Integer representing"),
        ({"ends": 660}, 401, "'Expiration time' claim ('exp') is too far in the future"),
        ({"issued": -400, "ends": -100}, 401, "'Expiration time' claim ('exp') must be a num"),
    ],
)
def test_only_a_fresh_jwt_of_the_apps_own_key_is_believed(
    api: Api, clock: VirtualClock, changes: dict[str, Any], status: int, message: str | None
) -> None:
    reply = api.get(PATH, token=signed(clock, **changes))
    assert reply.status_code == status
    if message:
        assert reply.json["message"].startswith(message)


def test_a_token_lasts_an_hour_and_does_what_it_was_asked_for(
    api: Api, clock: VirtualClock, installation: apps.Installation
) -> None:
    path = f"/app/installations/{installation.id}/access_tokens"
    body = {"repositories": ["gpu-tests"], "permissions": {"administration": "read"}}
    made = api.post(path, body, token=signed(clock))
    assert made.status_code == 201
    assert made.json["expires_at"] == (clock() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    token, runners = made.json["token"], f"{api.repo}/actions/runners"
    assert api.get(runners, token=token).status_code == 200
    assert api.post(f"{runners}/registration-token", token=token).status_code == 403
    assert api.get(f"{api.repo}/actions/runs", token=token).status_code == 403
    clock.advance(hours=1)
    assert api.get(runners, token=token).status_code == 401


@pytest.mark.parametrize(
    "body",
    [{"permissions": {"administration": "write", "contents": "read"}}, {"repositories": ["other"]}],
)
def test_more_than_was_granted_is_refused(
    github: Simulator,
    api: Api,
    clock: VirtualClock,
    installation: apps.Installation,
    body: dict[str, Any],
) -> None:
    github.add_repository("octo-org/other")
    path = f"/app/installations/{installation.id}/access_tokens"
    assert api.post(path, body, token=signed(clock)).status_code == 422


@pytest.mark.usefixtures("installation")
def test_where_an_app_is_not_installed_there_is_nothing(
    github: Simulator, api: Api, clock: VirtualClock
) -> None:
    github.add_repository("octo-org/other")
    github.add_repository("elsewhere/x")
    token = signed(clock)
    for path in ("/repos/octo-org/other", "/repos/elsewhere/x", "/orgs/elsewhere"):
        assert api.get(f"{path}/installation", token=token).status_code == 404
    assert api.get("/orgs/octo-org/installation", token=token).status_code == 200
    assert api.get(PATH).status_code == 401


def test_jobs_of_other_repositories_do_not_reach_the_runners_of_a_group(github: Simulator) -> None:
    github.knobs.auto_acquire = True
    github.add_repository("octo-org/other")
    group = groups.add(github.state, "octo-org", "gpu", [REPO])
    runner = github.add_runner("octo-org", "one", ["gpu"])
    github.set_runner(runner.id, runner_group_id=group.id)
    refused = github.queue_job("octo-org/other", None, "test", ["gpu"])
    taken = github.queue_job(REPO, None, "test", ["gpu"])
    by_id = {job.id: job for job in github.jobs()}
    assert by_id[refused.id].status == "queued"
    assert (by_id[taken.id].status, by_id[taken.id].runner_group_name) == ("in_progress", "gpu")
