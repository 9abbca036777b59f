"""What a GitHub App asks as itself: where it is installed, and a token for there."""

from __future__ import annotations

from typing import Any

from flask import Response

from sandbox.github import apps
from sandbox.github import render_repositories as repositories
from sandbox.github.bodies import json_body, reply
from sandbox.github.errors import ApiError, not_found
from sandbox.github.state import number_of
from sandbox.github.web import Routes, Web


class AppRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        web.route("GET", "/repos/<owner>/<repo>/installation", self._of_repository)
        web.route("GET", "/orgs/<org>/installation", self._of_organization)
        web.route("POST", "/app/installations/<int:number>/access_tokens", self._token)

    def _app_id(self) -> str:
        if self._web.identity.kind != "app":
            raise ApiError(401, "A JSON web token could not be decoded")
        return self._web.identity.login

    def _of_repository(self, owner: str, repo: str) -> Response:
        app_id = self._app_id()
        repository = self._state.repository(f"{owner}/{repo}")
        if repository is None:
            raise not_found()
        return self._reply(apps.installation_for(self._state, app_id, repository=repository))

    def _of_organization(self, org: str) -> Response:
        return self._reply(apps.installation_for(self._state, self._app_id(), account=org))

    def _reply(self, found: apps.Installation) -> Response:
        base, at = self._web.base, repositories.utc(found.created_at)
        body: dict[str, Any] = {
            "id": found.id,
            "account": repositories.user(found.account, base, "Organization"),
            "repository_selection": "all" if found.repositories is None else "selected",
            "access_tokens_url": f"{base}/app/installations/{found.id}/access_tokens",
            "repositories_url": f"{base}/installation/repositories",
            "html_url": f"{repositories.site(base)}/organizations/{found.account}/settings",
            "app_id": number_of(found.app_id),
            "app_slug": f"app-{number_of(found.app_id)}",
            "target_id": number_of(found.account),
            "target_type": "Organization",
            "permissions": dict(found.permissions),
            "events": [],
            "created_at": at,
            "updated_at": at,
            "single_file_name": None,
            "suspended_by": None,
            "suspended_at": None,
        }
        return reply(body)

    def _token(self, number: int) -> Response:
        app_id = self._app_id()
        found = self._state.installations.get(number)
        if found is None or found.app_id != app_id:
            raise not_found()
        identity, selected = apps.create_token(self._state, found, json_body())
        body: dict[str, Any] = {
            "token": identity.token,
            "expires_at": repositories.utc(identity.expires_at),
            "permissions": dict(identity.permissions or {}),
            "repository_selection": "all" if selected is None else "selected",
        }
        if selected is not None:
            base = self._web.base
            can = dict.fromkeys(("admin", "maintain", "push", "triage"), False) | {"pull": True}
            body["repositories"] = [
                repositories.full_repository(one, base, can) for one in selected
            ]
        return reply(body, 201)
