"""Which job goes to which runner, in two steps: dispatched to it, then acquired by it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sandbox.github import groups, matching, runners, runs
from sandbox.github.errors import ApiError
from sandbox.github.records import Job, Runner
from sandbox.github.state import State


def enqueue(state: State, job: Job) -> None:
    """Let a job wait for a runner; after 24 hours it has failed."""
    state.queued[job.id] = None
    state.record(
        "job_queued",
        job_id=job.id,
        run_id=job.run_id,
        repository=job.repository,
        name=job.name,
        labels=list(job.labels),
    )

    def give_up() -> None:
        now = state.jobs.get(job.id)
        if now is not None and now.status == "queued":
            complete(state, now, "failure")

    state.after(state.knobs.queue_timeout, give_up)
    offer_job(state, job.id)


def offer_job(state: State, job_id: int) -> None:
    """Send a waiting job to an idle runner, if there is one for it."""
    job = state.jobs.rows[job_id]
    runner = matching.runner_for(state, job)
    if runner is not None:
        _dispatch(state, job, runner)


def offer_runner(state: State, runner_id: int) -> None:
    """Send a waiting job to this runner, if it is idle and there is one for it."""
    runner = state.runners.get(runner_id)
    job = matching.job_for(state, runner) if runner is not None else None
    if runner is not None and job is not None:
        _dispatch(state, job, runner)


def _dispatch(state: State, job: Job, runner: Runner) -> None:
    now = state.now()
    del state.queued[job.id]
    state.jobs.put(job.id, replace(job, dispatched_to=runner.id, dispatched_at=now))
    runners.change(state, runner.id, job_id=job.id)
    state.record("job_dispatched", job_id=job.id, runner_id=runner.id, runner_name=runner.name)
    state.after(state.knobs.acquire_timeout, lambda: _not_acquired(state, job.id, now))
    state.wake("runner", runner.id)
    if state.knobs.auto_acquire and not runner.connected:
        acquire(state, job.id, runner.id)


def _not_acquired(state: State, job_id: int, dispatched_at: datetime) -> None:
    job = state.jobs.get(job_id)
    if job is None or job.status != "queued" or job.dispatched_at != dispatched_at:
        return
    runner = state.runners.get(job.dispatched_to or 0)
    if runner is None:
        left = state.knobs.lost_job_requeue - (state.now() - dispatched_at).total_seconds()
        if left > 0:
            state.after(left, lambda: _not_acquired(state, job_id, dispatched_at))
            return
    elif runner.job_id == job_id:
        runners.change(state, runner.id, job_id=None)
    state.jobs.put(
        job_id, replace(job, dispatched_to=None, dispatched_at=None, avoid=job.dispatched_to)
    )
    state.queued[job_id] = None
    state.record("job_requeued", job_id=job_id, runner_id=job.dispatched_to)
    offer_job(state, job_id)
    if runner is not None:
        offer_runner(state, runner.id)


def acquire(state: State, job_id: int, runner_id: int) -> Job:
    """The runner commits itself: only now does REST say busy and in_progress."""
    job = state.jobs.get(job_id)
    runner = state.runners.get(runner_id)
    if job is None or runner is None or runner.job_id != job_id:
        raise ApiError(409, "The job is not, or no longer, assigned to this runner.")
    if job.status == "in_progress":
        return job
    group = groups.by_id(state, runner.scope, runner.runner_group_id).name
    job = state.jobs.put(
        job_id,
        replace(
            job,
            status="in_progress",
            started_at=state.now(),
            runner_id=runner.id,
            runner_name=runner.name,
            runner_group_id=runner.runner_group_id,
            runner_group_name=group,
        ),
    )
    state.record("job_acquired", job_id=job_id, runner_id=runner.id, runner_name=runner.name)
    runners.change(state, runner.id, busy=True)
    runs.follow_jobs(state, job.run_id)
    state.wake("job", job_id)
    return job


def complete(state: State, job: Job, conclusion: str) -> Job:
    """The job is over, by its runner, from outside, or by time; completing it again is nothing."""
    if job.status == "completed":
        return job
    state.queued.pop(job.id, None)
    now = state.now()
    done = state.jobs.put(
        job.id,
        replace(
            job,
            status="completed",
            conclusion=conclusion,
            completed_at=now,
            steps=runs.finished_steps(job, conclusion, now),
        ),
    )
    state.record(
        "job_completed",
        job_id=job.id,
        runner_id=job.runner_id,
        conclusion=conclusion,
        name=job.name,
    )
    state.wake("job", job.id)
    runs.follow_jobs(state, job.run_id)
    runner = state.runners.get(job.runner_id or job.dispatched_to or 0)
    if runner is not None and runner.job_id == job.id:
        _set_free(state, runner)
        offer_runner(state, runner.id)
    return done


def _set_free(state: State, runner: Runner) -> None:
    if not runner.ephemeral or not runner.busy:
        runners.change(state, runner.id, job_id=None, busy=False)
        state.wake("runner", runner.id)
        return
    linger = state.knobs.ephemeral_linger
    if not linger:
        runners.remove(state, runners.change(state, runner.id, job_id=None, busy=False), "job done")
        return
    runners.change(state, runner.id, leaving=True)

    def leave() -> None:
        now = state.runners.get(runner.id)
        if now is not None:
            freed = runners.change(state, runner.id, job_id=None, busy=False)
            runners.remove(state, freed, "job done")

    state.after(linger, leave)
    state.wake("runner", runner.id)


def lose(state: State, runner: Runner) -> None:
    """A busy runner went offline: its job fails when it stays so, and only then is it free."""
    if not runner.busy or runner.job_id is None:
        return
    job_id, since = runner.job_id, runner.offline_since

    def check() -> None:
        now = state.runners.get(runner.id)
        job = state.jobs.get(job_id)
        if now is not None and job is not None and now.offline_since == since:
            complete(state, job, "failure")

    state.after(state.knobs.lost_job_failure, check)
