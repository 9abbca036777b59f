"""The stand-in runner's private protocol: JSON over HTTP, prefix `/_runner`.

The real runner talks to services that GitHub does not document; this is the least that stands for
them. Refusals have GitHub's error body `{"message", "documentation_url", "status"}`. Apart from
`register` every call sends `Authorization: Bearer CREDENTIAL`; an unknown credential is 401, and so
is one whose registration was deleted (message "The runner registration has been deleted from the
server, please re-configure."), except for `GET`/`complete` of a job that the runner had acquired.

`POST /_runner/register`                                               (config.sh, no credential)
    {"url": "http://127.0.0.1:PORT/octo-org/gpu-tests",   also ".../octo-org" for an organization
     "token": "A...",                                     a registration token of that very scope
     "name": "runner-1", "labels": ["a", "b"],
     "ephemeral": true, "replace": false, "no_default_labels": false,
     "runner_group": "gpu",                               optional; 404 when there is none
     "os": "linux"|"win"|"osx", "arch": "x64"|"arm64"|"arm", "version": "2.335.1"}
    201 {"id": 25640001, "name": "runner-1", "credential": "...", "labels": ["self-hosted", ...]}
    404 token unknown, expired, a remove token, or of another scope: {"message": "Not Found"}
    409 the name is taken and `replace` is false:
        {"message": "Already exists - A runner with the name NAME already exists."}
    422 no name, or a label that is empty or longer than 256 characters
    With `replace` the record of that name keeps its id and gets the new labels and credential.

`POST /_runner/remove`  {"token": "A..."}                                   (config.sh remove)
    204 removed | 404 remove token unknown, expired or of another scope

`POST /_runner/session`  {"os", "arch", "version"}, all optional; a JIT runner must send them
    200 {"id": 25640001, "name": "runner-1", "ephemeral": true}           the runner is online
    409 another process holds the session: {"message": "A session for this runner already exists."}
    A session without any call (a call under way counts) for `Knobs.offline_after` seconds (120) is
    given up: the runner goes offline, and a new session may begin.
`DELETE /_runner/session`
    204 the runner is offline

`GET /_runner/message?wait=50`                                     (seconds, at most 60, default 50)
    200 {"job": {"id": 1, "run_id": 2, "run_attempt": 1, "repository": "octo-org/gpu-tests",
                 "name": "test", "labels": ["a"], "workflow_name": "CI"}}
        sent to this runner and to be acquired within 60 s; a repeated call repeats it
    204 nothing in that time
    401 deleted meanwhile (an ephemeral runner after its job, too) | 409 no session

`POST /_runner/jobs/{id}/acquire`
    200 {"job": {...as above}}     REST now says busy and in_progress
    409 the job was not, or is no longer, meant for this runner (re-queued, cancelled)

`GET /_runner/jobs/{id}?wait=50`                               (answers at once without `wait`)
    200 {"id": 1, "status": "in_progress"|"completed", "conclusion": null|"success"|...,
         "cancel_requested": false}
        returns as soon as the job is completed (somebody outside finished it) or to be cancelled
    404 not a job of this runner

`POST /_runner/jobs/{id}/complete`  {"conclusion": "success"|"failure"|"cancelled"}
    200 {"id": 1, "status": "completed", "conclusion": "..."}
        again, or after somebody outside finished it: 200 with the conclusion that stands.
    After it an ephemeral runner is removed, a persistent one is idle.

`DELETE /_runner/session` of a removed runner is 204 too. A runner started with
`--jitconfig CONFIG` finds its credential in the JSON object that CONFIG is in base64:
`.credentials` is base64 of {"scheme": "OAuth", "data": {"credential": "..."}} and `.runner` of
{"agentId", "agentName", "serverUrl", "gitHubUrl", "ephemeral": true}.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from flask import Response, request

from sandbox.github import connection, dispatch, groups, runners, scope_tokens, scopes
from sandbox.github.bodies import json_body, no_content, reply
from sandbox.github.errors import ApiError, not_found, validation_failed
from sandbox.github.records import Job, Label, Runner
from sandbox.github.web import Routes, Web

LONGEST_WAIT = 60.0
DEFAULT_WAIT = 50.0
DELETED = "The runner registration has been deleted from the server, please re-configure."


class RunnerProtocol(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        web.route("POST", "/_runner/register", self._register)
        web.route("POST", "/_runner/remove", self._remove)
        web.route("POST", "/_runner/session", self._connect)
        web.route("DELETE", "/_runner/session", self._disconnect)
        web.route("GET", "/_runner/message", self._message)
        web.route("POST", "/_runner/jobs/<int:job_id>/acquire", self._acquire)
        web.route("GET", "/_runner/jobs/<int:job_id>", self._job)
        web.route("POST", "/_runner/jobs/<int:job_id>/complete", self._complete)

    # Registration -----------------------------------------------------------------------------

    def _register(self) -> Response:
        body = json_body()
        scope = scopes.from_url(self._state, str(body.get("url", "")))
        token = str(body.get("token", ""))
        if scope is None or not scope_tokens.accepts(self._state, token, scope, "registration"):
            raise not_found()
        name = str(body.get("name") or "")
        if not name:
            raise validation_failed("Name cannot be empty")
        runner = runners.register(
            self._state,
            scope,
            name,
            _labels(body),
            os=str(body.get("os", "linux")),
            arch=str(body.get("arch", "x64")),
            version=body.get("version"),
            ephemeral=bool(body.get("ephemeral")),
            runner_group_id=self._group(scope, body.get("runner_group")),
            replace_existing=bool(body.get("replace")),
        )
        credential = runners.new_credential(self._state, runner)
        answer = {
            "id": runner.id,
            "name": runner.name,
            "credential": credential,
            "labels": runner.label_names,
        }
        return reply(answer, 201)

    def _group(self, scope: str, name: str | None) -> int:
        return groups.by_name(self._state, scope, name).id if name else groups.DEFAULT

    def _remove(self) -> Response:
        runner = self._runner()
        token = str(json_body().get("token", ""))
        if not scope_tokens.accepts(self._state, token, runner.scope, "remove"):
            raise not_found()
        runners.remove(self._state, runner, "config.sh remove")
        return no_content()

    # Session ----------------------------------------------------------------------------------

    def _connect(self) -> Response:
        body = json_body()
        runner = connection.connect(
            self._state,
            self._runner(),
            str(body.get("os", "")),
            str(body.get("arch", "")),
            body.get("version"),
        )
        return reply({"id": runner.id, "name": runner.name, "ephemeral": runner.ephemeral})

    def _disconnect(self) -> Response:
        runner = self._state.runners.get(self._runner_id())
        if runner is not None and runner.connected:
            connection.disconnect(self._state, runner)
        return no_content()

    def _message(self) -> Response:
        runner_id = self._runner().id
        deadline = monotonic() + _wait(DEFAULT_WAIT)
        with self._under_way(runner_id):
            while True:
                runner = self._runner()
                if runner.leaving:
                    raise ApiError(401, DELETED)
                if not runner.connected:
                    raise ApiError(409, "There is no session for this runner.")
                job = self._state.jobs.get(runner.job_id or 0)
                if job is not None and job.status == "queued":
                    return reply({"job": _summary(self._state.runs.rows[job.run_id].name, job)})
                if monotonic() >= deadline:
                    return no_content()
                self._state.wait("runner", runner_id, deadline - monotonic())
                self._state.tick()

    # Jobs -------------------------------------------------------------------------------------

    def _acquire(self, job_id: int) -> Response:
        runner = self._runner()
        connection.seen(self._state, runner.id)
        job = dispatch.acquire(self._state, job_id, runner.id)
        return reply({"job": _summary(self._state.runs.rows[job.run_id].name, job)})

    def _job(self, job_id: int) -> Response:
        runner_id = self._runner_id()
        deadline = monotonic() + _wait(0.0)
        with self._under_way(runner_id):
            while True:
                job = self._own_job(job_id, runner_id)
                over = job.status == "completed" or job.cancel_requested
                if over or monotonic() >= deadline:
                    return reply({**_outcome(job), "cancel_requested": job.cancel_requested})
                self._state.wait("job", job_id, deadline - monotonic())
                self._state.tick()

    def _complete(self, job_id: int) -> Response:
        runner_id = self._runner_id()
        connection.seen(self._state, runner_id)
        job = self._own_job(job_id, runner_id)
        conclusion = str(json_body().get("conclusion", "success"))
        return reply(_outcome(dispatch.complete(self._state, job, conclusion)))

    def _own_job(self, job_id: int, runner_id: int) -> Job:
        job = self._state.jobs.get(job_id)
        if job is None or job.runner_id != runner_id:
            raise not_found()
        return job

    # Who asks ---------------------------------------------------------------------------------

    def _runner_id(self) -> int:
        header = request.headers.get("Authorization", "")
        found = self._state.credentials.get(header.removeprefix("Bearer ").strip())
        if found is None:
            raise ApiError(401, "Bad credentials")
        return found

    def _runner(self) -> Runner:
        runner = self._state.runners.get(self._runner_id())
        if runner is None:
            raise ApiError(401, DELETED)
        return runner

    @contextmanager
    def _under_way(self, runner_id: int) -> Iterator[None]:
        """While a call is being served, its runner is alive."""
        counts = self._state.calls_under_way
        counts[runner_id] = counts.get(runner_id, 0) + 1
        connection.seen(self._state, runner_id)
        try:
            yield
        finally:
            counts[runner_id] -= 1
            connection.seen(self._state, runner_id)


def _wait(default: float) -> float:
    try:
        asked = float(request.args.get("wait", default))
    except ValueError:
        asked = default
    return min(max(asked, 0.0), LONGEST_WAIT)


def _labels(body: dict[str, Any]) -> list[Label]:
    """Defaults first and read-only, then what the runner asked for."""
    labels = []
    if not body.get("no_default_labels"):
        os = runners.os_name(str(body.get("os", "linux")))
        arch = runners.arch_name(str(body.get("arch", "x64")))
        labels = [Label(name, "read-only") for name in ("self-hosted", os, arch)]
    for name in body.get("labels") or ():
        if not isinstance(name, str) or not 0 < len(name) <= runners.MAX_LABEL_LENGTH:
            raise validation_failed("A label must have between 1 and 256 characters")
        labels.append(Label(name))
    return labels


def _summary(workflow: str, job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "run_id": job.run_id,
        "run_attempt": job.attempt,
        "repository": job.repository,
        "name": job.name,
        "labels": list(job.labels),
        "workflow_name": workflow,
    }


def _outcome(job: Job) -> dict[str, Any]:
    return {"id": job.id, "status": job.status, "conclusion": job.conclusion}
