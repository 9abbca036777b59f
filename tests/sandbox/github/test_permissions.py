"""Who may do what, and how GitHub says no."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"
BY_INTEGRATION = "Resource not accessible by integration"
BY_PERSONAL_TOKEN = "Resource not accessible by personal access token"


@pytest.mark.parametrize("authorization", ["Bearer wrong", "Basic admin", "Bearer"])
def test_bad_credentials(api: Api, authorization: str) -> None:
    headers = {"Authorization": authorization}
    reply = api.get(f"{api.repo}/actions/runners", token=None, headers=headers)
    assert reply.status_code == 401
    assert reply.json == {
        "message": "Bad credentials",
        "documentation_url": "https://docs.github.com/rest",
        "status": "401",
    }


def test_the_older_scheme_is_accepted(api: Api) -> None:
    headers = {"Authorization": "token admin"}
    assert api.get(api.repo, token=None, headers=headers).status_code == 200


def test_no_credentials(api: Api) -> None:
    reply = api.get(f"{api.repo}/actions/runners", token=None)
    assert (reply.status_code, reply.json["message"]) == (401, "Requires authentication")
    assert reply.headers["X-RateLimit-Limit"] == "60"


def test_an_expired_token_is_a_bad_one(github: Simulator, api: Api, clock: VirtualClock) -> None:
    github.add_token(
        "short", repos={REPO: "admin"}, kind="installation", expires_at=clock() + timedelta(hours=1)
    )
    assert api.get(api.repo, token="short").status_code == 200
    clock.advance(hours=1)
    assert api.get(api.repo, token="short").status_code == 401


def test_what_a_token_cannot_see_is_not_found(api: Api) -> None:
    assert api.get(api.repo, token="stranger").status_code == 404
    assert api.get(f"{api.repo}/actions/runs", token="stranger").status_code == 404
    assert api.get("/repos/octo-org/absent", token="admin").status_code == 404


def test_a_personal_token_without_admin_rights_finds_no_runner_endpoints(api: Api) -> None:
    for reply in (
        api.post(f"{api.repo}/actions/runners/registration-token", token="writer"),
        api.get(f"{api.repo}/actions/runners", token="writer"),
        api.post(f"{api.org}/actions/runners/registration-token", token="writer"),
    ):
        assert (reply.status_code, reply.json["message"]) == (404, "Not Found")


@pytest.mark.parametrize(
    ("method", "path", "permission"),
    [
        ("GET", "/actions/runners", "administration=read"),
        ("POST", "/actions/runners/registration-token", "administration=write"),
        ("POST", "/actions/runners/generate-jitconfig", "administration=write"),
        ("DELETE", "/actions/runners/1", "administration=write"),
        ("PUT", "/actions/runners/1/labels", "administration=write"),
        ("GET", "/actions/variables", "actions_variables=read"),
    ],
)
def test_the_token_of_a_job_cannot_manage_runners_or_variables(
    api: Api, method: str, path: str, permission: str
) -> None:
    reply = api(method, api.repo + path, token="job")
    assert (reply.status_code, reply.json["message"]) == (403, BY_INTEGRATION)
    assert reply.headers["X-Accepted-GitHub-Permissions"] == permission


def test_the_token_of_a_job_can_read_runs_and_write_refs(github: Simulator, api: Api) -> None:
    sha = github.state.refs.rows[REPO, "refs/heads/main"]
    body = {"ref": "refs/locks/a", "sha": sha}
    assert api.get(f"{api.repo}/actions/runs", token="job").status_code == 200
    assert api.post(f"{api.repo}/git/refs", body, token="job").status_code == 201


@pytest.mark.parametrize(
    ("kind", "message"),
    [("fine-grained", BY_PERSONAL_TOKEN), ("installation", BY_INTEGRATION)],
)
def test_permissions_narrow_a_token(github: Simulator, api: Api, kind: str, message: str) -> None:
    github.add_token(
        "narrow",
        repos={REPO: "admin"},
        kind=kind,  # type: ignore[arg-type]
        permissions={"administration": "read"},
    )
    runners = f"{api.repo}/actions/runners"
    assert api.get(runners, token="narrow").status_code == 200
    reply = api.post(f"{runners}/registration-token", token="narrow")
    assert (reply.status_code, reply.json["message"]) == (403, message)
    assert reply.headers["X-Accepted-GitHub-Permissions"] == "administration=write"
    assert api.get(f"{api.repo}/actions/runs", token="narrow").status_code == 403


def test_a_member_of_an_organization_does_not_see_its_runners(github: Simulator, api: Api) -> None:
    github.add_token("member", orgs={"octo-org": "member"})
    assert api.get(f"{api.org}/actions/runners", token="member").status_code == 404


@pytest.mark.parametrize("order", ["cancel", "force-cancel", "rerun", "rerun-failed-jobs"])
def test_a_reader_cannot_control_runs(github: Simulator, api: Api, order: str) -> None:
    github.add_token("reader", repos={REPO: "read"})
    run = github.add_run(REPO)
    path = f"{api.repo}/actions/runs/{run.id}"
    assert api.get(path, token="reader").status_code == 200
    reply = api.post(f"{path}/{order}", token="reader")
    assert reply.status_code == 403
    assert reply.json["message"] == "Must have admin rights to Repository."


def test_an_app_or_job_is_no_user(api: Api) -> None:
    assert api.get("/user", token="job").status_code == 403
    assert api.get("/user", token="writer").json["login"] == "octocat"


def test_an_unknown_organization_is_not_found(api: Api) -> None:
    assert api.get("/orgs/absent").status_code == 404
    assert api.get("/orgs/absent/actions/runners").status_code == 404
