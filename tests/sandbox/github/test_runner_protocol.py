"""The runner's side: registration, session, messages, jobs; over real connections."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from sandbox.github import Simulator, VirtualClock, runs, scope_tokens

REPO = "octo-org/gpu-tests"

Waiting = Callable[[str], AbstractContextManager[Future[tuple[int, Any]]]]


@dataclass
class Process:
    """A runner's process, as far as the protocol goes."""

    url: str
    credential: str = ""
    fields: dict[str, Any] = field(default_factory=dict)

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        request = urllib.request.Request(  # noqa: S310
            f"{self.url}/_runner{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.credential}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310
                text, status = reply.read(), reply.status
        except urllib.error.HTTPError as error:
            text, status = error.read(), error.code
            error.close()
        return status, json.loads(text) if text else None

    def register(self, token: str, name: str = "node", **more: Any) -> tuple[int, Any]:
        body = {
            "url": f"{self.url}/{REPO}",
            "token": token,
            "name": name,
            "labels": ["gpu"],
            "os": "linux",
            "arch": "x64",
            "version": "2.335.1",
            **more,
        }
        status, answer = self("POST", "/register", body)
        self.credential = answer.get("credential", "")
        return status, answer


@pytest.fixture
def token(served: Simulator) -> str:
    return scope_tokens.issue(served.state, REPO, "registration").token


@pytest.fixture
def process(served: Simulator) -> Process:
    return Process(served.url)


@pytest.fixture
def online(served: Simulator, process: Process, token: str) -> Process:
    """An ephemeral runner that is connected."""
    process.register(token, ephemeral=True)
    assert process("POST", "/session", {})[0] == 200
    return process


@pytest.fixture
def waiting(
    served: Simulator, online: Process, eventually: Callable[[Callable[[], object]], None]
) -> Waiting:
    """The runner asks for what is not there yet; the block runs when the call is under way."""

    @contextmanager
    def ask(path: str) -> Iterator[Future[tuple[int, Any]]]:
        with ThreadPoolExecutor(1) as pool:
            reply = pool.submit(online, "GET", f"{path}?wait=60")
            eventually(lambda: sum(served.state.calls_under_way.values()))
            yield reply

    return ask


class TestRegistration:
    def test_defaults_come_first_and_are_read_only(
        self, served: Simulator, process: Process, token: str
    ) -> None:
        status, answer = process.register(token, arch="arm64")
        assert (status, answer["name"]) == (201, "node")
        assert answer["labels"] == ["self-hosted", "Linux", "ARM64", "gpu"]
        (runner,) = served.runners(REPO)
        assert [label.type for label in runner.labels] == 3 * ["read-only"] + ["custom"]
        assert (runner.id, runner.status, runner.version) == (answer["id"], "offline", "2.335.1")

    def test_defaults_can_be_left_out(
        self, served: Simulator, process: Process, token: str
    ) -> None:
        process.register(token, no_default_labels=True)
        assert served.runners()[0].label_names == ["gpu"]

    def test_a_name_is_taken_once(self, served: Simulator, process: Process, token: str) -> None:
        process.register(token)
        status, answer = process.register(token)
        assert status == 409
        assert answer["message"] == ("Already exists - A runner with the name node already exists.")
        assert len(served.runners()) == 1

    def test_replacing_takes_the_other_process_off(
        self, served: Simulator, process: Process, token: str
    ) -> None:
        old = Process(served.url)
        old.register(token)
        assert old("POST", "/session", {})[0] == 200
        assert process.register(token, replace=True)[0] == 201
        assert old("GET", "/message?wait=0")[0] == 401
        assert process("POST", "/session", {})[0] == 200

    @pytest.mark.parametrize("labels", [["x" * 257], [""], [1]])
    def test_labels_that_cannot_be(self, process: Process, token: str, labels: list[Any]) -> None:
        assert process.register(token, labels=labels)[0] == 422

    def test_removal_needs_a_remove_token(
        self, served: Simulator, process: Process, token: str
    ) -> None:
        process.register(token)
        assert process("POST", "/remove", {"token": token})[0] == 404
        remove = scope_tokens.issue(served.state, REPO, "remove").token
        assert process("POST", "/remove", {"token": remove})[0] == 204
        assert served.runners() == []


class TestSession:
    def test_it_makes_the_runner_online_until_it_ends(
        self, served: Simulator, process: Process, token: str
    ) -> None:
        process.register(token)
        assert served.runners()[0].status == "offline"
        assert process("POST", "/session", {})[0] == 200
        assert served.runners()[0].status == "online"
        assert process("DELETE", "/session")[0] == 204
        assert served.runners()[0].status == "offline"
        assert process("GET", "/message?wait=0")[0] == 409

    def test_a_second_process_is_refused(self, online: Process) -> None:
        assert online("POST", "/session", {})[0] == 409

    def test_an_unknown_credential_is_refused(self, process: Process) -> None:
        assert process("POST", "/session", {})[0] == 401

    def test_silence_for_two_minutes_ends_it(
        self, served: Simulator, online: Process, clock: VirtualClock
    ) -> None:
        clock.advance(119)
        assert online("GET", "/message?wait=0")[0] == 204
        clock.advance(119)
        assert served.runners()[0].status == "online"
        clock.advance(200)
        assert served.runners()[0].status == "offline"
        assert online("POST", "/session", {})[0] == 200

    def test_a_job_that_waits_comes_with_the_connection(
        self, served: Simulator, process: Process, token: str
    ) -> None:
        job = served.queue_job(REPO, None, "test", ["gpu"])
        process.register(token)
        process("POST", "/session", {})
        assert process("GET", "/message?wait=0")[1]["job"]["id"] == job.id

    def test_silence_with_a_job_fails_the_job(
        self, served: Simulator, online: Process, clock: VirtualClock
    ) -> None:
        job = served.queue_job(REPO, None, "test", ["gpu"])
        online("POST", f"/jobs/{job.id}/acquire")
        clock.advance(120 + 599)
        runner = served.runners()[0]
        assert (runner.status, runner.busy) == ("offline", True)
        clock.advance(1)
        assert served.job(job.id).conclusion == "failure"

    def test_a_call_under_way_is_a_sign_of_life(
        self, served: Simulator, clock: VirtualClock, waiting: Waiting
    ) -> None:
        with waiting("/message") as reply:
            clock.advance(1000)
            assert served.runners()[0].status == "online"
            served.queue_job(REPO, None, "test", ["gpu"])
            assert reply.result(60)[0] == 200


class TestMessages:
    def test_a_job_is_handed_to_the_runner_that_waits(
        self, served: Simulator, waiting: Waiting
    ) -> None:
        with waiting("/message") as reply:
            job = served.queue_job(REPO, None, "test", ["gpu"])
            status, answer = reply.result(60)
        assert status == 200
        assert answer["job"] == {
            "id": job.id,
            "run_id": job.run_id,
            "run_attempt": 1,
            "repository": REPO,
            "name": "test",
            "labels": ["gpu"],
            "workflow_name": "CI",
        }

    def test_nothing_in_time_is_204(self, online: Process) -> None:
        assert online("GET", "/message?wait=0.05") == (204, None)

    def test_a_deleted_runner_learns_it_at_once(self, served: Simulator, waiting: Waiting) -> None:
        with waiting("/message") as reply:
            served.remove_runner(served.runners()[0].id)
            status, answer = reply.result(60)
        assert status == 401
        assert answer["message"].startswith("The runner registration has been deleted")


class TestJobs:
    def test_the_whole_way(self, served: Simulator, online: Process) -> None:
        job = served.queue_job(REPO, None, "test", ["gpu"])
        path = f"/jobs/{job.id}"
        assert online("POST", f"{path}/acquire")[1]["job"]["id"] == job.id
        assert served.runners()[0].busy
        assert online("GET", path)[1] == {
            "id": job.id,
            "status": "in_progress",
            "conclusion": None,
            "cancel_requested": False,
        }
        status, answer = online("POST", f"{path}/complete", {"conclusion": "failure"})
        assert (status, answer["conclusion"]) == (200, "failure")
        assert served.runners() == []
        assert online("GET", "/message?wait=0")[0] == 401
        assert online("DELETE", "/session")[0] == 204

    def test_somebody_outside_finishes_it(
        self, served: Simulator, online: Process, waiting: Waiting
    ) -> None:
        job = served.queue_job(REPO, None, "test", ["gpu"])
        path = f"/jobs/{job.id}"
        online("POST", f"{path}/acquire")
        with waiting(path) as reply:
            served.finish_job(job.id, "success")
            assert reply.result(60)[1]["conclusion"] == "success"
        # Its own word comes late, and changes nothing.
        status, answer = online("POST", f"{path}/complete", {"conclusion": "failure"})
        assert (status, answer["conclusion"]) == (200, "success")

    def test_a_cancellation_reaches_the_runner(
        self, served: Simulator, online: Process, waiting: Waiting
    ) -> None:
        job = served.queue_job(REPO, None, "test", ["gpu"])
        online("POST", f"/jobs/{job.id}/acquire")
        with waiting(f"/jobs/{job.id}") as reply:
            with served.state.transaction():
                runs.cancel(served.state, served.runs()[0], force=False)
            answer = reply.result(60)[1]
        assert (answer["status"], answer["cancel_requested"]) == ("in_progress", True)
        online("POST", f"/jobs/{job.id}/complete", {"conclusion": "cancelled"})
        assert served.runs()[0].conclusion == "cancelled"

    def test_an_ephemeral_runner_whose_record_lingers_is_told_that_it_is_gone(
        self, served: Simulator, online: Process
    ) -> None:
        served.knobs.ephemeral_linger = 30
        job = served.queue_job(REPO, None, "test", ["gpu"])
        online("POST", f"/jobs/{job.id}/acquire")
        online("POST", f"/jobs/{job.id}/complete", {"conclusion": "success"})
        assert len(served.runners()) == 1
        assert online("GET", "/message?wait=0")[0] == 401

    def test_a_job_that_was_given_to_another_cannot_be_acquired(
        self, served: Simulator, online: Process, clock: VirtualClock
    ) -> None:
        job = served.queue_job(REPO, None, "test", ["gpu"])
        served.add_runner(REPO, "other", ["gpu"])
        clock.advance(60)
        assert online("POST", f"/jobs/{job.id}/acquire")[0] == 409

    def test_a_job_of_another_runner_is_not_found(self, served: Simulator, online: Process) -> None:
        job = served.queue_job(REPO, None, "test", ["other"])
        assert online("GET", f"/jobs/{job.id}")[0] == 404
        assert online("POST", f"/jobs/{job.id}/complete", {})[0] == 404


def test_a_hundred_runners_wait_and_each_gets_its_job(
    served: Simulator, token: str, eventually: Callable[[Callable[[], object]], None]
) -> None:
    processes = [Process(served.url) for _ in range(100)]
    done: list[int] = []

    def work(process: Process) -> None:
        job = process("GET", "/message?wait=60")[1]["job"]
        process("POST", f"/jobs/{job['id']}/acquire")
        process("POST", f"/jobs/{job['id']}/complete", {"conclusion": "success"})
        done.append(job["id"])

    for number, process in enumerate(processes):
        process.register(token, f"node-{number}", ephemeral=True)
        process("POST", "/session", {})
    threads = [threading.Thread(target=work, args=(process,)) for process in processes]
    for thread in threads:
        thread.start()
    eventually(lambda: sum(served.state.calls_under_way.values()) == 100)
    run = served.add_run(REPO)
    jobs = {served.queue_job(REPO, run.id, f"job-{n}", ["gpu"]).id for n in range(100)}
    for thread in threads:
        thread.join(60)
    assert set(done) == jobs
    assert (served.runners(), served.runs()[0].conclusion) == ([], "success")
