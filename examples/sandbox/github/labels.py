"""The six label calls. Last writer wins; there is no precondition, as on GitHub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sandbox.github import dispatch
from sandbox.github.errors import not_found, validation_failed
from sandbox.github.records import Label, Runner
from sandbox.github.runners import MAX_LABEL_LENGTH, unique_labels
from sandbox.github.state import State

MAX_LABELS = 100


def add(state: State, runner: Runner, names: Sequence[str]) -> Runner:
    """Union; a name that is there in another spelling stays as it is."""
    _check(names, at_least=1)
    after = unique_labels([*runner.labels, *(Label(name) for name in names)])
    return write(state, runner, "add", names, after)


def set_custom(state: State, runner: Runner, names: Sequence[str]) -> Runner:
    """Replace every custom label; read-only ones stay."""
    _check(names, at_least=0)
    fixed = [label for label in runner.labels if label.type == "read-only"]
    after = unique_labels([*fixed, *(Label(name) for name in names)])
    return write(state, runner, "set", names, after)


def remove_all_custom(state: State, runner: Runner) -> Runner:
    after = tuple(label for label in runner.labels if label.type == "read-only")
    return write(state, runner, "remove_all", [], after)


def remove(state: State, runner: Runner, name: str) -> Runner:
    """404 for a label the runner has not; 422 for a read-only one."""
    found = next((label for label in runner.labels if label.key == name.casefold()), None)
    if found is None:
        raise not_found()
    if found.type == "read-only":
        msg = f"The label '{found.name}' is read-only and cannot be removed."
        raise validation_failed(msg)
    after = tuple(label for label in runner.labels if label is not found)
    return write(state, runner, "remove", [name], after)


def _check(names: Sequence[str], at_least: int) -> None:
    if not at_least <= len(names) <= MAX_LABELS:
        msg = f"labels must have between {at_least} and {MAX_LABELS} items"
        raise validation_failed(msg)
    for name in names:
        if not name.strip():
            raise validation_failed("A label name cannot be empty")
        if len(name) > MAX_LABEL_LENGTH:
            msg = f"A label name cannot be longer than {MAX_LABEL_LENGTH} characters"
            raise validation_failed(msg)


def write(
    state: State,
    runner: Runner,
    operation: str,
    names: Sequence[str],
    after: tuple[Label, ...],
) -> Runner:
    changed = state.runners.put(runner.id, replace(runner, labels=after, stale_keys=None))
    state.record(
        "labels_changed",
        runner_id=runner.id,
        name=runner.name,
        operation=operation,
        argument=list(names),
        before=runner.label_names,
        after=changed.label_names,
    )
    lag = state.knobs.matcher_label_lag
    if lag:
        state.after(lag, lambda: dispatch.offer_runner(state, runner.id))
    dispatch.offer_runner(state, runner.id)
    return state.runners.rows[runner.id]
