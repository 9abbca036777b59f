"""Workflow runs and their jobs: creation, attempts, cancellation, and what follows from what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sandbox.github import dispatch
from sandbox.github.errors import ApiError, not_found
from sandbox.github.records import Job, Run
from sandbox.github.state import State, number_of

# A run is as far as the job that is least far (cli/cli #13972: queued, while other jobs run).
_PROGRESS = ("requested", "waiting", "pending", "queued", "in_progress", "completed")
_FAILED = ("failure", "timed_out", "startup_failure", "action_required")

RERUN_WINDOW = timedelta(days=30)


def workflow_id(state: State, repository: str, path: str) -> int:
    return state.workflows.setdefault((repository, path), number_of(f"{repository}:{path}"))


def add_run(
    state: State,
    repository: str,
    *,
    name: str = "CI",
    path: str = ".github/workflows/ci.yml",
    event: str = "push",
    head_branch: str = "main",
    head_sha: str | None = None,
    status: str = "queued",
    conclusion: str | None = None,
    actor: str = "octocat",
    stays_open: bool = False,
) -> Run:
    found = state.repository(repository)
    if found is None:
        msg = f"there is no repository {repository}; add_repository first"
        raise ValueError(msg)
    repository = found.full_name
    now = state.now()
    number = state.run_numbers.get(repository, 0) + 1
    state.run_numbers[repository] = number
    sha = head_sha or state.refs.get((repository, f"refs/heads/{head_branch}"))
    run = Run(
        id=next(state.run_ids),
        repository=repository,
        name=name,
        path=path,
        workflow_id=workflow_id(state, repository, path),
        run_number=number,
        attempt=1,
        event=event,
        head_branch=head_branch,
        head_sha=sha or hashlib.sha1(head_branch.encode()).hexdigest(),  # noqa: S324 - as git
        status=status,
        conclusion=conclusion,
        created_at=now,
        updated_at=now,
        run_started_at=now,
        actor=actor,
        display_title=name,
        open=stays_open,
    )
    state.runs.put(run.id, run)
    state.record("run_created", run_id=run.id, repository=repository, status=status)
    return run


def add_job(
    state: State,
    run: Run,
    name: str,
    labels: Sequence[str],
    *,
    status: str = "queued",
    conclusion: str | None = None,
    created_at: datetime | None = None,
) -> Job:
    """A job of the run's latest attempt; one that is queued looks for a runner at once."""
    now = created_at or state.now()
    job = Job(
        id=next(state.job_ids),
        run_id=run.id,
        repository=run.repository,
        attempt=run.attempt,
        name=name,
        labels=tuple(labels),
        status=status,
        conclusion=conclusion,
        created_at=now,
        started_at=now,
        completed_at=now if status == "completed" else None,
        queued_at=now if status == "queued" else None,
    )
    state.jobs.put(job.id, job)
    follow_jobs(state, run.id)
    if status == "queued":
        dispatch.enqueue(state, job)
    else:
        state.record("job_created", job_id=job.id, run_id=run.id, name=name, status=status)
    return state.jobs.rows[job.id]


def jobs_of(state: State, run_id: int, attempt: int | None = None) -> list[Job]:
    return select_jobs(state.jobs.rows.values(), run_id, attempt)


def select_jobs(jobs: Iterable[Job], run_id: int, attempt: int | None) -> list[Job]:
    return [job for job in jobs if job.run_id == run_id and attempt in (None, job.attempt)]


def follow_jobs(state: State, run_id: int) -> None:
    """Bring a run's status in line with the jobs of its latest attempt."""
    run = state.runs.rows[run_id]
    status, conclusion = status_of(run, jobs_of(state, run_id, run.attempt))
    if (status, conclusion) == (run.status, run.conclusion):
        return
    state.runs.put(
        run_id, replace(run, status=status, conclusion=conclusion, updated_at=state.now())
    )
    state.record(
        "run_status", run_id=run_id, before=run.status, after=status, conclusion=conclusion
    )


def status_of(run: Run, jobs: Sequence[Job]) -> tuple[str, str | None]:
    """Status and conclusion of a run whose latest attempt has these jobs."""
    if not jobs:
        return run.status, run.conclusion
    status = min((job.status for job in jobs), key=_PROGRESS.index)
    if status == "completed" and run.open:
        return "in_progress", None
    return status, _conclude(jobs) if status == "completed" else None


def _conclude(jobs: Sequence[Job]) -> str:
    conclusions = [job.conclusion for job in jobs]
    if any(conclusion in _FAILED for conclusion in conclusions):
        return "failure"
    if "cancelled" in conclusions:
        return "cancelled"
    return "skipped" if set(conclusions) == {"skipped"} else "success"


def finished_steps(job: Job, conclusion: str, at: datetime) -> tuple[Mapping[str, Any], ...]:
    if job.steps or job.runner_id is None:
        return job.steps
    step = {
        "name": "Run the job",
        "status": "completed",
        "conclusion": conclusion,
        "number": 1,
        "started_at": job.started_at,
        "completed_at": at,
    }
    return (step,)


def close(state: State, run_id: int) -> Run:
    """No further jobs will come: a run that was kept open may now be completed."""
    state.runs.put(run_id, replace(state.runs.rows[run_id], open=False))
    follow_jobs(state, run_id)
    return state.runs.rows[run_id]


def get(state: State, repository: str, run_id: int) -> Run:
    run = state.runs.get(run_id)
    if run is None or run.repository != repository:
        raise not_found()
    return run


# What can be asked of a run -----------------------------------------------------------------------


def cancel(state: State, run: Run, *, force: bool) -> None:
    """Jobs that wait end now; a job under way is told, and has five minutes, unless forced."""
    if run.status == "completed":
        raise ApiError(409, "Cannot cancel a workflow run that is completed.")
    state.record("run_cancel_requested", run_id=run.id, force=force)
    run = state.runs.put(run.id, replace(run, open=False))
    jobs = [job for job in jobs_of(state, run.id, run.attempt) if job.status != "completed"]
    for job in jobs:
        runner = state.runners.get(job.runner_id or 0)
        if force or job.status != "in_progress" or runner is None or not runner.connected:
            dispatch.complete(state, job, "cancelled")
        else:
            _ask_to_stop(state, job)
    if not jobs:
        now = state.now()
        state.runs.put(
            run.id, replace(run, status="completed", conclusion="cancelled", updated_at=now)
        )
    follow_jobs(state, run.id)


def _ask_to_stop(state: State, job: Job) -> None:
    state.jobs.put(job.id, replace(job, cancel_requested=True))
    state.wake("job", job.id)

    def terminate() -> None:
        dispatch.complete(state, state.jobs.rows[job.id], "cancelled")

    state.after(state.knobs.cancel_timeout, terminate)


def rerun(state: State, run: Run, *, only_failed: bool = False, job: Job | None = None) -> None:
    """A new attempt: the same run, new job ids. What is not run again is listed again as it was."""
    if run.status != "completed":
        raise ApiError(403, "This workflow run is already running")
    if state.now() - run.created_at > RERUN_WINDOW:
        msg = "Unable to retry this workflow run because it was created over a month ago"
        raise ApiError(403, msg)
    old = jobs_of(state, run.id, run.attempt)
    now = state.now()
    run = state.runs.put(
        run.id,
        replace(
            run,
            attempt=run.attempt + 1,
            status="queued",
            conclusion=None,
            run_started_at=now,
            updated_at=now,
        ),
    )
    state.record("run_rerun", run_id=run.id, attempt=run.attempt)
    again = []
    for before in old:
        if job is not None:
            repeat = before.id == job.id
        else:
            repeat = not only_failed or before.conclusion not in ("success", "skipped", "neutral")
        if repeat:
            again.append(before)
        else:
            copy = replace(before, id=next(state.job_ids), attempt=run.attempt)
            state.jobs.put(copy.id, copy)
    for before in again:
        add_job(state, run, before.name, before.labels)
    follow_jobs(state, run.id)


def as_attempt(state: State, run: Run, attempt: int) -> Run:
    """The run as it was (or is) in one of its attempts; 404 for one that never was."""
    if not 1 <= attempt <= run.attempt:
        raise not_found()
    if attempt == run.attempt:
        return run
    jobs = jobs_of(state, run.id, attempt)
    then = replace(run, attempt=attempt, open=False)
    status, conclusion = status_of(then, jobs)
    started = min((job.created_at for job in jobs), default=run.created_at)
    return replace(then, status=status, conclusion=conclusion, run_started_at=started)
