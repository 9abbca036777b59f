"""Which job goes to which runner, and what becomes of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sandbox.github import Label, Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


class TestMatching:
    @pytest.mark.parametrize(
        ("runs_on", "goes"),
        [
            (["gpu"], True),
            (["gpu", "big"], True),
            (["GPU", "Big"], True),
            (["self-hosted", "linux", "x64", "gpu"], True),
            (["gpu", "other"], False),
            (["gpu", "arm64"], False),
        ],
    )
    def test_a_runner_must_have_all_labels(
        self, github: Simulator, runs_on: list[str], goes: bool
    ) -> None:
        runner = github.add_runner(REPO, "node", ["gpu", "big"], default_labels=True)
        job = github.queue_job(REPO, None, "test", runs_on)
        assert (job.dispatched_to == runner.id) is goes

    def test_a_runner_need_not_have_default_labels(self, github: Simulator) -> None:
        runner = github.add_runner(REPO, "node", ["lease"])
        assert github.queue_job(REPO, None, "test", ["lease"]).dispatched_to == runner.id

    @pytest.mark.parametrize(("status", "busy"), [("offline", False), ("online", True)])
    def test_it_must_be_online_and_idle(self, github: Simulator, status: str, busy: bool) -> None:
        github.add_runner(REPO, "node", ["gpu"], status=status, busy=busy)
        assert github.queue_job(REPO, None, "test", ["gpu"]).dispatched_to is None

    def test_a_runner_gets_one_job_at_a_time(self, github: Simulator) -> None:
        github.add_runner(REPO, "node", ["gpu"])
        first = github.queue_job(REPO, None, "first", ["gpu"])
        second = github.queue_job(REPO, None, "second", ["gpu"])
        assert second.dispatched_to is None
        github.acquire_job(first.id)
        github.finish_job(first.id)
        assert github.job(second.id).dispatched_to == first.dispatched_to

    def test_an_organization_serves_its_repositories_only(self, github: Simulator) -> None:
        github.add_repository("octo-org/other")
        github.add_repository("elsewhere/project")
        github.add_runner("octo-org", "one", ["gpu"])
        assert github.queue_job("elsewhere/project", None, "test", ["gpu"]).dispatched_to is None
        assert github.queue_job("octo-org/other", None, "test", ["gpu"]).dispatched_to

    def test_a_repository_serves_itself_only(self, github: Simulator) -> None:
        github.add_repository("octo-org/other")
        github.add_runner(REPO, "one", ["gpu"])
        assert github.queue_job("octo-org/other", None, "test", ["gpu"]).dispatched_to is None


class TestWhenAJobThatWaitsIsLookedAtAgain:
    def test_a_runner_comes_online(self, github: Simulator) -> None:
        job = github.queue_job(REPO, None, "test", ["gpu"])
        runner = github.add_runner(REPO, "node", ["gpu"], status="offline")
        assert github.job(job.id).dispatched_to is None
        github.set_runner(runner.id, status="online")
        assert github.job(job.id).dispatched_to == runner.id

    def test_a_label_is_added(self, github: Simulator, api: Api) -> None:
        runner = github.add_runner(REPO, "node")
        job = github.queue_job(REPO, None, "test", ["lease"])
        api.post(f"{api.repo}/actions/runners/{runner.id}/labels", {"labels": ["lease"]})
        assert github.job(job.id).dispatched_to == runner.id

    def test_labels_reach_the_matcher_late(
        self, github: Simulator, api: Api, clock: VirtualClock
    ) -> None:
        github.knobs.matcher_label_lag = 30
        runner = github.add_runner(REPO, "node", ["old"])
        clock.advance(30)
        api.put(f"{api.repo}/actions/runners/{runner.id}/labels", {"labels": ["new"]})
        job = github.queue_job(REPO, None, "test", ["new"])
        clock.advance(29)
        assert github.job(job.id).dispatched_to is None
        clock.advance(1)
        assert github.job(job.id).dispatched_to == runner.id


class TestTwoSteps:
    def test_before_it_is_acquired_nothing_shows(self, github: Simulator, api: Api) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"])
        job = github.queue_job(REPO, None, "test", ["gpu"])
        seen = api.get(f"{api.repo}/actions/jobs/{job.id}").json
        assert (seen["status"], seen["runner_id"], seen["runner_name"]) == ("queued", None, None)
        assert seen["started_at"] == seen["created_at"]
        assert api.get(f"{api.repo}/actions/runners/{runner.id}").json["busy"] is False

    def test_after_it_both_sides_know(
        self, github: Simulator, api: Api, clock: VirtualClock
    ) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"])
        job = github.queue_job(REPO, None, "test", ["gpu"])
        clock.advance(7)
        github.acquire_job(job.id)
        seen = api.get(f"{api.repo}/actions/jobs/{job.id}").json
        assert (seen["status"], seen["runner_id"], seen["runner_name"]) == (
            "in_progress",
            runner.id,
            "node",
        )
        assert (seen["runner_group_id"], seen["runner_group_name"]) == (1, "Default")
        assert (seen["created_at"], seen["started_at"]) == (
            "2026-11-02T09:00:00Z",
            "2026-11-02T09:00:07Z",
        )
        assert api.get(f"{api.repo}/actions/runners/{runner.id}").json["busy"] is True

    def test_not_picked_up_in_sixty_seconds_it_goes_to_another(
        self, github: Simulator, clock: VirtualClock
    ) -> None:
        slow = github.add_runner(REPO, "slow", ["gpu"])
        job = github.queue_job(REPO, None, "test", ["gpu"])
        other = github.add_runner(REPO, "other", ["gpu"])
        clock.advance(59)
        assert github.job(job.id).dispatched_to == slow.id
        clock.advance(1)
        assert github.job(job.id).dispatched_to == other.id
        assert [event.kind for event in github.history if event.kind.startswith("job_")] == [
            "job_queued",
            "job_dispatched",
            "job_requeued",
            "job_dispatched",
        ]

    def test_the_runner_that_let_it_pass_gets_what_else_it_fits(
        self, github: Simulator, clock: VirtualClock
    ) -> None:
        slow = github.add_runner(REPO, "slow", ["gpu", "big"])
        github.queue_job(REPO, None, "first", ["gpu"])
        second = github.queue_job(REPO, None, "second", ["big"])
        github.add_runner(REPO, "other", ["gpu"])
        clock.advance(60)
        assert github.job(second.id).dispatched_to == slow.id

    def test_queued_for_a_day_it_has_failed(self, github: Simulator, clock: VirtualClock) -> None:
        job = github.queue_job(REPO, None, "test", ["gpu"])
        clock.advance(hours=23.99)
        assert github.job(job.id).status == "queued"
        clock.advance(hours=0.02)
        assert (github.job(job.id).status, github.job(job.id).conclusion) == (
            "completed",
            "failure",
        )
        assert github.runs()[0].conclusion == "failure"

    def test_offers_that_pass_do_not_extend_the_day(
        self, github: Simulator, clock: VirtualClock
    ) -> None:
        github.add_runner(REPO, "silent", ["gpu"])
        job = github.queue_job(REPO, None, "test", ["gpu"])
        clock.advance(hours=24)
        assert github.job(job.id).conclusion == "failure"

    def test_runners_without_a_process_can_take_jobs_by_themselves(self, github: Simulator) -> None:
        github.knobs.auto_acquire = True
        runner = github.add_runner(REPO, "node", ["gpu"])
        assert github.queue_job(REPO, None, "test", ["gpu"]).status == "in_progress"
        assert github.runner(runner.id).busy


class TestDeletionInTheDispatchWindow:
    def test_it_is_allowed_and_the_job_comes_back_after_sixty_seconds(
        self, github: Simulator, api: Api, clock: VirtualClock
    ) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"])
        job = github.queue_job(REPO, None, "test", ["gpu"])
        assert api.delete(f"{api.repo}/actions/runners/{runner.id}").status_code == 204
        other = github.add_runner(REPO, "other", ["gpu"])
        clock.advance(59)
        assert github.job(job.id).dispatched_to == runner.id
        clock.advance(1)
        assert github.job(job.id).dispatched_to == other.id

    def test_the_job_can_take_longer_to_come_back(
        self, github: Simulator, clock: VirtualClock
    ) -> None:
        github.knobs.lost_job_requeue = 600
        runner = github.add_runner(REPO, "node", ["gpu"])
        job = github.queue_job(REPO, None, "test", ["gpu"])
        github.remove_runner(runner.id)
        other = github.add_runner(REPO, "other", ["gpu"])
        clock.advance(599)
        assert github.job(job.id).dispatched_to == runner.id
        clock.advance(1)
        assert github.job(job.id).dispatched_to == other.id

    def test_it_can_be_refused(self, github: Simulator, api: Api) -> None:
        github.knobs.delete_while_dispatched = "refuse"
        runner = github.add_runner(REPO, "node", ["gpu"])
        github.queue_job(REPO, None, "test", ["gpu"])
        assert api.delete(f"{api.repo}/actions/runners/{runner.id}").status_code == 422

    def test_after_acquisition_it_is_refused(self, github: Simulator, api: Api) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"])
        github.acquire_job(github.queue_job(REPO, None, "test", ["gpu"]).id)
        assert api.delete(f"{api.repo}/actions/runners/{runner.id}").status_code == 422


class TestAfterTheJob:
    def test_an_ephemeral_runner_leaves(self, github: Simulator, api: Api) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"], ephemeral=True)
        job = github.queue_job(REPO, None, "test", ["gpu"])
        github.acquire_job(job.id)
        github.finish_job(job.id)
        assert github.runners() == []
        assert api.delete(f"{api.repo}/actions/runners/{runner.id}").status_code == 404
        assert api.get(f"{api.repo}/actions/jobs/{job.id}").json["runner_name"] == "node"

    def test_an_ephemeral_runner_that_never_had_a_job_stays(self, github: Simulator) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"], ephemeral=True)
        job = github.queue_job(REPO, None, "test", ["gpu"])
        github.finish_job(job.id, "cancelled")
        assert github.runner(runner.id).job_id is None

    def test_its_record_can_linger(self, github: Simulator, api: Api, clock: VirtualClock) -> None:
        github.knobs.ephemeral_linger = 20
        runner = github.add_runner(REPO, "node", ["gpu"], ephemeral=True)
        job = github.queue_job(REPO, None, "test", ["gpu"])
        github.acquire_job(job.id)
        github.finish_job(job.id)
        path = f"{api.repo}/actions/runners"
        body = {"name": "node", "runner_group_id": 1, "labels": ["a"]}
        waiting = github.queue_job(REPO, None, "next", ["gpu"])
        assert api.delete(f"{path}/{runner.id}").status_code == 422
        assert api.post(f"{path}/generate-jitconfig", body).status_code == 409
        assert waiting.dispatched_to is None
        token = api.post(f"{path}/registration-token").json["token"]
        again = {"url": f"http://127.0.0.1/{REPO}", "token": token, "name": "node", "replace": True}
        assert api.post("/_runner/register", again, token=None).status_code == 409
        clock.advance(20)
        assert api.delete(f"{path}/{runner.id}").status_code == 404
        assert api.post(f"{path}/generate-jitconfig", body).status_code == 201

    def test_a_job_completed_twice_keeps_its_first_conclusion(self, github: Simulator) -> None:
        job = github.queue_job(REPO, None, "test", ["gpu"])
        github.finish_job(job.id, "cancelled")
        assert github.finish_job(job.id, "success").conclusion == "cancelled"
        completed = [event for event in github.history if event.kind == "job_completed"]
        assert len(completed) == 1


class TestRunnersThatStayAway:
    @pytest.mark.parametrize(("ephemeral", "days"), [(True, 1), (False, 14)])
    def test_they_are_forgotten(
        self, github: Simulator, clock: VirtualClock, ephemeral: bool, days: int
    ) -> None:
        github.add_runner(REPO, "node", status="offline", ephemeral=ephemeral)
        clock.advance(days=days, seconds=-1)
        assert len(github.runners()) == 1
        clock.advance(1)
        assert github.runners() == []

    def test_the_days_are_counted_from_the_last_connection(
        self, github: Simulator, clock: VirtualClock
    ) -> None:
        runner = github.add_runner(REPO, "node", status="offline", ephemeral=True)
        clock.advance(hours=20)
        github.set_runner(runner.id, status="online")
        clock.advance(hours=1)
        github.set_runner(runner.id, status="offline")
        clock.advance(hours=23.9)
        assert len(github.runners()) == 1
        clock.advance(hours=0.1)
        assert github.runners() == []

    def test_one_that_dies_with_a_job_stays_busy_until_the_job_has_failed(
        self, github: Simulator, api: Api, clock: VirtualClock
    ) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"])
        job = github.queue_job(REPO, None, "test", ["gpu"])
        github.acquire_job(job.id)
        github.set_runner(runner.id, status="offline")
        clock.advance(599)
        path = f"{api.repo}/actions/runners/{runner.id}"
        seen = api.get(path).json
        assert (seen["status"], seen["busy"]) == ("offline", True)
        assert api.delete(path).status_code == 422
        clock.advance(1)
        assert github.job(job.id).conclusion == "failure"
        assert api.delete(path).status_code == 204


class TestReplacement:
    def register(self, api: Api, labels: list[str]) -> int:
        token = api.post(f"{api.repo}/actions/runners/registration-token").json["token"]
        body = {
            "url": f"http://127.0.0.1/{REPO}",
            "token": token,
            "name": "node",
            "labels": labels,
            "replace": True,
            "no_default_labels": True,
        }
        reply = api.post("/_runner/register", body, token=None)
        api.post("/_runner/session", token=reply.json["credential"])
        found: int = reply.json["id"]
        return found

    def test_it_keeps_the_id_and_changes_the_labels(self, github: Simulator, api: Api) -> None:
        first, second = self.register(api, ["old"]), self.register(api, ["new"])
        assert first == second
        assert github.runner(first).labels == (Label("new"),)
        assert github.queue_job(REPO, None, "test", ["old"]).dispatched_to is None

    def test_jobs_for_the_old_labels_can_still_come(self, github: Simulator, api: Api) -> None:
        """actions/runner #4225."""
        github.knobs.stale_labels_after_replace = True
        self.register(api, ["old"])
        runner = self.register(api, ["new"])
        assert github.queue_job(REPO, None, "test", ["old"]).dispatched_to == runner
