"""The client of GitHub against the simulator: what is repeated, and what a refusal says."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from runner_fleet.errors import GitHubError, RateLimitError
from runner_fleet.github import GitHub
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, TOKEN, World

RUNNERS = f"/repos/{REPOSITORY}/actions/runners"
EXHAUSTED = {"X-RateLimit-Remaining": "0"}
SECONDARY = (
    '{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you '
    'try again.", "documentation_url": "https://docs.github.com/rest/overview/rate-limits"}'
)


@pytest.fixture
def github(world: World) -> Iterator[GitHub]:
    with closing(GitHub(TOKEN, REPOSITORY, world.github.url)) as client:
        yield client


def refusal(github: GitHub) -> GitHubError:
    with pytest.raises(GitHubError) as caught:
        github.runners()
    return caught.value


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_bad_moment_is_sat_out(github: GitHub, world: World, status: int) -> None:
    world.faults.add(Fault(f"GET {RUNNERS}$", status=status, body="<html>Unicorn!</html>"))
    assert github.runners() == []
    assert world.calls.count(f"GET {RUNNERS}") == 2


def test_a_lost_connection_is_sat_out(github: GitHub, world: World) -> None:
    world.faults.add(Fault(f"GET {RUNNERS}$", when="drop"))
    assert github.runners() == []


@pytest.mark.parametrize("status", [403, 429])
def test_a_rate_limit_is_waited_for_as_long_as_it_asks(
    github: GitHub, world: World, status: int
) -> None:
    world.faults.add(Fault(f"GET {RUNNERS}$", status=status, headers={"Retry-After": "1"}))
    began = time.monotonic()
    assert github.runners() == []
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(f"GET {RUNNERS}$", status=429, headers={"Retry-After": "600"}),
        Fault(f"GET {RUNNERS}$", status=403, headers={"Retry-After": "600"}),
        Fault(f"GET {RUNNERS}$", status=403, body=SECONDARY),
        Fault(f"GET {RUNNERS}$", status=429, body="{}"),
        Fault(f"GET {RUNNERS}$", status=429, headers={"Retry-After": "\u00b2"}),
        Fault(f"GET {RUNNERS}$", status=429, headers={"Retry-After": "9" * 40}),
        Fault(f"GET {RUNNERS}$", status=403, headers=EXHAUSTED | {"X-RateLimit-Reset": "9" * 40}),
    ],
    ids=[
        *("429", "403", "403 by its text", "429 without a time", "429 with a superscript"),
        *("429 without an end", "403 without an end"),
    ],
)
def test_a_rate_limit_beyond_our_patience_is_an_error_at_once(
    github: GitHub, world: World, fault: Fault
) -> None:
    github.patience.ends_in(5)
    world.faults.add(fault)
    error = refusal(github)
    assert "rate limit" in str(error)
    assert isinstance(error, RateLimitError)
    assert error.transient
    assert error.seconds in (60, 600)
    assert world.calls.count(f"GET {RUNNERS}") == 1


def test_an_exhausted_limit_says_when_it_ends(github: GitHub, world: World) -> None:
    headers = EXHAUSTED | {"X-RateLimit-Reset": "4102444800"}
    world.faults.add(Fault(f"GET {RUNNERS}$", status=403, headers=headers))
    assert "is exhausted until 00:00:00 UTC" in str(refusal(github))


def test_a_limit_that_asks_for_seconds_says_when_they_are_over(
    github: GitHub, world: World
) -> None:
    headers = {"Retry-After": "3600"}
    world.faults.add(Fault(f"GET {RUNNERS}$", status=429, headers=headers))
    assert re.search(r"is exhausted until [0-9]{2}:[0-9]{2}:[0-9]{2} UTC", str(refusal(github)))


def test_an_unchanged_list_costs_no_rate_limit(github: GitHub, world: World) -> None:
    world.github.add_runner(REPOSITORY, "one", ["a"])
    first = github.runners()
    assert github.runners() == first
    statuses = [call.status for call in world.calls.all("github")]
    assert statuses == [200, 304]


def test_a_thousand_runners_are_listed_in_pages_of_a_hundred(github: GitHub, world: World) -> None:
    for number in range(1000):
        world.github.add_runner(REPOSITORY, f"runner-{number}", ["a"])
    assert len(github.runners()) == 1000
    assert len(world.calls.all("github")) == 10


def test_labels_are_compared_without_regard_to_case(github: GitHub, world: World) -> None:
    world.github.add_runner(REPOSITORY, "one", ["GPU"])
    (runner,) = github.runners()
    assert "gpu" in runner.labels


def test_a_token_of_github_actions_is_told_that_it_can_never_do_this(
    world: World,
) -> None:
    world.github.add_token("a-token-of-actions", repos={REPOSITORY: "write"}, kind="github-token")
    with closing(GitHub("a-token-of-actions", REPOSITORY, world.github.url)) as github:
        error = refusal(github)
    assert error.status == 403
    assert "the workflow's own GITHUB_TOKEN can never do this" in str(error)


def test_a_password_in_a_url_is_never_shown() -> None:
    with closing(GitHub(TOKEN, REPOSITORY, "http://user:hunter2@127.0.0.1:9")) as github:
        error = refusal(github)
    assert "hunter2" not in str(error)
    assert "http://***@127.0.0.1:9" in str(error)


def test_archives_are_those_of_linux_and_windows(github: GitHub) -> None:
    assert [(archive.os, archive.architecture) for archive in github.runner_archives()] == [
        *(("linux", "x64"), ("linux", "arm"), ("linux", "arm64"), ("win", "x64"), ("win", "arm64")),
    ]


def test_a_token_to_remove_a_runner_is_another_one(github: GitHub) -> None:
    assert github.remove_token() != github.registration_token()


def test_a_path_of_the_api_can_be_read(github: GitHub) -> None:
    assert github.get(f"/repos/{REPOSITORY}")["full_name"] == REPOSITORY


def test_the_api_may_be_below_a_path_as_on_enterprise_server(world: World) -> None:
    for number in range(101):
        world.github.add_runner(REPOSITORY, f"runner-{number}", ["a"])
    with closing(GitHub(TOKEN, REPOSITORY, f"{world.github.url}/api/v3/")) as github:
        assert github.registration_token()
        assert len(github.runners()) == 101
    paths = [str(call.fields["path"]) for call in world.calls.all("github")]
    assert all(path.startswith("/api/v3/repos") for path in paths)


def test_several_threads_do_not_mix_up_their_answers(github: GitHub, world: World) -> None:
    ids = [world.github.add_runner(REPOSITORY, f"runner-{n}", ["a"]).id for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda key: github.get(f"{RUNNERS}/{key}")["id"], ids)
        assert list(found) == ids


@pytest.mark.parametrize(
    ("scope", "needs"),
    [
        ("orgs/octo-org", "the organization permission 'Self-hosted runners: read and write'"),
        ("enterprises/octo-corp", "the scope 'manage_runners:enterprise' of an enterprise owner"),
    ],
)
def test_a_refusal_names_the_permission_of_the_scope(world: World, scope: str, needs: str) -> None:
    with closing(GitHub(TOKEN, REPOSITORY, world.github.url, scope=scope)) as github:
        error = refusal(github)
    kind, name = ("organization", "octo-org") if "org" in scope[:4] else ("enterprise", "octo-corp")
    assert str(error).startswith(
        f"GitHub answers 404 (Not Found) for the runners of {kind} {name}: there is no such {kind}"
    )
    assert needs in str(error)


def test_a_refusal_for_workflow_runs_names_their_permission(world: World) -> None:
    world.github.add_token(
        "for-runners-only",
        repos={REPOSITORY: "admin"},
        kind="fine-grained",
        permissions={"administration": "write"},
    )
    with closing(GitHub("for-runners-only", REPOSITORY, world.github.url)) as github:
        assert github.runners() == []
        with pytest.raises(GitHubError) as caught:
            github.get(f"/repos/{REPOSITORY}/actions/runs/1")
    assert caught.value.status == 403
    assert f"for the workflow runs of {REPOSITORY}" in str(caught.value)
    assert "'Actions: read'" in str(caught.value)
