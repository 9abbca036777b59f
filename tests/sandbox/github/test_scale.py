"""A thousand runners are no burden. The bounds are wide: they catch a wrong order of growth."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from sandbox.github import Simulator

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


@pytest.fixture
def thousand(github: Simulator) -> Simulator:
    for number in range(1000):
        github.add_runner(REPO, f"node-{number}", ["gpu", f"node-{number}"], default_labels=True)
    return github


def seconds_each(times: int, action: object) -> float:
    assert callable(action)
    began = time.thread_time()
    for _ in range(times):
        action()
    return (time.thread_time() - began) / times


def test_a_page_of_a_long_list(thousand: Simulator, api: Api) -> None:
    path = f"{api.repo}/actions/runners?per_page=100&page=5"
    assert seconds_each(10, lambda: api.get(path)) < 0.02


def test_a_label_write_while_many_jobs_wait(thousand: Simulator, api: Api) -> None:
    run = thousand.add_run(REPO)
    for number in range(500):
        thousand.queue_job(REPO, run.id, f"job-{number}", [f"lease-{number}"])
    path = f"{api.repo}/actions/runners/{thousand.runners()[0].id}/labels"
    assert seconds_each(10, lambda: api.post(path, {"labels": ["lease"]})) < 0.02
