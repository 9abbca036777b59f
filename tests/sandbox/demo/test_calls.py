from __future__ import annotations

from sandbox.calls import Call
from sandbox.demo.calls import Count, counted
from sandbox.demo.legs import Leg

RUNNERS = "/repos/octo-org/gpu-tests/actions/runners"


def call(operation: str, at: float = 1.0, client: str = "", service: str = "github") -> Call:
    return Call(service=service, operation=operation, status=200, at=at, seconds=0, client=client)


def test_calls_are_counted_by_operation_without_repository_and_ids() -> None:
    calls = [call(f"GET {RUNNERS}"), call(f"GET {RUNNERS}"), call(f"DELETE {RUNNERS}/123")]
    assert counted(calls, []) == [
        Count("github", "DELETE /actions/runners/{id}", 0, 1),
        Count("github", "GET /actions/runners", 0, 2),
    ]


def test_the_client_says_which_action_it_is() -> None:
    calls = [
        call(f"GET {RUNNERS}", client="runner-fleet/0.1.0 start-runner"),
        call(f"GET {RUNNERS}", client="runner-fleet/0.1.0 stop-runner"),
        call("TerminateInstances", client="x runner-fleet/0.1.0 start-runner", service="ec2"),
    ]
    assert counted(calls, []) == [
        Count("ec2", "TerminateInstances", 1, 0),
        Count("github", "GET /actions/runners", 1, 1),
    ]


def test_without_a_word_from_the_client_a_call_during_a_start_is_starts() -> None:
    leg = Leg("l", "t", "")
    leg.reached("start returned", 5.0)
    calls = [call(f"GET {RUNNERS}", at=4.0), call(f"GET {RUNNERS}", at=6.0)]
    assert counted(calls, [leg]) == [Count("github", "GET /actions/runners", 1, 1)]


def test_what_machines_and_the_sandbox_itself_ask_for_is_not_counted() -> None:
    calls = [
        call("POST /_runner/register"),
        call("GET /_sandbox/state"),
        call("GET /_downloads/actions-runner.tar.gz", service="runner"),
    ]
    assert counted(calls, []) == []
