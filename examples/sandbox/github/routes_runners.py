"""Runners of repositories, organizations and enterprises, their tokens and their labels."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

from flask import Response, request

from sandbox.github import groups, jit, labels, pagination, render, runners, scope_tokens
from sandbox.github.bodies import json_body, no_content, reply, string_list
from sandbox.github.records import Runner
from sandbox.github.web import Routes, Web


class RunnerRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        root = "/actions/runners"
        one = f"{root}/<int:runner_id>"
        for method, rule, view, level in (
            ("GET", root, self._list, "read"),
            ("GET", one, self._get, "read"),
            ("DELETE", one, self._delete, "write"),
            ("POST", f"{root}/registration-token", self._registration_token, "write"),
            ("POST", f"{root}/remove-token", self._remove_token, "write"),
            ("POST", f"{root}/generate-jitconfig", self._jit, "write"),
            ("GET", f"{one}/labels", self._labels, "read"),
            ("POST", f"{one}/labels", self._add_labels, "write"),
            ("PUT", f"{one}/labels", self._set_labels, "write"),
            ("DELETE", f"{one}/labels", self._clear_labels, "write"),
            ("DELETE", f"{one}/labels/<path:name>", self._remove_label, "write"),
        ):
            web.route_scopes(method, rule, view, level)  # type: ignore[arg-type]
        groups = "/actions/runner-groups"
        web.route_groups("GET", groups, self._groups, "read")
        web.route_groups("GET", f"{groups}/<int:group>", self._group, "read")
        web.route_groups("GET", f"{groups}/<int:group>/runners", self._list, "read")

    def _list(self, scope: str, group: int | None = None) -> Response:
        found = [runner for runner in self._visible() if runner.scope == scope]
        if group is not None:
            found = [runner for runner in found if runner.runner_group_id == group]
        name = request.args.get("name")
        if name and group is None:
            exact = self._state.knobs.name_filter == "exact"
            found = [r for r in found if (name == r.name if exact else name in r.name)]
        order = self._state.knobs.list_order
        if order == "name":
            found.sort(key=lambda runner: runner.name)
        elif order == "unstable":
            self._state.random.shuffle(found)
        rest = f"/actions/runner-groups/{group}/runners" if group else "/actions/runners"
        page, headers = pagination.page_of(request, found, self._web.scope_url(scope, rest))
        body = {
            "total_count": len(found),
            "runners": [render.runner(runner) for runner in self._as_seen(page)],
        }
        return reply(body, headers=headers)

    def _visible(self) -> list[Runner]:
        """The runners that a list shows: all, or those of a while ago."""
        table, at, lag = self._state.runners, self._web.read_at, self._state.knobs.runner_list_lag
        if at is not None:
            return list(table.as_of(at).values())
        found = list(table.rows.values())
        if lag:
            oldest = self._state.now() - timedelta(seconds=lag)
            found = [runner for runner in found if runner.created_at <= oldest]
        return found

    def _as_seen(self, page: list[Runner]) -> list[Runner]:
        """The same runners with `busy` and `status` as late as they become visible."""
        for field, unseen in (("busy", False), ("status", "offline")):
            lag: float = getattr(self._state.knobs, f"{field}_lag")
            if lag:
                then = self._state.runners.as_of(self._state.now() - timedelta(seconds=lag))
                for number, runner in enumerate(page):
                    seen: Any = getattr(then[runner.id], field) if runner.id in then else unseen
                    page[number] = replace(runner, **{field: seen})
        return page

    def _get(self, scope: str, runner_id: int) -> Response:
        runner = runners.get(self._state, scope, runner_id)
        return reply(render.runner(self._as_seen([runner])[0]))

    def _delete(self, scope: str, runner_id: int) -> Response:
        runners.delete(self._state, scope, runner_id)
        return no_content()

    def _groups(self, scope: str) -> Response:
        found = groups.of(self._state, scope)
        repository = request.args.get("visible_to_repository")
        if repository:
            found = [group for group in found if group.serves(f"{scope}/{repository}")]
        page, headers = pagination.page_of(
            request, found, self._web.scope_url(scope, "/actions/runner-groups")
        )
        body = {
            "total_count": len(found),
            "runner_groups": [self._group_body(group) for group in page],
        }
        return reply(body, headers=headers)

    def _group(self, scope: str, group: int) -> Response:
        return reply(self._group_body(groups.by_id(self._state, scope, group)))

    def _group_body(self, group: groups.RunnerGroup) -> dict[str, Any]:
        rest = f"/actions/runner-groups/{group.id}/runners"
        return groups.body(group, self._web.scope_url(group.scope, rest))

    # Tokens -----------------------------------------------------------------------------------

    def _registration_token(self, scope: str) -> Response:
        return self._token(scope, "registration")

    def _remove_token(self, scope: str) -> Response:
        return self._token(scope, "remove")

    def _token(self, scope: str, purpose: Literal["registration", "remove"]) -> Response:
        token = scope_tokens.issue(self._state, scope, purpose)
        body = {"token": token.token, "expires_at": render.pacific(token.expires_at)}
        return reply(body, 201)

    def _jit(self, scope: str) -> Response:
        runner, config = jit.generate(self._state, scope, json_body(), self._web.base)
        return reply({"runner": render.runner(runner), "encoded_jit_config": config}, 201)

    # Labels -----------------------------------------------------------------------------------

    def _labels(self, scope: str, runner_id: int) -> Response:
        return reply(render.labels(runners.get(self._state, scope, runner_id)))

    def _add_labels(self, scope: str, runner_id: int) -> Response:
        runner = runners.get(self._state, scope, runner_id)
        names = string_list(json_body(), "labels")
        return reply(render.labels(labels.add(self._state, runner, names)))

    def _set_labels(self, scope: str, runner_id: int) -> Response:
        runner = runners.get(self._state, scope, runner_id)
        names = string_list(json_body(), "labels")
        return reply(render.labels(labels.set_custom(self._state, runner, names)))

    def _clear_labels(self, scope: str, runner_id: int) -> Response:
        runner = runners.get(self._state, scope, runner_id)
        return reply(render.labels(labels.remove_all_custom(self._state, runner)))

    def _remove_label(self, scope: str, runner_id: int, name: str) -> Response:
        runner = runners.get(self._state, scope, runner_id)
        return reply(render.labels(labels.remove(self._state, runner, name)))
