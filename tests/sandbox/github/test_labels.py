"""The six label calls."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from sandbox.github import Label, Runner, Simulator

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


@pytest.fixture(params=["repo", "org"])
def scope(request: pytest.FixtureRequest) -> str:
    return {"repo": REPO, "org": "octo-org"}[request.param]


@pytest.fixture
def runner(github: Simulator, scope: str) -> Runner:
    return github.add_runner(scope, "node", ["gpu", "big"], default_labels=True)


@pytest.fixture
def path(api: Api, runner: Runner) -> str:
    prefix = api.repo if "/" in runner.scope else api.org
    return f"{prefix}/actions/runners/{runner.id}/labels"


def names(reply: Any) -> list[str]:
    assert reply.status_code == 200
    assert reply.json["total_count"] == len(reply.json["labels"])
    return [label["name"] for label in reply.json["labels"]]


FIXED = ["self-hosted", "Linux", "X64"]


def test_get_lists_all(api: Api, path: str) -> None:
    assert names(api.get(path)) == [*FIXED, "gpu", "big"]


def test_post_adds(api: Api, path: str) -> None:
    assert names(api.post(path, {"labels": ["a", "b"]})) == [*FIXED, "gpu", "big", "a", "b"]


def test_post_of_a_label_in_another_case_keeps_the_first_spelling(api: Api, path: str) -> None:
    assert names(api.post(path, {"labels": ["GPU", "linux"]})) == [*FIXED, "gpu", "big"]


def test_put_replaces_the_custom_labels_only(api: Api, path: str) -> None:
    assert names(api.put(path, {"labels": ["a", "A"]})) == [*FIXED, "a"]
    assert names(api.put(path, {"labels": []})) == FIXED


def test_delete_removes_all_custom_labels(api: Api, path: str) -> None:
    assert names(api.delete(path)) == FIXED


def test_delete_of_one_ignores_case(api: Api, path: str) -> None:
    assert names(api.delete(f"{path}/GPU")) == [*FIXED, "big"]


def test_delete_of_a_label_with_reserved_characters(api: Api, path: str) -> None:
    api.post(path, {"labels": ["a/b c"]})
    assert names(api.delete(f"{path}/a%2Fb%20c")) == [*FIXED, "gpu", "big"]


def test_delete_of_an_absent_label_is_not_found(api: Api, path: str) -> None:
    reply = api.delete(f"{path}/absent")
    assert (reply.status_code, reply.json["message"]) == (404, "Not Found")


def test_delete_of_a_read_only_label_is_refused(api: Api, path: str) -> None:
    reply = api.delete(f"{path}/x64")
    assert reply.status_code == 422
    assert reply.json["errors"] == ["The label 'X64' is read-only and cannot be removed."]


@pytest.mark.parametrize(
    ("method", "labels", "status"),
    [
        ("POST", [], 422),
        ("POST", [f"l{number}" for number in range(100)], 200),
        ("POST", [f"l{number}" for number in range(101)], 422),
        ("PUT", [f"l{number}" for number in range(101)], 422),
        ("POST", ["x" * 257], 422),
        ("POST", [" "], 422),
        ("POST", "gpu", 422),
        ("POST", [1], 422),
        ("POST", None, 422),
    ],
)
def test_what_may_be_written(
    api: Api, github: Simulator, runner: Runner, path: str, method: str, labels: Any, status: int
) -> None:
    reply = api(method, path, {} if labels is None else {"labels": labels})
    assert reply.status_code == status
    if status == 422:
        assert github.runner(runner.id).labels == runner.labels


def test_labels_of_a_runner_that_is_gone_are_not_found(
    api: Api, github: Simulator, runner: Runner, path: str
) -> None:
    github.remove_runner(runner.id)
    for reply in (
        api.get(path),
        api.post(path, {"labels": ["a"]}),
        api.put(path, {"labels": ["a"]}),
        api.delete(path),
        api.delete(f"{path}/gpu"),
    ):
        assert reply.status_code == 404


def test_labels_may_change_while_the_runner_is_busy(
    api: Api, github: Simulator, runner: Runner, path: str
) -> None:
    github.set_runner(runner.id, busy=True)
    assert names(api.post(path, {"labels": ["a"]}))[-1] == "a"


def test_labels_of_a_jit_runner_cannot_be_taken_off(api: Api) -> None:
    body = {"name": "jit", "runner_group_id": 1, "labels": ["a", "b"]}
    made = api.post(f"{api.repo}/actions/runners/generate-jitconfig", body).json["runner"]
    path = f"{api.repo}/actions/runners/{made['id']}/labels"
    assert names(api.put(path, {"labels": []})) == ["a", "b"]
    assert names(api.delete(path)) == ["a", "b"]
    assert api.delete(f"{path}/a").status_code == 422


def test_two_writers_lose_an_update(api: Api, github: Simulator, runner: Runner, path: str) -> None:
    """PUT has no precondition: the last one wins."""
    first = second = ["gpu", "big"]
    api.put(path, {"labels": [*first, "lease-1"]})
    api.put(path, {"labels": [*second, "lease-2"]})
    assert github.runner(runner.id).label_names == [*FIXED, "gpu", "big", "lease-2"]


def test_every_write_is_in_the_history_with_before_and_after(
    api: Api, github: Simulator, runner: Runner, path: str
) -> None:
    api.post(path, {"labels": ["a"]})
    api.delete(f"{path}/gpu")
    api.put(path, {"labels": ["b"]})
    api.delete(path)
    github.set_runner(runner.id, labels=[Label("c")])
    writes = [event.fields for event in github.history if event.kind == "labels_changed"]
    assert [write["operation"] for write in writes] == [
        "add",
        "remove",
        "set",
        "remove_all",
        "python",
    ]
    assert writes[1]["before"] == [*FIXED, "gpu", "big", "a"]
    assert writes[1]["after"] == [*FIXED, "big", "a"]
    for earlier, later in pairwise(writes):
        assert earlier["after"] == later["before"]
