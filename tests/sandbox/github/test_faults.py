"""Faults by rule, as a client meets them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import RemoteDisconnected
from typing import TYPE_CHECKING

import pytest
from sandbox.faults import Fault
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"
TOKEN = "POST /repos/octo-org/gpu-tests/actions/runners/registration-token"
LIST = "GET /repos/octo-org/gpu-tests/actions/runners"


def test_before_has_no_effect(github: Simulator, api: Api) -> None:
    github.faults.add(Fault(TOKEN, status=500))
    path = f"{api.repo}/actions/runners/registration-token"
    reply = api.post(path)
    assert (reply.status_code, reply.json["message"]) == (500, "Server Error")
    assert github.state.scope_tokens == {}
    assert api.post(path).status_code == 201


@pytest.mark.parametrize("status", [502, 503, 504])
def test_the_edge_answers_in_html(github: Simulator, api: Api, status: int) -> None:
    github.faults.add(Fault(LIST, status=status))
    reply = api.get(f"{api.repo}/actions/runners")
    assert reply.status_code == status
    assert reply.headers["Content-Type"].startswith("text/html")
    assert b"Unicorn!" in reply.data


def test_after_takes_effect_and_loses_the_reply(github: Simulator, api: Api) -> None:
    runner = github.add_runner(REPO, "node")
    github.faults.add(Fault("DELETE .*/actions/runners/", status=502, when="after"))
    path = f"{api.repo}/actions/runners/{runner.id}"
    assert api.delete(path).status_code == 502
    assert github.runners() == []
    assert api.delete(path).status_code == 404


def test_a_rule_has_its_own_headers_and_body(github: Simulator, api: Api) -> None:
    body = json.dumps({"message": "no"})
    github.faults.add(Fault(LIST, status=429, headers={"Retry-After": "7"}, body=body))
    reply = api.get(f"{api.repo}/actions/runners")
    assert (reply.status_code, reply.headers["Retry-After"], reply.json) == (
        429,
        "7",
        {"message": "no"},
    )


def test_a_body_that_looks_like_html_is_sent_as_html(github: Simulator, api: Api) -> None:
    github.faults.add(Fault(LIST, status=500, body="<html>oops</html>"))
    reply = api.get(f"{api.repo}/actions/runners")
    assert reply.headers["Content-Type"].startswith("text/html")


def test_a_rule_can_have_its_own_message(github: Simulator, api: Api) -> None:
    github.faults.add(Fault(LIST, status=503, message="Service is down for maintenance"))
    reply = api.get(f"{api.repo}/actions/runners")
    assert (reply.status_code, reply.json["message"]) == (503, "Service is down for maintenance")


def test_skip_and_times(github: Simulator, api: Api) -> None:
    github.faults.add(Fault(LIST, status=500, skip=1, times=2))
    path = f"{api.repo}/actions/runners"
    assert [api.get(path).status_code for _ in range(5)] == [200, 500, 500, 200, 200]


def test_a_rule_for_a_list_strikes_its_further_pages(github: Simulator, api: Api) -> None:
    number = github.state.repositories[REPO].id
    github.faults.add(Fault(f"{LIST}$", status=500))
    assert api.get(f"/repositories/{number}/actions/runners?page=2").status_code == 500


def test_a_delay_alone_changes_nothing_else(github: Simulator, api: Api) -> None:
    slept: list[float] = []
    github.wsgi.sleep = slept.append
    github.faults.add(Fault(LIST, delay=2.5))
    assert api.get(f"{api.repo}/actions/runners").status_code == 200
    assert slept == [2.5]


def test_a_call_that_is_delayed_until_a_reset_has_no_effect_and_is_not_logged(
    github: Simulator, api: Api, eventually: Callable[[Callable[[], object]], None]
) -> None:
    slow = Fault(TOKEN, delay=600)
    github.faults.add(slow)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(api.post, f"{api.repo}/actions/runners/registration-token")
        eventually(lambda: slow.times == 0)
        github.log.clear()
        github.reset()
        assert late.result(60).status_code == 410
    assert github.state.scope_tokens == {}
    assert github.log.all() == []


def test_stale_lists_what_was(github: Simulator, api: Api, clock: VirtualClock) -> None:
    first = github.add_runner(REPO, "first", status="offline")
    clock.advance(10)
    github.set_runner(first.id, status="online")
    github.add_runner(REPO, "second")
    github.faults.add(Fault(LIST, when="stale", stale_seconds=5))
    path = f"{api.repo}/actions/runners"
    then, now = api.get(path).json, api.get(path).json
    assert [(runner["name"], runner["status"]) for runner in then["runners"]] == [
        ("first", "offline")
    ]
    assert [(runner["name"], runner["status"]) for runner in now["runners"]] == [
        ("first", "online"),
        ("second", "online"),
    ]


def test_stale_shows_a_deleted_runner_again(
    github: Simulator, api: Api, clock: VirtualClock
) -> None:
    runner = github.add_runner(REPO, "node")
    clock.advance(10)
    github.remove_runner(runner.id)
    github.faults.add(Fault(LIST, when="stale", stale_seconds=5))
    assert api.get(f"{api.repo}/actions/runners").json["total_count"] == 1


def test_stale_jobs_runs_variables_and_refs(
    github: Simulator, api: Api, clock: VirtualClock
) -> None:
    job = github.queue_job(REPO, None, "test", ["gpu"])
    clock.advance(10)
    github.finish_job(job.id)
    api.post(f"{api.repo}/actions/variables", {"name": "A", "value": "1"})
    sha = github.state.refs.rows[REPO, "refs/heads/main"]
    api.post(f"{api.repo}/git/refs", {"ref": "refs/locks/a", "sha": sha})
    github.faults.add(Fault("GET", when="stale", stale_seconds=5, times=None))
    runs = api.get(f"{api.repo}/actions/runs").json["workflow_runs"]
    jobs = api.get(f"{api.repo}/actions/runs/{job.run_id}/jobs").json["jobs"]
    assert [found["status"] for found in runs + jobs] == ["queued", "queued"]
    assert api.get(f"{api.repo}/actions/variables").json["total_count"] == 0
    assert api.get(f"{api.repo}/git/ref/locks/a").status_code == 404
    assert api.get(f"{api.repo}/git/matching-refs/locks/").json == []


def test_a_dropped_connection_comes_after_the_write(served: Simulator) -> None:
    served.faults.add(Fault(TOKEN, when="drop"))
    request = urllib.request.Request(  # noqa: S310
        f"{served.url}/repos/{REPO}/actions/runners/registration-token",
        method="POST",
        headers={"Authorization": "Bearer admin"},
    )
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        urllib.request.urlopen(request, timeout=60)  # noqa: S310
    assert len(served.state.scope_tokens) == 1
    assert served.log.all()[-1].status == 0


def test_calls_are_logged_by_name_with_what_was_sent(github: Simulator, api: Api) -> None:
    number = github.state.repositories[REPO].id
    api.get(f"/repositories/{number}/actions/runners?per_page=5")
    api.post("/_runner/register", {}, token=None)
    api.get("/_sandbox/state", token=None)
    assert [
        (call.service, call.operation, call.status, call.query) for call in github.log.all()
    ] == [
        ("github", LIST, 200, "per_page=5"),
        ("runner", "POST /_runner/register", 404, ""),
    ]
    assert github.log.all()[0].fields["path"] == f"/repositories/{number}/actions/runners"
    assert github.log.all()[0].client == "tests"
