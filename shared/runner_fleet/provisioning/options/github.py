"""Where runners are registered, and with what right."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping

from runner_fleet.github_access import (
    ENTERPRISE,
    ORGANIZATION,
    REPOSITORY,
    REPOSITORY_NAME,
    AppKey,
    GitHubAccess,
)
from runner_fleet.provisioning.inputs import InputReader

__all__ = ["GitHubAccess", "github_access"]

_ORGANIZATION = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}"
_ENTERPRISE = r"[A-Za-z0-9][A-Za-z0-9-]{0,59}"
_APP_ID = r"[0-9]{1,12}|Iv[A-Za-z0-9.]{8,40}"

_PEM = re.compile(
    r"-----BEGIN (?P<kind>(?:RSA )?PRIVATE KEY)-----(?P<body>[A-Za-z0-9+/=\s]+)"
    r"-----END (?P=kind)-----"
)


def github_access(read: InputReader, environ: Mapping[str, str]) -> GitHubAccess:
    scope, repository = _scope(read, environ)
    app = _app(read)
    if app is not None and scope.startswith(ENTERPRISE):
        read.problem(
            "github_app_id",
            "GitHub lets no App manage the runners of an enterprise: use a classic token with the "
            "scope manage_runners:enterprise in GH_PAT",
        )
    # The App was asked for in this very step; GH_PAT may be set for the whole workflow.
    by_app = bool(read.text("github_app_id") or read.text("github_app_private_key"))
    return GitHubAccess(
        repository=repository,
        token="" if by_app else _token(read, environ),
        app=app,
        scope=scope,
        api_url=read.url(environ, "GITHUB_API_URL") or "https://api.github.com",
        server_url=read.url(environ, "GITHUB_SERVER_URL") or "https://github.com",
    )


def _scope(read: InputReader, environ: Mapping[str, str]) -> tuple[str, str]:
    """Where runners are registered, and the repository of tags and workflow runs."""
    repository = read.matching(
        "repo", REPOSITORY_NAME, "a repository as owner/name", environ.get("GITHUB_REPOSITORY", "")
    )
    organization = read.matching("organization", _ORGANIZATION, "the name of an organization")
    enterprise = read.matching(
        "enterprise", _ENTERPRISE, "the slug of an enterprise, as in its URL"
    )
    given = [name for name in ("repo", "organization", "enterprise") if read.text(name)]
    for name in given[1:]:
        read.problem(name, f"cannot be given together with {given[0]}: runners have one place")
    if not repository and not read.text("repo"):
        read.problem("repo", "is required outside of GitHub Actions: a repository as owner/name")
    if enterprise:
        return f"{ENTERPRISE}/{enterprise}", repository
    if organization:
        return f"{ORGANIZATION}/{organization}", repository
    return f"{REPOSITORY}/{repository}", repository


def _token(read: InputReader, environ: Mapping[str, str]) -> str:
    token = environ.get("GH_PAT", "").strip()
    if not token:
        read.problem(
            "GH_PAT",
            "the environment variable is empty: give the step 'env: GH_PAT: ${{ secrets.GH_PAT }}' "
            "with a token that may administrate the repository, or github_app_id. Workflows of "
            "forks get no secrets",
        )
    elif not token.isprintable() or " " in token:
        read.problem("GH_PAT", "the token holds white space or control characters: copy it anew")
    return token


def _app(read: InputReader) -> AppKey | None:
    """None when there is none, or when it is not whole."""
    number = read.matching(
        "github_app_id", _APP_ID, "the id of a GitHub App (a number, or its client id)"
    )
    given = read.text("github_app_private_key")
    if not given:
        if read.text("github_app_id"):
            read.problem("github_app_private_key", "is required with github_app_id")
        return None
    key = pem(given)
    if not key:
        # No part of the value is shown: it may be a key all the same.
        read.problem(
            "github_app_private_key",
            "is not a private key in PEM (-----BEGIN RSA PRIVATE KEY-----): store the whole .pem "
            "file that GitHub gave you, unchanged",
        )
    if not read.text("github_app_id"):
        read.problem("github_app_id", "is required with github_app_private_key")
    return AppKey(number, key, given) if number and key else None


def pem(text: str) -> str:
    r"""A private key as OpenSSL reads it, whatever storing it has done to its line ends.

    Takes real line breaks, `\n`, blanks or nothing between the lines, and all of it in base64;
    empty when it is no private key.
    """
    if "-----BEGIN" not in text:
        try:
            text = base64.b64decode("".join(text.split()), validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            return ""
    found = _PEM.search(text.replace("\\r", "").replace("\\n", "\n"))
    if found is None:
        return ""
    body = "".join(found["body"].split())
    lines = [body[start : start + 64] for start in range(0, len(body), 64)]
    begin, end = (f"-----{word} {found['kind']}-----" for word in ("BEGIN", "END"))
    return "\n".join([begin, *lines, end, ""])
