"""Workflow runs and their jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from flask import Response, request

from sandbox.github import pagination, render, run_filters, runs
from sandbox.github.access import Level
from sandbox.github.bodies import json_body, no_content, reply, string
from sandbox.github.errors import ApiError, invalid_request, not_found, validation_failed
from sandbox.github.records import Job, Repository, Run
from sandbox.github.web import Routes, Web

MOST_INPUTS = 25


class RunRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        run, job = "/actions/runs/<int:run_id>", "/actions/jobs/<int:job_id>"
        for method, rule, view in (
            ("GET", "/actions/runs", self._list),
            ("GET", run, self._get),
            ("GET", f"{run}/jobs", self._jobs),
            ("GET", f"{run}/attempts/<int:attempt>", self._attempt),
            ("GET", f"{run}/attempts/<int:attempt>/jobs", self._attempt_jobs),
            ("POST", f"{run}/cancel", self._cancel),
            ("POST", f"{run}/force-cancel", self._force_cancel),
            ("POST", f"{run}/rerun", self._rerun),
            ("POST", f"{run}/rerun-failed-jobs", self._rerun_failed),
            ("GET", job, self._job),
            ("POST", f"{job}/rerun", self._rerun_job),
            ("GET", "/actions/workflows/<workflow>/runs", self._list),
            ("POST", "/actions/workflows/<workflow>/dispatches", self._dispatch),
        ):
            web.route_repository(method, rule, view)

    def _may(self, repository: Repository, level: Level) -> None:
        name = repository.full_name
        self._web.require(name, "actions", level, run_control=level == "write")

    # Runs -------------------------------------------------------------------------------------

    def _list(self, repository: Repository, workflow: str | None = None) -> Response:
        self._may(repository, "read")
        rows = self._state.runs.as_of(self._web.read_at or self._state.now())
        found = [self._seen(run) for run in rows.values() if run.repository == repository.full_name]
        rest = "/actions/runs"
        if workflow is not None:
            number = self._workflow(repository, workflow)[1]
            found = [run for run in found if run.workflow_id == number]
            rest = f"/actions/workflows/{number}/runs"
        found = run_filters.select(found, request.args)
        found.sort(key=lambda run: (run.created_at, run.id), reverse=True)
        total = len(found)
        if run_filters.is_search(request.args):
            found = found[: run_filters.MOST_RESULTS]
        url = self._web.repository_url(repository, rest)
        page, headers = pagination.page_of(request, found, url)
        body = {"total_count": total, "workflow_runs": self._rendered(repository, page)}
        return reply(body, headers=headers)

    def _rendered(self, repository: Repository, found: Sequence[Run]) -> list[dict[str, object]]:
        return [render.run(run, repository, self._web.base) for run in found]

    def _get(self, repository: Repository, run_id: int) -> Response:
        self._may(repository, "read")
        run = self._seen(runs.get(self._state, repository.full_name, run_id))
        return reply(render.run(run, repository, self._web.base))

    def _attempt(self, repository: Repository, run_id: int, attempt: int) -> Response:
        self._may(repository, "read")
        run = runs.get(self._state, repository.full_name, run_id)
        return reply(
            render.run(runs.as_attempt(self._state, run, attempt), repository, self._web.base)
        )

    def _seen(self, run: Run) -> Run:
        """The run with the status that its jobs have as far as they are visible."""
        lag = self._state.knobs.job_status_lag
        if not lag:
            return run
        then = self._state.runs.as_of(self._state.now() - timedelta(seconds=lag))
        return then.get(run.id, run)

    # Jobs -------------------------------------------------------------------------------------

    def _jobs(self, repository: Repository, run_id: int) -> Response:
        which = request.args.get("filter", "latest")
        if which not in ("latest", "all"):
            msg = f"For 'properties/filter', {which} is not one of latest, all."
            raise invalid_request(msg)
        return self._list_jobs(repository, run_id, None, latest=which == "latest")

    def _attempt_jobs(self, repository: Repository, run_id: int, attempt: int) -> Response:
        return self._list_jobs(repository, run_id, attempt, latest=False)

    def _list_jobs(
        self, repository: Repository, run_id: int, attempt: int | None, *, latest: bool
    ) -> Response:
        self._may(repository, "read")
        run = runs.get(self._state, repository.full_name, run_id)
        if attempt is not None and not 1 <= attempt <= run.attempt:
            raise not_found()
        wanted = run.attempt if latest else attempt
        now = self._state.now()
        at = self._web.read_at
        found = runs.jobs_of(self._state, run_id, wanted)
        if at is not None:
            then = self._state.jobs.as_of(at)
            found = [then[job.id] for job in found if job.id in then]
        part = f"/attempts/{attempt}" if attempt is not None else ""
        url = self._web.repository_url(repository, f"/actions/runs/{run_id}{part}/jobs")
        page, headers = pagination.page_of(request, found, url)
        jobs = [self._job_body(job, run, now) for job in page]
        return reply({"total_count": len(found), "jobs": jobs}, headers=headers)

    def _job_body(self, job: Job, run: Run, now: datetime) -> dict[str, object]:
        lag = self._state.knobs.job_status_lag
        at = None
        if lag:
            at = self._state.jobs.as_of(now - timedelta(seconds=lag)).get(job.id)
        return render.job(job, run, self._web.base, at=at)

    def _found_job(self, repository: Repository, job_id: int) -> Job:
        job = self._state.jobs.get(job_id)
        if job is None or job.repository != repository.full_name:
            raise not_found()
        return job

    def _job(self, repository: Repository, job_id: int) -> Response:
        self._may(repository, "read")
        job = self._found_job(repository, job_id)
        return reply(self._job_body(job, self._state.runs.rows[job.run_id], self._state.now()))

    # What can be asked of them ----------------------------------------------------------------

    def _order(
        self, repository: Repository, run_id: int, order: Callable[[Run], None], status: int
    ) -> Response:
        self._may(repository, "write")
        json_body()
        order(runs.get(self._state, repository.full_name, run_id))
        return reply({}, status)

    def _cancel(self, repository: Repository, run_id: int) -> Response:
        return self._order(
            repository, run_id, lambda run: runs.cancel(self._state, run, force=False), 202
        )

    def _force_cancel(self, repository: Repository, run_id: int) -> Response:
        return self._order(
            repository, run_id, lambda run: runs.cancel(self._state, run, force=True), 202
        )

    def _rerun(self, repository: Repository, run_id: int) -> Response:
        return self._order(repository, run_id, lambda run: runs.rerun(self._state, run), 201)

    def _rerun_failed(self, repository: Repository, run_id: int) -> Response:
        return self._order(
            repository, run_id, lambda run: runs.rerun(self._state, run, only_failed=True), 201
        )

    def _rerun_job(self, repository: Repository, job_id: int) -> Response:
        self._may(repository, "write")
        job = self._found_job(repository, job_id)
        return self._order(
            repository, job.run_id, lambda run: runs.rerun(self._state, run, job=job), 201
        )

    # Workflows --------------------------------------------------------------------------------

    def _workflow(self, repository: Repository, asked: str) -> tuple[str, int]:
        """Path and id of a workflow that is asked for by id or by file name."""
        for (owner, path), number in self._state.workflows.items():
            if owner == repository.full_name and asked in (str(number), path.rpartition("/")[2]):
                return path, number
        raise not_found()

    def _dispatch(self, repository: Repository, workflow: str) -> Response:
        self._may(repository, "write")
        path, _ = self._workflow(repository, workflow)
        body = json_body()
        ref = string(body, "ref").removeprefix("refs/heads/").removeprefix("refs/tags/")
        inputs = body.get("inputs", {})
        if not isinstance(inputs, dict) or len(inputs) > MOST_INPUTS:
            raise validation_failed(f"inputs must have at most {MOST_INPUTS} properties")
        names = (f"refs/heads/{ref}", f"refs/tags/{ref}")
        if not any((repository.full_name, name) in self._state.refs.rows for name in names):
            msg = f"No ref found for: {ref}"
            raise ApiError(422, msg)
        run = runs.add_run(
            self._state,
            repository.full_name,
            path=path,
            event="workflow_dispatch",
            head_branch=ref,
            actor=self._web.identity.login,
        )
        if self._web.api_version == "2022-11-28" and not body.get("return_run_details"):
            return no_content()
        rendered = render.run(run, repository, self._web.base)
        details = {
            "workflow_run_id": run.id,
            "run_url": rendered["url"],
            "html_url": rendered["html_url"],
        }
        return reply(details)
