"""What a refusal of GitHub means, and what to do about it."""

from __future__ import annotations

from runner_fleet.github_access import ENTERPRISE, ORGANIZATION, REPOSITORY, place

_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT, _INVALID = 401, 403, 404, 409, 422

_JIT = "/generate-jitconfig"

_NEEDS = {
    REPOSITORY: (
        "'Administration: read and write' (fine-grained token or App), or the scope 'repo' of a "
        "user with admin rights (classic token)"
    ),
    ORGANIZATION: (
        "the organization permission 'Self-hosted runners: read and write' (fine-grained token or "
        "App), or the scope 'admin:org' of an owner (classic token)"
    ),
    ENTERPRISE: (
        "the scope 'manage_runners:enterprise' of an enterprise owner (classic token): "
        "fine-grained tokens and Apps cannot do this"
    ),
}
"""By scope (docs, permissions required for GitHub Apps; scopes for OAuth apps)."""


def refusal(scope: str, holder: str, call: str, status: int, message: str) -> str:
    """One line for `call` ("METHOD path"); `holder` is what was presented: a token, an App."""
    said = f"{status} ({message or 'no message'})"
    if status == _UNAUTHORIZED:
        return f"GitHub does not accept {holder} (401): it is wrong, expired or revoked"
    if status == _FORBIDDEN or (status == _NOT_FOUND and not call.startswith("DELETE ")):
        if "/actions/runs" in call:
            return (
                f"GitHub answers {said} for the workflow runs of {_repository(call)}: {holder} may "
                "not read them. It needs the repository permission 'Actions: read' (fine-grained "
                "token or App), or the scope 'repo' (classic token)"
            )
        return (
            f"GitHub answers {said} for the runners of {place(scope)}: there is no such "
            f"{_KINDS[_kind(scope)]}, or {holder} may not administrate it. It needs "
            f"{_NEEDS[_kind(scope)]}; the workflow's own GITHUB_TOKEN can never do this"
        )
    if status == _CONFLICT and call.endswith(_JIT):
        return (
            f"GitHub answers {said}: a runner of that name exists and cannot be replaced. It may "
            "still have a job: wait for it, or remove it in the settings, Actions, Runners"
        )
    if status == _INVALID and call.endswith(_JIT):
        return (
            f"GitHub does not register the runner: {said}. A runner has 1 to 100 labels of at most "
            "256 characters, and a runner group at most 10,000 runners: remove old ones in the "
            "settings, Actions, Runners, or use another runner_group"
        )
    return f"GitHub refused {call}: {status} {message}"


_KINDS = {REPOSITORY: "repository", ORGANIZATION: "organization", ENTERPRISE: "enterprise"}


def _kind(scope: str) -> str:
    return scope.partition("/")[0]


def _repository(call: str) -> str:
    return call.partition("/repos/")[2].partition("/actions/")[0]
