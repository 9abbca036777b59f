"""Git refs, and the commits and trees that a compare-and-swap needs."""

from __future__ import annotations

from flask import Response

from sandbox.github import refs
from sandbox.github import render_repositories as repositories
from sandbox.github.access import Level
from sandbox.github.bodies import json_body, no_content, reply, string, string_list
from sandbox.github.errors import invalid_request, not_found
from sandbox.github.records import Repository
from sandbox.github.web import Routes, Web


class RefRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        web.route_repository("POST", "/git/refs", self._create)
        web.route_repository("GET", "/git/ref/<path:name>", self._get)
        web.route_repository("PATCH", "/git/refs/<path:name>", self._update)
        web.route_repository("DELETE", "/git/refs/<path:name>", self._delete)
        web.route_repository("GET", "/git/matching-refs/<path:prefix>", self._matching)
        web.route_repository("POST", "/git/commits", self._create_commit)
        web.route_repository("GET", "/git/commits/<sha>", self._get_commit)
        web.route_repository("GET", "/git/trees/<sha>", self._get_tree)

    def _may(self, repository: Repository, level: Level) -> None:
        self._web.require(repository.full_name, "contents", level)

    def _rendered(self, repository: Repository, name: str, sha: str) -> dict[str, object]:
        return repositories.ref(repository, name, sha, self._web.base)

    def _create(self, repository: Repository) -> Response:
        self._may(repository, "write")
        body = json_body()
        name, sha = string(body, "ref"), string(body, "sha")
        refs.create(self._state, repository, name, sha)
        rendered = self._rendered(repository, name, sha)
        return reply(rendered, 201, {"Location": str(rendered["url"])})

    def _get(self, repository: Repository, name: str) -> Response:
        self._may(repository, "read")
        at = self._web.read_at or self._state.now()
        sha = self._state.refs.as_of(at).get((repository.full_name, f"refs/{name}"))
        if sha is None:
            raise not_found()
        return reply(self._rendered(repository, f"refs/{name}", sha))

    def _update(self, repository: Repository, name: str) -> Response:
        self._may(repository, "write")
        body = json_body()
        sha, force = string(body, "sha"), body.get("force", False)
        if not isinstance(force, bool):
            raise invalid_request("For 'properties/force', it is not a boolean.")
        refs.update(self._state, repository, f"refs/{name}", sha, force=force)
        return reply(self._rendered(repository, f"refs/{name}", sha))

    def _delete(self, repository: Repository, name: str) -> Response:
        self._may(repository, "write")
        refs.delete(self._state, repository, f"refs/{name}")
        return no_content()

    def _matching(self, repository: Repository, prefix: str) -> Response:
        """All refs that begin so, not paginated; none is an empty list."""
        self._may(repository, "read")
        rows = self._state.refs.as_of(self._web.read_at or self._state.now())
        return reply(
            [
                self._rendered(repository, name, sha)
                for (owner, name), sha in rows.items()
                if owner == repository.full_name and name.startswith(f"refs/{prefix}")
            ]
        )

    def _create_commit(self, repository: Repository) -> Response:
        self._may(repository, "write")
        body = json_body()
        parents = string_list(body, "parents") if "parents" in body else ()
        commit = refs.add_commit(
            self._state, string(body, "message"), string(body, "tree"), parents
        )
        rendered = repositories.commit(repository, commit, self._web.base)
        return reply(rendered, 201, {"Location": rendered["url"]})

    def _get_commit(self, repository: Repository, sha: str) -> Response:
        self._may(repository, "read")
        commit = self._state.commits.get(sha)
        if commit is None:
            raise not_found()
        return reply(repositories.commit(repository, commit, self._web.base))

    def _get_tree(self, repository: Repository, sha: str) -> Response:
        """Every tree is empty: a commit says what it has to say in its message."""
        self._may(repository, "read")
        known = {commit.tree for commit in self._state.commits.values()}
        if sha not in known:
            raise not_found()
        url = f"{repositories.repository_url(repository, self._web.base)}/git/trees/{sha}"
        return reply({"sha": sha, "url": url, "tree": [], "truncated": False})
