"""Workflow runs and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


class TestStatus:
    @pytest.mark.parametrize(
        ("jobs", "status"),
        [
            (["queued", "in_progress"], "queued"),
            (["in_progress", "completed"], "in_progress"),
            (["queued", "completed"], "queued"),
            (["pending", "in_progress"], "pending"),
            (["waiting", "queued"], "waiting"),
            (["completed", "completed"], "completed"),
        ],
    )
    def test_a_run_is_as_far_as_its_least_advanced_job(
        self, github: Simulator, jobs: list[str], status: str
    ) -> None:
        run = github.add_run(REPO)
        for number, job in enumerate(jobs):
            github.queue_job(REPO, run.id, f"job-{number}", ["x"], status=job)
        assert github.runs()[0].status == status

    @pytest.mark.parametrize(
        ("jobs", "conclusion"),
        [
            (["success", "success"], "success"),
            (["success", "failure", "cancelled"], "failure"),
            (["success", "timed_out"], "failure"),
            (["success", "cancelled"], "cancelled"),
            (["success", "skipped"], "success"),
            (["skipped"], "skipped"),
        ],
    )
    def test_its_conclusion_follows_from_theirs(
        self, github: Simulator, jobs: list[str], conclusion: str
    ) -> None:
        run = github.add_run(REPO)
        made = [github.queue_job(REPO, run.id, f"{n}", ["x"]).id for n in range(len(jobs))]
        for job_id, job in zip(made, jobs, strict=True):
            assert github.runs()[0].conclusion is None
            github.finish_job(job_id, job)
        assert github.runs()[0].conclusion == conclusion

    def test_a_run_can_wait_for_jobs_that_are_not_there_yet(self, github: Simulator) -> None:
        run = github.add_run(REPO, stays_open=True)
        github.finish_job(github.queue_job(REPO, run.id, "start", ["x"]).id)
        assert github.runs()[0].status == "in_progress"
        github.finish_job(github.queue_job(REPO, run.id, "test", ["x"]).id)
        assert github.close_run(run.id).conclusion == "success"

    def test_a_hosted_job_has_the_group_zero(self, github: Simulator, api: Api) -> None:
        job = github.queue_job(REPO, None, "start", ["ubuntu-latest"])
        github.set_job(
            job.id,
            status="in_progress",
            runner_id=7,
            runner_name="GitHub Actions 7",
            runner_group_id=0,
            runner_group_name="GitHub Actions",
        )
        seen = api.get(f"{api.repo}/actions/jobs/{job.id}").json
        assert (seen["runner_name"], seen["runner_group_id"]) == ("GitHub Actions 7", 0)
        assert github.runs()[0].status == "in_progress"


class TestList:
    @pytest.fixture
    def ids(self, github: Simulator, clock: VirtualClock) -> dict[str, int]:
        runs = {}
        for name, fields in {
            "old": {"status": "completed", "conclusion": "success"},
            "failed": {"status": "completed", "conclusion": "failure", "event": "schedule"},
            "branch": {"head_branch": "topic", "actor": "mona", "status": "in_progress"},
            "new": {"head_sha": "a" * 40},
        }.items():
            runs[name] = github.add_run(REPO, **fields).id
            clock.advance(days=1)
        return runs

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("", ["new", "branch", "failed", "old"]),
            ("status=completed", ["failed", "old"]),
            ("status=failure", ["failed"]),
            ("status=queued", ["new"]),
            ("status=pending", []),
            ("status=nonsense", []),
            ("branch=topic", ["branch"]),
            ("actor=mona", ["branch"]),
            ("event=schedule", ["failed"]),
            (f"head_sha={'a' * 40}", ["new"]),
            ("created=>=2026-11-04", ["new", "branch"]),
            ("created=<2026-11-03", ["old"]),
            ("created=2026-11-03", ["failed"]),
            ("created=2026-11-02..2026-11-03", ["failed", "old"]),
            ("created=>2026-11-04T09:00:00Z", ["new"]),
            ("status=completed&event=push", ["old"]),
        ],
    )
    def test_filters(self, api: Api, ids: dict[str, int], query: str, names: list[str]) -> None:
        body = api.get(f"{api.repo}/actions/runs?{query}").json
        assert [run["id"] for run in body["workflow_runs"]] == [ids[name] for name in names]
        assert body["total_count"] == len(names)

    def test_a_date_that_is_none(self, api: Api) -> None:
        assert api.get(f"{api.repo}/actions/runs?created=yesterday").status_code == 422

    def test_a_search_ends_after_a_thousand(self, github: Simulator, api: Api) -> None:
        for _ in range(1005):
            github.add_run(REPO)
        path = f"{api.repo}/actions/runs?per_page=100"
        searched = api.get(f"{path}&status=queued&page=11").json
        assert (searched["total_count"], searched["workflow_runs"]) == (1005, [])
        assert len(api.get(f"{path}&page=11").json["workflow_runs"]) == 5

    def test_runs_of_a_workflow_by_file_name_and_id(self, github: Simulator, api: Api) -> None:
        github.add_run(REPO, path=".github/workflows/nightly.yml")
        run = github.add_run(REPO)
        for workflow in ("ci.yml", run.workflow_id):
            body = api.get(f"{api.repo}/actions/workflows/{workflow}/runs").json
            assert [found["id"] for found in body["workflow_runs"]] == [run.id]
        assert api.get(f"{api.repo}/actions/workflows/none.yml/runs").status_code == 404

    def test_a_run_of_another_repository_is_not_found(self, github: Simulator, api: Api) -> None:
        github.add_repository("octo-org/other")
        job = github.queue_job("octo-org/other", None, "test", ["x"])
        assert api.get(f"{api.repo}/actions/runs/{job.run_id}").status_code == 404
        assert api.get(f"{api.repo}/actions/jobs/{job.id}").status_code == 404


class TestAttempts:
    @pytest.fixture
    def run_id(self, github: Simulator) -> int:
        """A run with one job that succeeded and one that failed."""
        run = github.add_run(REPO)
        for name, conclusion in (("good", "success"), ("bad", "failure")):
            github.finish_job(github.queue_job(REPO, run.id, name, ["x"]).id, conclusion)
        return run.id

    def jobs(self, api: Api, path: str) -> list[tuple[str, int, str, str | None]]:
        body = api.get(f"{api.repo}/actions/runs/{path}").json
        keys = ("name", "run_attempt", "status", "conclusion")
        return [tuple(job[key] for key in keys) for job in body["jobs"]]

    def test_rerun_makes_new_jobs_in_a_new_attempt(
        self, github: Simulator, api: Api, run_id: int, clock: VirtualClock
    ) -> None:
        before = {job.id for job in github.jobs()}
        clock.advance(60)
        reply = api.post(f"{api.repo}/actions/runs/{run_id}/rerun", {"enable_debug_logging": True})
        assert (reply.status_code, reply.json) == (201, {})
        assert self.jobs(api, f"{run_id}/jobs") == [
            ("good", 2, "queued", None),
            ("bad", 2, "queued", None),
        ]
        assert len({job.id for job in github.jobs()} - before) == 2
        run = api.get(f"{api.repo}/actions/runs/{run_id}").json
        assert (run["run_attempt"], run["status"], run["conclusion"]) == (2, "queued", None)
        assert (run["created_at"], run["run_started_at"]) == (
            "2026-11-02T09:00:00Z",
            "2026-11-02T09:01:00Z",
        )
        assert run["previous_attempt_url"].endswith(f"/runs/{run_id}/attempts/1")

    def test_rerun_of_what_failed_lists_the_rest_again(self, api: Api, run_id: int) -> None:
        path = f"{api.repo}/actions/runs/{run_id}/rerun-failed-jobs"
        assert api.post(path).status_code == 201
        assert self.jobs(api, f"{run_id}/jobs") == [
            ("good", 2, "completed", "success"),
            ("bad", 2, "queued", None),
        ]

    def test_rerun_of_one_job(self, github: Simulator, api: Api, run_id: int) -> None:
        good = github.jobs()[0]
        assert api.post(f"{api.repo}/actions/jobs/{good.id}/rerun").status_code == 201
        assert sorted(self.jobs(api, f"{run_id}/jobs")) == [
            ("bad", 2, "completed", "failure"),
            ("good", 2, "queued", None),
        ]

    def test_attempts_are_kept(self, api: Api, run_id: int) -> None:
        api.post(f"{api.repo}/actions/runs/{run_id}/rerun")
        assert self.jobs(api, f"{run_id}/attempts/1/jobs") == [
            ("good", 1, "completed", "success"),
            ("bad", 1, "completed", "failure"),
        ]
        assert len(self.jobs(api, f"{run_id}/jobs?filter=all")) == 4
        assert len(self.jobs(api, f"{run_id}/jobs?filter=latest")) == 2
        first = api.get(f"{api.repo}/actions/runs/{run_id}/attempts/1").json
        assert (first["run_attempt"], first["conclusion"]) == (1, "failure")

    @pytest.mark.parametrize("attempt", [0, 2])
    def test_an_attempt_that_never_was_is_not_found(
        self, api: Api, run_id: int, attempt: int
    ) -> None:
        path = f"{api.repo}/actions/runs/{run_id}/attempts/{attempt}"
        assert api.get(path).status_code == 404
        assert api.get(f"{path}/jobs").status_code == 404

    def test_another_filter_is_refused(self, api: Api, run_id: int) -> None:
        assert api.get(f"{api.repo}/actions/runs/{run_id}/jobs?filter=x").status_code == 422

    def test_a_run_under_way_cannot_be_run_again(self, github: Simulator, api: Api) -> None:
        run = github.add_run(REPO)
        assert api.post(f"{api.repo}/actions/runs/{run.id}/rerun").status_code == 403

    def test_nor_can_one_of_more_than_a_month_ago(
        self, api: Api, run_id: int, clock: VirtualClock
    ) -> None:
        clock.advance(days=30, seconds=1)
        reply = api.post(f"{api.repo}/actions/runs/{run_id}/rerun")
        assert reply.status_code == 403
        assert "over a month ago" in reply.json["message"]


class TestCancel:
    def test_waiting_jobs_end_at_once(self, github: Simulator, api: Api) -> None:
        github.add_runner(REPO, "node", ["x"])
        run = github.add_run(REPO)
        for name in ("first", "second"):
            github.queue_job(REPO, run.id, name, ["x"])
        reply = api.post(f"{api.repo}/actions/runs/{run.id}/cancel")
        assert (reply.status_code, reply.json) == (202, {})
        assert [job.conclusion for job in github.jobs()] == ["cancelled", "cancelled"]
        assert github.runs()[0].conclusion == "cancelled"
        assert github.runners()[0].job_id is None

    def test_a_runner_that_one_job_leaves_does_not_keep_the_next(
        self, github: Simulator, api: Api
    ) -> None:
        github.knobs.auto_acquire = True
        github.add_runner(REPO, "node", ["x"])
        run = github.add_run(REPO)
        for name in ("first", "second"):
            github.queue_job(REPO, run.id, name, ["x"])
        api.post(f"{api.repo}/actions/runs/{run.id}/cancel")
        assert [job.conclusion for job in github.jobs()] == ["cancelled", "cancelled"]
        assert (github.runners()[0].busy, github.runners()[0].job_id) == (False, None)

    def test_a_run_without_jobs_is_cancelled_too(self, github: Simulator, api: Api) -> None:
        run = github.add_run(REPO)
        api.post(f"{api.repo}/actions/runs/{run.id}/cancel")
        assert github.runs()[0].conclusion == "cancelled"

    @pytest.mark.parametrize("order", ["cancel", "force-cancel"])
    def test_a_completed_run_cannot_be_cancelled(
        self, github: Simulator, api: Api, order: str
    ) -> None:
        job = github.finish_job(github.queue_job(REPO, None, "test", ["x"]).id)
        reply = api.post(f"{api.repo}/actions/runs/{job.run_id}/{order}")
        assert reply.status_code == 409
        assert reply.json["message"] == "Cannot cancel a workflow run that is completed."

    def running(self, github: Simulator) -> Any:
        runner = github.add_runner(REPO, "node", ["x"])
        github.set_runner(runner.id, connected=True)
        return github.acquire_job(github.queue_job(REPO, None, "test", ["x"]).id)

    def test_a_job_under_way_has_five_minutes(
        self, github: Simulator, api: Api, clock: VirtualClock
    ) -> None:
        job = self.running(github)
        api.post(f"{api.repo}/actions/runs/{job.run_id}/cancel")
        clock.advance(299)
        assert (github.job(job.id).status, github.job(job.id).cancel_requested) == (
            "in_progress",
            True,
        )
        clock.advance(1)
        assert github.job(job.id).conclusion == "cancelled"

    def test_force_ends_it_at_once(self, github: Simulator, api: Api) -> None:
        job = self.running(github)
        api.post(f"{api.repo}/actions/runs/{job.run_id}/force-cancel")
        assert github.job(job.id).conclusion == "cancelled"


class TestDispatches:
    def path(self, github: Simulator, api: Api) -> str:
        github.finish_job(github.queue_job(REPO, None, "test", ["x"]).id)
        return f"{api.repo}/actions/workflows/ci.yml/dispatches"

    def test_it_makes_a_run(self, github: Simulator, api: Api) -> None:
        reply = api.post(self.path(github, api), {"ref": "main", "inputs": {"a": "b"}})
        assert (reply.status_code, reply.data) == (204, b"")
        run = github.runs()[-1]
        assert (run.event, run.head_branch, run.status) == ("workflow_dispatch", "main", "queued")

    def test_it_says_which_run_if_asked_or_in_the_newer_version(
        self, github: Simulator, api: Api
    ) -> None:
        path = self.path(github, api)
        asked = api.post(path, {"ref": "main", "return_run_details": True})
        newer = api.post(path, {"ref": "main"}, headers={"X-GitHub-Api-Version": "2026-03-10"})
        made = [run.id for run in github.runs()[1:]]
        assert [asked.json["workflow_run_id"], newer.json["workflow_run_id"]] == made

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({}, 'Invalid request.\n\n"ref" wasn\'t supplied.'),
            ({"ref": "absent"}, "No ref found for: absent"),
            ({"ref": "main", "inputs": {str(n): "x" for n in range(26)}}, "Validation Failed"),
        ],
    )
    def test_refusals(
        self, github: Simulator, api: Api, body: dict[str, Any], message: str
    ) -> None:
        reply = api.post(self.path(github, api), body)
        assert (reply.status_code, reply.json["message"]) == (422, message)
        assert len(github.runs()) == 1

    def test_an_unknown_workflow_is_not_found(self, api: Api) -> None:
        path = f"{api.repo}/actions/workflows/none.yml/dispatches"
        assert api.post(path, {"ref": "main"}).status_code == 404
