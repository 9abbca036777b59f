"""Runners that are registered beforehand, and the groups they are put in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from runner_fleet.errors import GitHubError, InputError
from runner_fleet.github import GitHub
from runner_fleet.github_groups import group_id
from sandbox.faults import Fault
from sandbox.github import groups
from sandbox.world import REPOSITORY, World

JIT = f"POST /repos/{REPOSITORY}/actions/runners/generate-jitconfig$"
ORG = "octo-org"


@pytest.fixture
def github(world: World) -> Iterator[GitHub]:
    world.github.add_token("owner", repos={REPOSITORY: "admin"}, orgs={ORG: "admin"})
    with closing(GitHub("owner", REPOSITORY, world.github.url)) as client:
        yield client


@pytest.fixture
def of_organization(world: World) -> Iterator[GitHub]:
    world.github.add_token("owner", repos={REPOSITORY: "admin"}, orgs={ORG: "admin"})
    with closing(GitHub("owner", REPOSITORY, world.github.url, scope=f"orgs/{ORG}")) as client:
        yield client


def test_it_has_the_labels_it_was_given_and_no_other(github: GitHub, world: World) -> None:
    config = github.jit_config("one", ["runner-ab12cd34", "GPU"])
    (runner,) = world.github.runners(REPOSITORY)
    assert (runner.id, runner.name) == (config.runner_id, "one")
    assert runner.label_names == ["runner-ab12cd34", "GPU"]
    assert config.encoded not in repr(config)


def test_a_dead_registration_of_that_very_name_makes_way(github: GitHub, world: World) -> None:
    world.github.knobs.name_filter = "substring"
    old = world.github.add_runner(REPOSITORY, "one", status="offline")
    other = world.github.add_runner(REPOSITORY, "one-more", status="offline")
    config = github.jit_config("one", ["a"])
    assert {runner.id for runner in world.github.runners()} == {other.id, config.runner_id}
    assert config.runner_id != old.id


@pytest.mark.parametrize(
    "fault", [Fault(JIT, status=502, when="after"), Fault(JIT, when="drop")], ids=["502", "lost"]
)
def test_a_registration_whose_reply_was_lost_is_not_left_behind(
    github: GitHub, world: World, fault: Fault
) -> None:
    world.faults.add(fault)
    config = github.jit_config("one", ["a"])
    assert [runner.id for runner in world.github.runners()] == [config.runner_id]


def test_nothing_is_left_when_the_second_reply_is_lost_too(github: GitHub, world: World) -> None:
    world.faults.add(Fault(JIT, when="drop", times=2))
    with pytest.raises(GitHubError):
        github.jit_config("one", ["a"])
    assert world.github.runners() == []


def test_where_the_rate_limit_is_exhausted_nothing_more_is_asked(
    github: GitHub, world: World
) -> None:
    world.faults.add(Fault(JIT, status=429, headers={"Retry-After": "600"}, times=None))
    with pytest.raises(GitHubError, match="rate limit"):
        github.jit_config("one", ["a"])
    assert len(world.calls.all()) == 1


def test_a_busy_runner_of_that_name_is_left_alone(github: GitHub, world: World) -> None:
    busy = world.github.add_runner(REPOSITORY, "one", busy=True)
    with pytest.raises(GitHubError, match="422"):
        github.jit_config("one", ["a"])
    assert [runner.id for runner in world.github.runners()] == [busy.id]


def test_what_github_says_of_wrong_labels_is_quoted_with_its_limits(github: GitHub) -> None:
    with pytest.raises(GitHubError) as caught:
        github.jit_config("one", [])
    assert str(caught.value).startswith(
        "GitHub does not register the runner: 422 (Validation Failed: labels must have between 1 "
        "and 100 items). A runner has 1 to 100 labels of at most 256 characters, and a runner "
        "group at most 10,000 runners"
    )


def test_a_full_group_is_said_to_be_full(github: GitHub, world: World) -> None:
    """As GitHub words it in ggml-org/llama.cpp#7893."""
    full = "Invalid Argument - Runner group 1 has reached max limit of 10000 runners."
    world.faults.add(Fault(JIT, status=422, message=full))
    with pytest.raises(GitHubError) as caught:
        github.jit_config("one", ["a"])
    assert f"422 ({full.rstrip('.')}" in str(caught.value)
    assert "a runner group at most 10,000 runners: remove old ones" in str(caught.value)


def test_a_group_is_found_by_its_name(of_organization: GitHub, world: World) -> None:
    gpu = groups.add(world.github.state, ORG, "gpu", [REPOSITORY])
    number = group_id(of_organization, "gpu")
    assert number == gpu.id
    of_organization.jit_config("one", ["a"], number)
    (runner,) = world.github.runners(ORG)
    assert runner.runner_group_id == gpu.id


def test_a_group_that_does_not_exist_is_answered_with_those_that_do(
    of_organization: GitHub, world: World
) -> None:
    groups.add(world.github.state, ORG, "gpu")
    with pytest.raises(InputError) as caught:
        group_id(of_organization, "cpu")
    assert str(caught.value) == (
        "runner_group: there is no runner group 'cpu' (there are: Default, gpu)"
    )


def test_a_group_that_the_repository_may_not_use_is_refused(
    of_organization: GitHub, world: World
) -> None:
    groups.add(world.github.state, ORG, "gpu", ["octo-org/other"])
    with pytest.raises(InputError) as caught:
        group_id(of_organization, "gpu")
    assert str(caught.value).startswith(
        "runner_group: the runner group 'gpu' is not for octo-org/gpu-tests: add the repository"
    )
