"""The registry of runners: registration, connection, deletion, disappearance."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sandbox.github.errors import ApiError, not_found
from sandbox.github.records import Label, Runner
from sandbox.github.state import State

MAX_LABEL_LENGTH = 256

_OS = {"linux": "Linux", "win": "Windows", "windows": "Windows", "osx": "macOS", "macos": "macOS"}
_ARCH = {
    "x64": "X64",
    "x86_64": "X64",
    "arm64": "ARM64",
    "aarch64": "ARM64",
    "arm": "ARM",
}


def os_name(text: str) -> str:
    return _OS.get(text.lower(), text or "unknown")


def arch_name(text: str) -> str:
    return _ARCH.get(text.lower(), text.upper())


def unique_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """The first of every name, ignoring case."""
    found: dict[str, Label] = {}
    for label in labels:
        found.setdefault(label.key, label)
    return tuple(found.values())


def name_taken(name: str) -> ApiError:
    return ApiError(409, f"Already exists - A runner with the name {name} already exists.")


def put(state: State, runner: Runner) -> Runner:
    """Store a changed runner and write down what everybody can see of the change."""
    before = state.runners.get(runner.id)
    state.runners.put(runner.id, runner)
    was = "offline" if before is None else before.status
    if was != runner.status:
        state.record(f"runner_{runner.status}", runner_id=runner.id, name=runner.name)
    if (before.busy if before else False) != runner.busy:
        kind = "runner_busy" if runner.busy else "runner_idle"
        state.record(kind, runner_id=runner.id, name=runner.name, job_id=runner.job_id)
    return runner


def change(state: State, runner_id: int, **changes: Any) -> Runner:
    return put(state, replace(state.runners.rows[runner_id], **changes))


def register(
    state: State,
    scope: str,
    name: str,
    labels: Sequence[Label],
    *,
    os: str = "linux",
    arch: str = "x64",
    version: str | None = None,
    ephemeral: bool = False,
    replace_existing: bool = False,
    jit: bool = False,
    runner_group_id: int = 1,
) -> Runner:
    """A new, offline runner; 409 when the name is taken in the scope and may not be replaced."""
    labels = unique_labels(labels)
    existing = state.find_runner(scope, name)
    if existing is not None:
        if not replace_existing or existing.leaving:
            raise name_taken(name)
        return _replace(state, existing, labels, os_name(os), arch_name(arch), version, ephemeral)
    runner = Runner(
        id=next(state.runner_ids),
        name=name,
        scope=scope,
        os="unknown" if jit else os_name(os),
        arch=arch_name(arch),
        status="offline",
        busy=False,
        ephemeral=ephemeral or jit,
        labels=tuple(labels),
        created_at=state.now(),
        version=version,
        runner_group_id=runner_group_id,
        jit=jit,
        offline_since=state.now(),
    )
    state.record(
        "runner_registered",
        runner_id=runner.id,
        name=name,
        scope=scope,
        labels=runner.label_names,
        ephemeral=runner.ephemeral,
        jit=jit,
    )
    put(state, runner)
    expect_connection(state, runner)
    return runner


def _replace(
    state: State,
    old: Runner,
    labels: tuple[Label, ...],
    os: str,
    arch: str,
    version: str | None,
    ephemeral: bool,
) -> Runner:
    """`config.sh --replace`: the record stays, its labels and process do not."""
    for credential in [key for key, owner in state.credentials.items() if owner == old.id]:
        del state.credentials[credential]
    fields = {"runner_id": old.id, "name": old.name}
    state.record("runner_replaced", **fields)
    state.record(
        "labels_changed",
        operation="replace",
        before=old.label_names,
        after=[label.name for label in labels],
        **fields,
    )
    runner = put(
        state,
        replace(
            old,
            labels=labels,
            os=os,
            arch=arch,
            version=version or old.version,
            ephemeral=ephemeral,
            jit=False,
            status="offline",
            connected=False,
            offline_since=state.now(),
            stale_keys=old.keys if state.knobs.stale_labels_after_replace else None,
        ),
    )
    expect_connection(state, runner)
    state.wake("runner", old.id)
    return runner


def new_credential(state: State, runner: Runner) -> str:
    credential = secrets.token_urlsafe(24)
    state.credentials[credential] = runner.id
    return credential


def remove(state: State, runner: Runner, reason: str) -> None:
    state.runners.remove(runner.id)
    state.record(
        "runner_removed",
        runner_id=runner.id,
        name=runner.name,
        scope=runner.scope,
        reason=reason,
        job_id=runner.job_id,
    )
    state.wake("runner", runner.id)


def delete(state: State, scope: str, runner_id: int) -> None:
    """The API's DELETE: 404 when it is not there, 422 while it runs a job."""
    runner = get(state, scope, runner_id)
    dispatched = runner.job_id is not None and not runner.busy
    refused = dispatched and state.knobs.delete_while_dispatched == "refuse"
    if runner.busy or refused:
        message = f'Runner "{runner.name}" is currently running a job and cannot be deleted.'
        raise ApiError(422, message)
    remove(state, runner, "deleted")


def get(state: State, scope: str, runner_id: int) -> Runner:
    runner = state.runners.get(runner_id)
    if runner is None or runner.scope != scope:
        raise not_found()
    return runner


def expect_connection(state: State, runner: Runner) -> None:
    """Have GitHub forget a runner that stays away: 1 day if ephemeral, else 14."""
    since = runner.offline_since
    knobs = state.knobs
    wait = knobs.ephemeral_offline_removal if runner.ephemeral else knobs.offline_removal

    def check() -> None:
        now = state.runners.get(runner.id)
        if now is not None and now.status == "offline" and now.offline_since == since:
            remove(state, now, "offline too long")

    state.after(wait, check)
