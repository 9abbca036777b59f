"""Where runners are registered, and with what right. No client is loaded for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

REPOSITORY, ORGANIZATION, ENTERPRISE = "repos", "orgs", "enterprises"
"""What a scope begins with: GitHub's API has the same runner endpoints below each."""

REPOSITORY_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}"
"""owner/name. Owners that an enterprise manages have an underscore (docs.github.com, Enterprise
Managed Users, "Username considerations for external authentication")."""


@dataclass(frozen=True)
class AppKey:
    """A GitHub App: its id (or client id), and a private key in PEM."""

    id: str
    private_key: str = field(repr=False)
    given: str = field(default="", repr=False, compare=False)  # the key as it was written


@dataclass(frozen=True)
class GitHubAccess:
    """Where the runners are registered, and the token or App that may do it."""

    repository: str  # "owner/name": for tags, and for reading workflow runs
    token: str = field(repr=False)  # empty with an App
    api_url: str
    server_url: str
    scope: str  # "repos/owner/name", "orgs/name" or "enterprises/slug", as in API paths
    app: AppKey | None = None

    @property
    def place(self) -> str:
        """The scope as a message names it."""
        return place(self.scope)

    @property
    def runners_url(self) -> str:
        """What config.sh gets as --url."""
        kind, _, name = self.scope.partition("/")
        return f"{self.server_url.rstrip('/')}/{self.scope if kind == ENTERPRISE else name}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not show in a log; masks work on lines, so a key is many."""
        return tuple(dict.fromkeys([self.token, *self._key_lines()]))

    def _key_lines(self) -> Iterator[str]:
        for text in (self.app.private_key, self.app.given) if self.app else ():
            yield from (line.strip() for line in text.splitlines() if not line.startswith("-----"))


def place(scope: str) -> str:
    kind, _, name = scope.partition("/")
    return {ORGANIZATION: "organization ", ENTERPRISE: "enterprise "}.get(kind, "") + name
