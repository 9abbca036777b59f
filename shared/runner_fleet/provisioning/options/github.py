"""Where runners are registered, and with what right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner_fleet.provisioning.inputs import InputReader

REPOSITORY = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}"


@dataclass(frozen=True)
class GitHubAccess:
    """Where the runners are registered, and the token that may do it."""

    repository: str
    token: str = field(repr=False)
    api_url: str
    server_url: str


def github_access(read: InputReader, environ: Mapping[str, str]) -> GitHubAccess:
    repository = read.matching(
        "repo", REPOSITORY, "a repository as owner/name", environ.get("GITHUB_REPOSITORY", "")
    )
    if not repository and not read.text("repo"):
        read.problem("repo", "is required outside of GitHub Actions: a repository as owner/name")
    token = environ.get("GH_PAT", "").strip()
    if not token:
        read.problem(
            "GH_PAT",
            "the environment variable is empty: give the step 'env: GH_PAT: ${{ secrets.GH_PAT }}' "
            "with a token that may administrate the repository. Workflows of forks get no secrets",
        )
    elif not token.isprintable() or " " in token:
        read.problem("GH_PAT", "the token holds white space or control characters: copy it anew")
    return GitHubAccess(
        repository=repository,
        token=token,
        api_url=read.url(environ, "GITHUB_API_URL") or "https://api.github.com",
        server_url=read.url(environ, "GITHUB_SERVER_URL") or "https://github.com",
    )
