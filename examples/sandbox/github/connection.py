"""The link between a runner's process and GitHub: a session, signs of life, silence."""

from __future__ import annotations

from dataclasses import replace

from sandbox.github import dispatch, runners
from sandbox.github.errors import ApiError
from sandbox.github.records import Runner
from sandbox.github.state import State


def connect(state: State, runner: Runner, os: str, arch: str, version: str | None) -> Runner:
    now = state.now()
    if runner.connected and not _silent(state, runner):
        raise ApiError(409, "A session for this runner already exists.")
    runner = runners.put(
        state,
        replace(
            runner,
            status="online",
            connected=True,
            offline_since=None,
            seen_at=now,
            os=runners.os_name(os) if os else runner.os,
            arch=runners.arch_name(arch) if arch else runner.arch,
            version=version or runner.version,
        ),
    )
    _watch(state, runner.id)
    dispatch.run(state)
    return state.runners.rows[runner.id]


def disconnect(state: State, runner: Runner) -> None:
    go_offline(state, replace(runner, connected=False))


def go_offline(state: State, runner: Runner) -> None:
    runner = runners.put(state, replace(runner, status="offline", offline_since=state.now()))
    runners.expect_connection(state, runner)
    dispatch.lose(state, runner)
    state.wake("runner", runner.id)


def seen(state: State, runner_id: int) -> None:
    """A sign of life; not a change that a list of the past could show."""
    runner = state.runners.get(runner_id)
    if runner is not None and runner.connected:
        state.runners.rows[runner_id] = replace(runner, seen_at=state.now())


def _silent(state: State, runner: Runner) -> bool:
    if runner.seen_at is None:
        return True
    return (state.now() - runner.seen_at).total_seconds() >= state.knobs.offline_after


def _watch(state: State, runner_id: int) -> None:
    """Give the session up when its process has been silent for too long."""

    def check() -> None:
        runner = state.runners.get(runner_id)
        if runner is None or not runner.connected or runner.seen_at is None:
            return
        if state.calls_under_way.get(runner_id):
            seen(state, runner_id)
        elif _silent(state, runner):
            disconnect(state, runner)
            return
        _watch(state, runner_id)

    state.after(state.knobs.offline_after, check)
