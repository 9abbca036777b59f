"""The repository itself, the user, and the rate limit."""

from __future__ import annotations

from typing import Any

from flask import Response

from sandbox.github import access
from sandbox.github import render_repositories as repositories
from sandbox.github.bodies import reply
from sandbox.github.errors import ApiError, not_found
from sandbox.github.limits import REGISTRATIONS, Budget
from sandbox.github.records import Repository
from sandbox.github.web import Routes, Web


class MetaRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        web.route_repository("GET", "", self._repository)
        web.route("GET", "/orgs/<org>", self._organization)
        web.route("GET", "/user", self._user)
        web.route("GET", "/rate_limit", self._rate_limit)

    def _repository(self, repository: Repository) -> Response:
        role = access.role(self._web.identity, repository.full_name)
        permissions = {
            "admin": role == "admin",
            "maintain": role == "admin",
            "push": role in ("admin", "write"),
            "triage": role in ("admin", "write"),
            "pull": True,
        }
        return reply(repositories.full_repository(repository, self._web.base, permissions))

    def _organization(self, org: str) -> Response:
        """Everybody may see what an organization is called."""
        found = self._web.state.organizations.get(org.lower())
        if found is None:
            raise not_found()
        return reply(repositories.organization(*found, self._web.base))

    def _user(self) -> Response:
        """The user behind a personal token; Apps and workflows are none."""
        identity = self._web.identity
        if identity.kind == "anonymous":
            raise ApiError(401, "Requires authentication")
        if identity.kind in ("installation", "github-token"):
            raise ApiError(403, "Resource not accessible by integration")
        at = "2020-01-01T00:00:00Z"
        absent = ("name", "company", "location", "email", "hireable", "bio", "blog")
        body = {
            **repositories.user(identity.login, self._web.base),
            **dict.fromkeys(absent),
            **dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0),
            "created_at": at,
            "updated_at": at,
        }
        return reply(body)

    def _rate_limit(self) -> Response:
        now = self._web.state.now()
        core = self._web.limits.budget(self._web.identity, now)
        resources: dict[str, Any] = {"core": core.body()}
        for name, limit in (
            ("search", 30),
            ("graphql", 5000),
            ("integration_manifest", 5000),
            ("actions_runner_registration", REGISTRATIONS),
        ):
            resources[name] = Budget(limit, 0, core.reset).body()
        body: dict[str, Any] = {"resources": resources}
        if self._web.api_version == "2022-11-28":
            body["rate"] = core.body()
        return reply(body)
