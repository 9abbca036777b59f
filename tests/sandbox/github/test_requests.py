"""What holds for every request: headers, validators, versions, bodies, paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


class TestConditionalRequests:
    def test_an_unchanged_list_is_304_with_the_strong_validator_and_free(
        self, github: Simulator, api: Api
    ) -> None:
        github.add_runner(REPO, "node")
        path = f"{api.repo}/actions/runners"
        first = api.get(path)
        assert first.headers["ETag"].startswith('W/"')
        again = api.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"].removeprefix("W/")
        assert again.headers["X-RateLimit-Used"] == first.headers["X-RateLimit-Used"] == "1"
        assert again.headers["Cache-Control"] == "private, max-age=60, s-maxage=60"

    def test_the_strong_form_is_a_validator_too(self, api: Api) -> None:
        etag = api.get(f"{api.repo}/actions/runners").headers["ETag"].removeprefix("W/")
        again = api.get(f"{api.repo}/actions/runners", headers={"If-None-Match": etag})
        assert again.status_code == 304

    def test_a_changed_list_is_sent_and_counted(self, github: Simulator, api: Api) -> None:
        path = f"{api.repo}/actions/runners"
        etag = api.get(path).headers["ETag"]
        github.add_runner(REPO, "node")
        again = api.get(path, headers={"If-None-Match": etag})
        assert (again.status_code, again.json["total_count"]) == (200, 1)
        assert again.headers["X-RateLimit-Used"] == "2"


class TestHeaders:
    def test_every_reply_tells_the_budget(self, api: Api, clock: VirtualClock) -> None:
        headers = api.get(f"{api.repo}/actions/runners").headers
        reset = int(clock().timestamp()) + 3600
        assert headers["X-RateLimit-Limit"] == "5000"
        assert headers["X-RateLimit-Remaining"] == "4999"
        assert headers["X-RateLimit-Reset"] == str(reset)
        assert headers["X-RateLimit-Resource"] == "core"
        assert headers["x-github-api-version-selected"] == "2022-11-28"
        assert headers["Content-Type"] == "application/json; charset=utf-8"
        assert headers["X-GitHub-Request-Id"]

    def test_a_fine_grained_token_learns_the_permission_that_was_needed(
        self, github: Simulator, api: Api
    ) -> None:
        github.add_token("fine", orgs={"octo-org": "admin"}, kind="fine-grained")
        headers = api.get(f"{api.org}/actions/runners", token="fine").headers
        accepted = headers["X-Accepted-GitHub-Permissions"]
        assert accepted == "organization_self_hosted_runners=read"

    def test_a_request_without_user_agent_is_refused(self, api: Api) -> None:
        reply = api.get(f"{api.repo}/actions/runners", headers={"User-Agent": ""})
        assert reply.status_code == 403
        assert "User-Agent" in reply.json["message"]


class TestVersions:
    def test_an_unknown_version_is_refused(self, api: Api) -> None:
        reply = api.get("/user", headers={"X-GitHub-Api-Version": "2019-01-01"})
        assert reply.status_code == 400

    def test_the_newer_version_has_no_rate_in_the_rate_limit(self, api: Api) -> None:
        newer = api.get("/rate_limit", headers={"X-GitHub-Api-Version": "2026-03-10"})
        older = api.get("/rate_limit")
        assert ("rate" in newer.json, "rate" in older.json) == (False, True)
        assert newer.headers["x-github-api-version-selected"] == "2026-03-10"


class TestBodiesAndPaths:
    @pytest.mark.parametrize(
        ("body", "status", "message"),
        [
            (b"{", 400, "Problems parsing JSON"),
            (b"[1]", 400, "Body should be a JSON object"),
            (b"", 422, 'Invalid request.\n\n"ref" wasn\'t supplied.'),
        ],
    )
    def test_bad_bodies(self, api: Api, body: bytes, status: int, message: str) -> None:
        reply = api.post(f"{api.repo}/git/refs", data=body)
        assert (reply.status_code, reply.json["message"]) == (status, message)
        assert reply.json["status"] == str(status)
        assert reply.json["documentation_url"].startswith("https://docs.github.com/rest")

    @pytest.mark.parametrize(
        "path", ["/actions/runners/", "/actions/nothing", "/actions/runners/x"]
    )
    def test_other_paths_are_not_found(self, api: Api, path: str) -> None:
        reply = api.get(api.repo + path)
        assert (reply.status_code, reply.json["message"]) == (404, "Not Found")

    def test_a_method_that_is_not_there_is_not_found(self, api: Api) -> None:
        assert api.put(f"{api.repo}/actions/runners").status_code == 404
