"""Control from other processes, the history, and starting afresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


class TestControl:
    def test_state_is_set_and_shown(self, api: Api) -> None:
        wanted = {
            "repositories": ["octo-org/new"],
            "tokens": [{"token": "t", "repos": {"octo-org/new": "read"}, "kind": "fine-grained"}],
            "runners": [{"scope": "octo-org/new", "name": "node", "labels": ["a"], "busy": True}],
            "knobs": {"busy_lag": 3},
        }
        shown = api.put("/_sandbox/state", wanted, token=None).json
        assert shown["repositories"] == [REPO, "octo-org/new"]
        assert [(runner["name"], runner["busy"]) for runner in shown["runners"]] == [("node", True)]
        assert shown["knobs"]["busy_lag"] == 3
        assert api.get("/repos/octo-org/new", token="t").status_code == 200
        assert api.get("/_sandbox/state", token=None).json == shown

    def test_an_unknown_knob_is_refused_by_name(self, api: Api) -> None:
        reply = api.put("/_sandbox/state", {"knobs": {"speed": 1}})
        assert reply.status_code == 422
        assert reply.json["message"].startswith("there is no knob speed; there are ")

    def test_faults_are_added_and_cleared(self, api: Api) -> None:
        rules = [{"operation": "GET /user", "status": 500, "times": None}]
        assert api.post("/_sandbox/faults", rules).status_code == 204
        assert api.get("/user").status_code == 500
        assert api.delete("/_sandbox/faults").status_code == 204
        assert api.get("/user").status_code == 200

    def test_the_faults_in_force_are_listed(self, api: Api) -> None:
        rules = [{"operation": "GET /user", "status": 500, "times": 2}, {"operation": "Run"}]
        api.post("/_sandbox/faults", rules)
        api.get("/user")
        shown = api.get("/_sandbox/faults").json
        assert [(fault["operation"], fault["times"]) for fault in shown] == [
            ("GET /user", 1),
            ("Run", 1),
        ]
        api.get("/user")
        assert [fault["operation"] for fault in api.get("/_sandbox/faults").json] == ["Run"]

    @pytest.mark.parametrize(
        ("fault", "message"),
        [
            ({"operation": "x", "statsu": 500}, "a fault has no field 'statsu'; there are: body,"),
            ({"status": 500}, "a fault needs the field 'operation'"),
            ({"operation": "x", "status": "500"}, "status of a fault is to be a whole number, not"),
            ({"operation": "x", "when": "never"}, "when of a fault is to be 'before' or 'after'"),
            ({"operation": "x", "times": True}, "times of a fault is to be a whole number or null"),
            ({"operation": "("}, "a fault has a regular expression that is none: "),
            ("RunInstances", "a fault is a JSON object"),
        ],
    )
    def test_a_wrong_fault_is_refused_by_the_field(
        self, api: Api, fault: object, message: str
    ) -> None:
        reply = api.post("/_sandbox/faults", fault)
        assert reply.status_code == 400
        assert reply.json["message"].startswith(message)
        assert api.get("/_sandbox/faults").json == []

    def test_what_is_not_json_is_refused(self, api: Api) -> None:
        reply = api("POST", "/_sandbox/faults", data=b"{operation")
        assert reply.status_code == 400
        assert reply.json["message"].startswith("the body is not JSON: ")

    def test_a_wrong_job_is_refused_by_the_field(self, api: Api) -> None:
        reply = api.post("/_sandbox/jobs", {"repository": REPO, "name": "x", "labels": [], "a": 1})
        assert reply.status_code == 400
        assert reply.json["message"].endswith("got an unexpected keyword argument 'a'")

    def test_a_job_is_queued_acquired_and_finished(self, github: Simulator, api: Api) -> None:
        github.add_runner(REPO, "node", ["gpu"])
        run = api.post("/_sandbox/runs", {"repository": REPO, "name": "nightly"}).json
        job = api.post(
            "/_sandbox/jobs",
            {"repository": REPO, "run_id": run["id"], "name": "test", "labels": ["gpu"]},
        ).json
        path = f"/_sandbox/jobs/{job['id']}"
        assert api.post(f"{path}/acquire").json["status"] == "in_progress"
        assert api.post(f"{path}/finish", {"conclusion": "failure"}).json["conclusion"] == "failure"
        assert github.runs()[0].name == "nightly"

    def test_calls_and_history_are_shown(self, api: Api, github: Simulator) -> None:
        api.get("/user")
        github.add_runner(REPO, "node")
        (call,) = api.get("/_sandbox/calls").json
        assert (call["operation"], call["status"]) == ("GET /user", 200)
        events = api.get("/_sandbox/history").json
        last = api.get(f"/_sandbox/history?after={events[-2]['sequence']}").json
        assert last == events[-1:]


class TestHistory:
    def test_it_tells_a_whole_story_in_order(self, github: Simulator, clock: VirtualClock) -> None:
        start = len(github.history)
        runner = github.add_runner(REPO, "node", ["gpu"], ephemeral=True)
        clock.advance(5)
        job = github.queue_job(REPO, None, "test", ["gpu"])
        github.acquire_job(job.id)
        github.finish_job(job.id)
        events = github.history[start:]
        assert [event.kind for event in events] == [
            "runner_registered",
            "runner_online",
            "run_created",
            "job_queued",
            "job_dispatched",
            "job_acquired",
            "runner_busy",
            "run_status",
            "job_completed",
            "run_status",
            "runner_idle",
            "runner_removed",
        ]
        assert [event.sequence for event in events] == list(range(start + 1, start + 13))
        assert events[-1].fields["runner_id"] == runner.id
        assert (events[-1].at - events[0].at).total_seconds() == 5

    def test_what_time_brings_is_dated_when_it_was_due(
        self, github: Simulator, clock: VirtualClock
    ) -> None:
        began = clock()
        github.queue_job(REPO, None, "test", ["gpu"])
        clock.advance(hours=100)
        github.tick()
        completed = next(event for event in github.history if event.kind == "job_completed")
        assert (completed.at - began).total_seconds() == 24 * 3600

    def test_replaying_it_gives_the_present_labels_and_states(
        self, github: Simulator, api: Api
    ) -> None:
        for number in range(5):
            github.add_runner(REPO, f"node-{number}", ["gpu"], status="offline")
        path = f"{api.repo}/actions/runners"
        for runner in github.runners():
            api.post(f"{path}/{runner.id}/labels", {"labels": [f"l{runner.id}"]})
            github.set_runner(runner.id, status="online")
        api.delete(f"{path}/{github.runners()[0].id}")
        labels: dict[int, list[str]] = {}
        status: dict[int, str] = {}
        for event in github.history:
            about = int(event.fields.get("runner_id", 0))
            if event.kind == "runner_registered":
                labels[about], status[about] = event.fields["labels"], "offline"
            elif event.kind == "labels_changed":
                assert labels[about] == event.fields["before"]
                labels[about] = event.fields["after"]
            elif event.kind in ("runner_online", "runner_offline"):
                status[about] = event.kind.removeprefix("runner_")
            elif event.kind == "runner_removed":
                del labels[about], status[about]
        assert labels == {runner.id: runner.label_names for runner in github.runners()}
        assert status == {runner.id: runner.status for runner in github.runners()}


def test_reset_keeps_who_may_do_what_and_forgets_what_happened(github: Simulator, api: Api) -> None:
    github.add_runner(REPO, "node", ["gpu"])
    github.queue_job(REPO, None, "test", ["gpu"])
    api.post(f"{api.repo}/actions/variables", {"name": "A", "value": "1"})
    sha = github.state.refs.rows[REPO, "refs/heads/main"]
    api.post(f"{api.repo}/git/refs", {"ref": "refs/leases/a", "sha": sha})
    github.knobs.busy_lag = 9
    github.set_rate_limit_used("admin", 5000)
    github.reset()
    assert (github.runners(), github.jobs(), github.runs(), github.history) == ([], [], [], [])
    assert github.knobs.busy_lag == 0
    assert api.get(f"{api.repo}/actions/variables").json["total_count"] == 0
    assert api.get(f"{api.repo}/git/ref/leases/a").status_code == 404
    assert api.get(f"{api.repo}/git/ref/heads/main").json["object"]["sha"] == sha
