"""A GitHub App in place of a token: found, limited, renewed, and told what is wrong with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import pytest
from runner_fleet.errors import FleetError, InputError
from runner_fleet.github import GitHub
from runner_fleet.github_access import AppKey, GitHubAccess
from runner_fleet.github_auth import Installation
from runner_fleet.github_retry import Patience
from sandbox.faults import Fault
from sandbox.github import apps
from sandbox.world import REPOSITORY, World

from tests.runner_fleet.keys import key_pair

OWNER = "octo-org"
ADMIN = {"administration": "write", "metadata": "read"}
OF_ORGANIZATION = {"organization_self_hosted_runners": "write", "metadata": "read"}


def ignore(_: str) -> None:
    pass


def access(
    world: World, scope: str = f"repos/{REPOSITORY}", app_id: str = "12345", key: str = ""
) -> GitHubAccess:
    return GitHubAccess(
        repository=REPOSITORY,
        token="",
        api_url=world.github.url,
        server_url=world.github.url,
        scope=scope,
        app=AppKey(app_id, key or key_pair().private),
    )


def install(
    world: World, permissions: dict[str, str] = ADMIN, repositories: list[str] | None = None
) -> None:
    apps.install(world.github.state, "12345", key_pair().public, OWNER, permissions, repositories)


def created(world: World) -> list[tuple[dict[str, str], list[str]]]:
    """Permissions and repositories of the tokens that Apps were given."""
    return [
        (event.fields["permissions"], event.fields["repositories"])
        for event in world.github.state.history
        if event.kind == "installation_token_created"
    ]


def refusal(given: GitHubAccess) -> str:
    with pytest.raises(FleetError) as caught, closing(GitHub.of(given, "", ignore)) as github:
        github.runners()
    (line,) = caught.value.lines
    return line


def test_an_app_registers_runners_with_one_token_of_its_own(world: World) -> None:
    install(world)
    masked: list[str] = []
    with closing(GitHub.of(access(world), "start-runner", masked.append)) as github:
        assert github.registration_token()
        assert github.runners() == []
    operations = [call.operation for call in world.calls.all("github")]
    assert [operation.split("/")[-1] for operation in operations] == [
        "installation",
        "access_tokens",
        "registration-token",
        "runners",
    ]
    (token,) = masked
    assert token.startswith("ghs_")


def test_the_token_is_for_one_repository_and_what_is_needed_there(world: World) -> None:
    world.github.add_repository("octo-org/other")
    install(world, ADMIN | {"actions": "write", "contents": "write"})
    with closing(GitHub.of(access(world), "", ignore)) as github:
        github.runners()
    assert created(world) == [
        ({"metadata": "read", "administration": "write", "actions": "read"}, [REPOSITORY])
    ]


def test_an_organization_needs_its_own_permission(world: World) -> None:
    install(world, OF_ORGANIZATION)
    with closing(GitHub.of(access(world, f"orgs/{OWNER}"), "", ignore)) as github:
        assert github.registration_token()
    ((permissions, _),) = created(world)
    assert permissions == OF_ORGANIZATION


def test_an_organization_whose_app_does_not_have_this_repository_works_without(
    world: World,
) -> None:
    install(world, OF_ORGANIZATION | {"actions": "read"}, repositories=[])
    with closing(GitHub.of(access(world, f"orgs/{OWNER}"), "", ignore)) as github:
        assert github.registration_token()
    assert created(world) == [(OF_ORGANIZATION, [])]


@pytest.mark.parametrize(("seconds_left", "tokens"), [(301, 1), (299, 2)])
def test_a_token_is_renewed_before_it_expires(world: World, seconds_left: int, tokens: int) -> None:
    install(world)
    clock = {"ahead": 0.0}
    given = access(world)
    assert given.app is not None
    auth = Installation(
        given, given.app, "", Patience(5), ignore, now=lambda: time.time() + clock["ahead"]
    )
    with closing(GitHub(auth, REPOSITORY, world.github.url)) as github:
        github.runners()
        clock["ahead"] = 3600 - seconds_left
        github.runners()
    assert len(created(world)) == tokens
    assert world.calls.count(f"GET /repos/{REPOSITORY}/installation") == 1


def test_an_app_that_is_not_installed_there(world: World) -> None:
    install(world, repositories=["octo-org/other"])
    assert refusal(access(world)) == (
        "GitHub answers 404 (Not Found): the GitHub App of github_app_id is not installed for "
        "octo-org/gpu-tests, or there is no such place: install the App there, and let it have "
        "this repository"
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda world: access(world, app_id="99999"), "404 (Integration not found)"),
        (
            lambda world: access(world, key=key_pair(1).private),
            "401 (A JSON web token could not be decoded)",
        ),
    ],
    ids=["another id", "another key"],
)
def test_an_app_whose_id_and_key_do_not_fit(
    world: World, make: Callable[[World], GitHubAccess], said: str
) -> None:
    install(world)
    line = refusal(make(world))
    assert line.startswith(f"GitHub does not accept the GitHub App: {said}. github_app_private_key")


def test_an_app_without_the_permission_is_told_its_name(world: World) -> None:
    install(world, {"administration": "read", "metadata": "read"})
    assert refusal(access(world)).startswith(
        "the GitHub App of github_app_id is installed for octo-org/gpu-tests, without the "
        "permission 'Repository permissions, Administration: read and write'"
    )
    install(world, ADMIN)
    assert "'Organization permissions, Self-hosted runners: read and write'" in refusal(
        access(world, f"orgs/{OWNER}")
    )


def test_a_suspended_app_is_quoted(world: World) -> None:
    install(world)
    path = r"POST /app/installations/\d+/access_tokens"
    message = "This installation has been suspended"
    world.faults.add(Fault(path, status=403, message=message))
    assert refusal(access(world)) == (
        "GitHub gives the GitHub App no token for octo-org/gpu-tests: "
        "403 (This installation has been suspended)"
    )


@pytest.mark.parametrize("key", ["-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_a_key_that_is_none_is_named_and_not_shown(world: World, key: str) -> None:
    with pytest.raises(InputError) as caught:
        GitHub.of(access(world, key=key), "", ignore)
    (line,) = caught.value.lines
    assert line.startswith("github_app_private_key: cannot be read as an RSA private key")
    assert "AAAA" not in line


def test_the_lines_of_a_key_are_secrets_and_its_frame_is_none(world: World) -> None:
    secrets = access(world).secrets
    body = key_pair().private.splitlines()[1:-1]
    assert set(body) <= set(secrets)
    assert not any(secret.startswith("-----") for secret in secrets)
