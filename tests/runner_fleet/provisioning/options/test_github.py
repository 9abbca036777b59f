"""Where runners are registered and with what right, as the inputs say it."""

from __future__ import annotations

import base64

import pytest
from runner_fleet.errors import InputError
from runner_fleet.github_access import GitHubAccess
from runner_fleet.provisioning.inputs import InputReader
from runner_fleet.provisioning.options.github import github_access, pem
from runner_fleet.provisioning.options.registration import registration

ENVIRON = {"GITHUB_REPOSITORY": "octo-org/gpu-tests", "GH_PAT": "ghp_0123456789abcdefghij"}
BODY = "MIIE" * 40
LINES = [BODY[start : start + 64] for start in range(0, len(BODY), 64)]
KEY = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *LINES, "-----END RSA PRIVATE KEY-----", ""])
APP = {"github_app_id": "12345", "github_app_private_key": KEY}


def parsed(environ: dict[str, str] | None = None, /, **inputs: str) -> GitHubAccess:
    read = InputReader(inputs, "start-runner")
    access = github_access(read, ENVIRON if environ is None else environ)
    read.finish()
    return access


def problems(environ: dict[str, str] | None = None, /, **inputs: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parsed(environ, **inputs)
    return list(caught.value.lines)


@pytest.mark.parametrize(
    ("inputs", "scope", "url"),
    [
        ({}, "repos/octo-org/gpu-tests", "https://github.com/octo-org/gpu-tests"),
        ({"repo": "a/b"}, "repos/a/b", "https://github.com/a/b"),
        ({"organization": "octo-org"}, "orgs/octo-org", "https://github.com/octo-org"),
        (
            {"enterprise": "octo-corp"},
            "enterprises/octo-corp",
            "https://github.com/enterprises/octo-corp",
        ),
    ],
)
def test_runners_are_registered_in_one_place(inputs: dict[str, str], scope: str, url: str) -> None:
    access = parsed(**inputs)
    assert (access.scope, access.runners_url) == (scope, url)


def test_with_an_organization_the_repository_is_still_the_workflows() -> None:
    assert parsed(organization="octo-org").repository == "octo-org/gpu-tests"


def test_an_enterprise_server_has_its_own_urls() -> None:
    environ = ENVIRON | {
        "GITHUB_API_URL": "https://ghes.example.com/api/v3",
        "GITHUB_SERVER_URL": "https://ghes.example.com/",
    }
    access = parsed(environ, organization="octo-org")
    assert access.api_url == "https://ghes.example.com/api/v3"
    assert access.runners_url == "https://ghes.example.com/octo-org"


def test_two_places_are_one_too_many() -> None:
    assert problems(repo="a/b", organization="octo-org", enterprise="octo-corp") == [
        "organization: cannot be given together with repo: runners have one place",
        "enterprise: cannot be given together with repo: runners have one place",
    ]


@pytest.mark.parametrize("form", ["as it is", "escaped", "one line", "base64", "windows"])
def test_a_key_is_understood_whatever_storing_it_did_to_its_lines(form: str) -> None:
    text = {
        "as it is": KEY,
        "escaped": KEY.replace("\n", "\\n"),
        "one line": KEY.replace("\n", " "),
        "base64": base64.encodebytes(KEY.encode()).decode(),
        "windows": KEY.replace("\n", "\r\n"),
    }[form]
    assert pem(text) == KEY


@pytest.mark.parametrize(
    "text",
    [
        "hunter2",
        "ssh-rsa AAAA",
        KEY.replace("PRIVATE", "PUBLIC"),
        KEY.replace("-----END RSA", "-----END EC"),
        KEY[:100],
        base64.b64encode(b"\xff\xfe").decode(),
    ],
)
def test_what_is_no_key_is_refused_without_being_shown(text: str) -> None:
    assert pem(text) == ""
    (line,) = problems(github_app_id="12345", github_app_private_key=text)
    assert line.startswith("github_app_private_key: is not a private key in PEM")
    assert text[:20] not in line.replace("-----BEGIN RSA PRIVATE KEY-----", "")


def test_an_app_is_taken_before_a_token() -> None:
    access = parsed(**APP)
    assert access.app is not None
    assert (access.app.id, access.app.private_key, access.token) == ("12345", KEY, "")


def test_an_app_needs_no_token() -> None:
    environ = {"GITHUB_REPOSITORY": "octo-org/gpu-tests"}
    assert parsed(environ, **APP).app is not None


@pytest.mark.parametrize("given", sorted(APP))
def test_half_an_app_is_refused_even_beside_a_token(given: str) -> None:
    (missing,) = set(APP) - {given}
    assert problems(**{given: APP[given]}) == [f"{missing}: is required with {given}"]


def test_an_app_may_be_named_by_its_client_id() -> None:
    app = parsed(**APP | {"github_app_id": "Iv23liAbCdEfGhIjKlMn"}).app
    assert app is not None
    assert app.id == "Iv23liAbCdEfGhIjKlMn"


def test_a_name_is_no_id_of_an_app() -> None:
    assert problems(**APP | {"github_app_id": "my-app"}) == [
        "github_app_id: 'my-app' is not the id of a GitHub App (a number, or its client id)"
    ]


def test_no_app_manages_the_runners_of_an_enterprise() -> None:
    (line,) = problems(enterprise="octo-corp", **APP)
    assert line.startswith("github_app_id: GitHub lets no App manage the runners of an enterprise")


def test_the_secrets_of_an_app_are_the_lines_of_its_key_in_every_form() -> None:
    one_line = KEY.replace("\n", "\\n")
    secrets = parsed(github_app_id="12345", github_app_private_key=base64_of(KEY)).secrets
    assert {*LINES, base64_of(KEY)} <= set(secrets)
    assert set(LINES) <= set(parsed(**APP | {"github_app_private_key": one_line}).secrets)


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def refused(extra: tuple[str, ...] = (), /, **inputs: str) -> list[str]:
    read = InputReader(inputs, "start-runner")
    registration(read, github_access(read, ENVIRON), extra)
    return read.problems


def test_how_runners_are_registered_is_one_of_two_ways() -> None:
    assert refused(registration="jit") == refused(registration="token") == []
    assert refused(registration="JIT") == ["registration: 'JIT' is not one of token, jit"]


def test_a_repository_has_no_runner_groups() -> None:
    (line,) = refused(runner_group="gpu")
    assert line.startswith("runner_group: only organizations and enterprises have runner groups")
    assert refused(runner_group="gpu", organization="octo-org") == []
    assert refused(runner_group="g\tpu", organization="octo-org") == [
        "runner_group: 'g\\tpu' is not the name of a runner group"
    ]


def test_a_runner_registered_beforehand_has_a_hundred_labels_with_ours() -> None:
    labels = tuple(f"label-{number}" for number in range(98))
    assert refused(labels[:97], registration="jit") == []
    assert refused(labels, registration="token") == []
    assert refused(labels, registration="jit") == [
        "extra_gh_labels: 98 labels; 97 are allowed with registration: jit"
    ]


def test_repo_is_honoured() -> None:
    assert parsed(repo="other/place").repository == "other/place"


@pytest.mark.parametrize("repo", ["noslash", "a/b/c", "-a/b", "https://github.com/a/b", "a/b c"])
def test_a_repo_that_is_not_owner_and_name_is_refused(repo: str) -> None:
    assert problems(repo=repo) == [f"repo: {repo!r} is not a repository as owner/name"]
