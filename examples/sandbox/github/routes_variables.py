"""Repository variables."""

from __future__ import annotations

import re
from dataclasses import replace

from flask import Response, request

from sandbox.github import pagination, render
from sandbox.github.access import Level
from sandbox.github.bodies import json_body, no_content, reply, string
from sandbox.github.errors import ApiError, not_found, validation_failed
from sandbox.github.records import Repository, Variable
from sandbox.github.web import Routes, Web

_NAME = re.compile(r"(?!GITHUB_)[A-Z_][A-Z0-9_]*\Z")
LARGEST_VALUE = 48 * 1024
MOST = 500


class VariableRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        one = "/actions/variables/<name>"
        web.route_repository("GET", "/actions/variables", self._list)
        web.route_repository("POST", "/actions/variables", self._create)
        web.route_repository("GET", one, self._get)
        web.route_repository("PATCH", one, self._update)
        web.route_repository("DELETE", one, self._delete)

    def _may(self, repository: Repository, level: Level) -> None:
        self._web.require(repository.full_name, "actions_variables", level)

    def _list(self, repository: Repository) -> Response:
        self._may(repository, "read")
        at = self._web.read_at
        rows = self._state.variables.as_of(at or self._state.now())
        found = [row for (owner, _), row in rows.items() if owner == repository.full_name]
        url = self._web.repository_url(repository, "/actions/variables")
        page, headers = pagination.page_of(request, found, url, default=10, largest=30)
        body = {"total_count": len(found), "variables": [render.variable(one) for one in page]}
        return reply(body, headers=headers)

    def _create(self, repository: Repository) -> Response:
        self._may(repository, "write")
        body = json_body()
        name, value = _checked(string(body, "name")), _checked_value(string(body, "value"))
        if (repository.full_name, name) in self._state.variables.rows:
            raise ApiError(409, "Already exists - Variable already exists")
        owned = sum(owner == repository.full_name for owner, _ in self._state.variables.rows)
        if owned >= MOST:
            msg = f"Variable limit of {MOST} reached"
            raise validation_failed(msg)
        now = self._state.now()
        self._write(repository, name, Variable(name, value, now, now))
        return reply({}, 201)

    def _get(self, repository: Repository, name: str) -> Response:
        self._may(repository, "read")
        return reply(render.variable(self._found(repository, name)))

    def _update(self, repository: Repository, name: str) -> Response:
        """Last writer wins: there is no conditional write."""
        self._may(repository, "write")
        old = self._found(repository, name)
        body = json_body()
        new_name = _checked(string(body, "name")) if "name" in body else old.name
        value = _checked_value(string(body, "value")) if "value" in body else old.value
        if new_name != old.name:
            if (repository.full_name, new_name) in self._state.variables.rows:
                raise ApiError(409, "Already exists - Variable already exists")
            self._write(repository, old.name, None)
        changed = replace(old, name=new_name, value=value, updated_at=self._state.now())
        self._write(repository, new_name, changed)
        return no_content()

    def _delete(self, repository: Repository, name: str) -> Response:
        self._may(repository, "write")
        self._write(repository, self._found(repository, name).name, None)
        return no_content()

    def _found(self, repository: Repository, name: str) -> Variable:
        found = self._state.variables.get((repository.full_name, name.upper()))
        if found is None:
            raise not_found()
        return found

    def _write(self, repository: Repository, name: str, row: Variable | None) -> None:
        key = (repository.full_name, name)
        before = self._state.variables.get(key)
        if row is None:
            self._state.variables.remove(key)
        else:
            self._state.variables.put(key, row)
        self._state.record(
            "variable_changed",
            repository=repository.full_name,
            name=name,
            before=before.value if before else None,
            after=row.value if row else None,
        )


def _checked(name: str) -> str:
    """Names are stored in upper case."""
    if not _NAME.match(name.upper()):
        msg = (
            "Variable names can only contain alphanumeric characters ([a-z], [A-Z], [0-9]) or "
            "underscores (_). They must start with a letter ([a-z], [A-Z]) or underscores (_) and "
            "must not start with GITHUB_."
        )
        raise validation_failed(msg)
    return name.upper()


def _checked_value(value: str) -> str:
    if len(value.encode()) > LARGEST_VALUE:
        raise validation_failed("Value is too large: the limit is 48 KB")
    return value
