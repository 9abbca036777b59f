"""How late the REST API sees what has happened: every lag by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


def only(api: Api) -> Any:
    (runner,) = api.get(f"{api.repo}/actions/runners").json["runners"]
    assert api.get(f"{api.repo}/actions/runners/{runner['id']}").json == runner
    return runner


def test_without_lags_everything_shows_at_once(github: Simulator, api: Api) -> None:
    runner = github.add_runner(REPO, "node", status="offline")
    assert only(api)["status"] == "offline"
    github.set_runner(runner.id, status="online", busy=True)
    assert (only(api)["status"], only(api)["busy"]) == ("online", True)


def test_a_new_runner_is_missing_from_the_list(
    github: Simulator, api: Api, clock: VirtualClock
) -> None:
    github.knobs.runner_list_lag = 5
    github.add_runner(REPO, "node")
    clock.advance(4.9)
    assert api.get(f"{api.repo}/actions/runners").json == {"total_count": 0, "runners": []}
    clock.advance(0.1)
    assert only(api)["name"] == "node"


def test_busy_comes_and_goes_late(github: Simulator, api: Api, clock: VirtualClock) -> None:
    github.knobs.busy_lag = 60
    runner = github.add_runner(REPO, "node")
    clock.advance(100)
    github.set_runner(runner.id, busy=True)
    clock.advance(59)
    assert only(api)["busy"] is False
    clock.advance(1)
    assert only(api)["busy"] is True
    github.set_runner(runner.id, busy=False)
    assert only(api)["busy"] is True


def test_deletion_goes_by_what_is_and_not_by_what_shows(github: Simulator, api: Api) -> None:
    github.knobs.busy_lag = 60
    runner = github.add_runner(REPO, "node", busy=True)
    assert only(api)["busy"] is False
    assert api.delete(f"{api.repo}/actions/runners/{runner.id}").status_code == 422


def test_status_comes_late(github: Simulator, api: Api, clock: VirtualClock) -> None:
    github.knobs.status_lag = 10
    github.add_runner(REPO, "node", status="online", busy=True)
    assert (only(api)["status"], only(api)["busy"]) == ("offline", True)
    clock.advance(10)
    assert only(api)["status"] == "online"


def test_job_and_run_status_come_late(github: Simulator, api: Api, clock: VirtualClock) -> None:
    github.knobs.job_status_lag = 20
    job = github.queue_job(REPO, None, "test", ["gpu"])
    clock.advance(30)
    github.finish_job(job.id)
    paths = (f"{api.repo}/actions/jobs/{job.id}", f"{api.repo}/actions/runs/{job.run_id}")
    assert [api.get(path).json["status"] for path in paths] == ["queued", "queued"]
    listed = f"{api.repo}/actions/runs?status=completed"
    assert api.get(listed).json["total_count"] == 0
    clock.advance(20)
    assert [api.get(path).json["status"] for path in paths] == ["completed", "completed"]
    assert api.get(listed).json["total_count"] == 1
