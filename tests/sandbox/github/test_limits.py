"""Rate limits."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from sandbox.faults import Fault
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


class TestPrimary:
    @pytest.mark.parametrize(("token", "limit"), [("admin", 5000), ("job", 1000)])
    def test_the_budget_depends_on_the_kind_of_token(
        self, api: Api, token: str, limit: int
    ) -> None:
        reply = api.get(api.repo, token=token)
        assert reply.headers["X-RateLimit-Remaining"] == str(limit - 1)

    def test_an_exhausted_budget_refuses_until_the_hour_is_over(
        self, github: Simulator, api: Api, clock: VirtualClock
    ) -> None:
        github.set_rate_limit_used("admin", 4999)
        assert api.get(api.repo).headers["X-RateLimit-Remaining"] == "0"
        clock.advance(3599)
        refused = api.get(api.repo)
        assert refused.status_code == 403
        assert refused.headers["X-RateLimit-Remaining"] == "0"
        assert refused.json["message"].startswith("API rate limit exceeded for user ID ")
        assert refused.json["documentation_url"].endswith("/rate-limits-for-the-rest-api")
        clock.advance(1)
        assert api.get(api.repo).headers["X-RateLimit-Remaining"] == "4999"

    def test_an_app_is_called_an_installation(self, github: Simulator, api: Api) -> None:
        github.set_rate_limit_used("job", 1000)
        assert "installation ID" in api.get(api.repo, token="job").json["message"]

    def test_each_token_has_its_own_budget(self, api: Api) -> None:
        api.get(api.repo)
        assert api.get(api.repo, token="writer").headers["X-RateLimit-Used"] == "1"

    def test_asking_for_the_limit_is_free_even_when_exhausted(
        self, github: Simulator, api: Api
    ) -> None:
        github.set_rate_limit_used("admin", 5000)
        reply = api.get("/rate_limit")
        assert reply.status_code == 200
        assert reply.json["resources"]["core"]["remaining"] == 0
        assert reply.json["resources"]["actions_runner_registration"]["limit"] == 10000
        assert reply.json["rate"] == reply.json["resources"]["core"]

    def test_errors_are_counted(self, api: Api) -> None:
        api.get(f"{api.repo}/actions/runners/1")
        assert api.get(api.repo).headers["X-RateLimit-Used"] == "2"


class TestSecondary:
    def test_it_is_off_by_default(self, api: Api) -> None:
        path = f"{api.repo}/actions/runners/registration-token"
        assert {api.post(path).status_code for _ in range(181)} == {201}

    def test_points_a_minute(self, github: Simulator, api: Api, clock: VirtualClock) -> None:
        github.secondary_limits.points_per_minute = 900
        path = f"{api.repo}/actions/runners/registration-token"
        writes = [api.post(path).status_code for _ in range(181)]
        assert (writes.count(201), writes[-1]) == (180, 403)
        clock.advance(60)
        assert api.post(path).status_code == 201

    @pytest.mark.parametrize(
        ("status", "wait", "header"), [(403, 60, "60"), (429, None, None), (429, 5, "5")]
    )
    def test_how_it_is_said(
        self, github: Simulator, api: Api, status: int, wait: int | None, header: str | None
    ) -> None:
        limits = github.secondary_limits
        limits.points_per_minute, limits.status, limits.retry_after = 0, status, wait
        reply = api.get(api.repo)
        assert reply.status_code == status
        assert reply.headers.get("Retry-After") == header
        assert reply.headers["X-RateLimit-Remaining"] != "0"
        assert reply.json["message"].startswith("You have exceeded a secondary rate limit.")
        assert reply.json["documentation_url"].endswith("#about-secondary-rate-limits")

    def test_304_counts_for_it(self, github: Simulator, api: Api) -> None:
        github.secondary_limits.points_per_minute = 1
        etag = api.get(api.repo).headers["ETag"]
        assert api.get(api.repo, headers={"If-None-Match": etag}).status_code == 403

    def test_requests_at_the_same_time(self, github: Simulator, api: Api) -> None:
        github.secondary_limits.concurrent = 1
        held, go_on = threading.Event(), threading.Event()

        def hold(_: float) -> None:
            held.set()
            go_on.wait(60)

        github.wsgi.sleep = hold
        github.faults.add(Fault(r"GET /user", delay=1))
        slow = threading.Thread(target=api.get, args=("/user",))
        slow.start()
        assert held.wait(60)
        assert api.get(api.repo).status_code == 403
        go_on.set()
        slow.join(60)
        assert api.get(api.repo).status_code == 200
