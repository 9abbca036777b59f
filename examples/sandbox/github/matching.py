"""Which of the waiting jobs and idle runners fit each other."""

from __future__ import annotations

from datetime import timedelta

from sandbox.github.records import Job, Runner
from sandbox.github.scopes import serves
from sandbox.github.state import State


def is_idle(runner: Runner) -> bool:
    """Whether a job could be sent to it: connected, and without one."""
    return runner.status == "online" and runner.job_id is None and not runner.busy


def fits(state: State, job: Job, runner: Runner) -> bool:
    """The runner has all the labels, ignoring case, and it and its group serve the repository."""
    has_all = job.keys <= runner.keys
    if not has_all and runner.stale_keys is not None:
        has_all = job.keys <= runner.stale_keys
    group = state.groups.get(runner.runner_group_id)
    in_group = group is None or group.serves(job.repository)
    return has_all and in_group and serves(runner.scope, job.repository)


def runner_for(state: State, job: Job) -> Runner | None:
    """An idle runner that fits; whoever let this job pass before comes last."""
    past = _past(state)
    fitting = [
        runner
        for runner in state.runners.rows.values()
        if is_idle(runner) and fits(state, job, past.get(runner.id, runner))
    ]
    if state.knobs.dispatch_order == "random":
        state.random.shuffle(fitting)
    return min(fitting, key=lambda runner: runner.id == job.avoid, default=None)


def job_for(state: State, runner: Runner) -> Job | None:
    """The job that has waited longest among those that fit."""
    if not is_idle(runner):
        return None
    seen = _past(state).get(runner.id, runner)
    waiting = list(state.queued)
    if state.knobs.dispatch_order == "random":
        state.random.shuffle(waiting)
    jobs = (state.jobs.rows[job_id] for job_id in waiting)
    return next((job for job in jobs if fits(state, job, seen)), None)


def _past(state: State) -> dict[int, Runner]:
    """The runners with the labels that have reached the matcher, where that takes a while."""
    lag = state.knobs.matcher_label_lag
    return state.runners.as_of(state.now() - timedelta(seconds=lag)) if lag else {}
