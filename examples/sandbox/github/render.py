"""The JSON bodies of runners, jobs, runs and variables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from sandbox.github.records import Job, Label, Repository, Run, Runner, Variable
from sandbox.github.render_repositories import minimal_repository, node_id, site, user, utc

_PACIFIC = timezone(timedelta(hours=-8))


def pacific(at: datetime) -> str:
    """Milliseconds and an offset: how tokens say when they expire."""
    return at.astimezone(_PACIFIC).isoformat(timespec="milliseconds")


def label(found: Label) -> dict[str, Any]:
    return {"id": 0, "name": found.name, "type": found.type}


def labels(runner: Runner) -> dict[str, Any]:
    return {"total_count": len(runner.labels), "labels": [label(one) for one in runner.labels]}


def runner(found: Runner, *, status: str | None = None, busy: bool | None = None) -> dict[str, Any]:
    """A runner; `status` and `busy` as they are seen, if that differs from how they are."""
    body: dict[str, Any] = {
        "id": found.id,
        "name": found.name,
        "os": found.os,
        "status": found.status if status is None else status,
        "busy": found.busy if busy is None else busy,
        "ephemeral": found.ephemeral,
        "labels": [label(one) for one in found.labels],
        "runner_group_id": found.runner_group_id,
    }
    if found.version is not None:
        body["version"] = found.version
    return body


def job(found: Job, run: Run, base: str, *, at: Job | None = None) -> dict[str, Any]:
    """A job; `at` is the same job as it is seen, if that lags behind."""
    seen = at or found
    url = f"{base}/repos/{found.repository}/actions"
    page = f"{site(base)}/{found.repository}/actions/runs/{run.id}/job/{found.id}"
    return {
        "id": found.id,
        "run_id": run.id,
        "workflow_name": run.name,
        "head_branch": run.head_branch,
        "run_url": f"{url}/runs/{run.id}",
        "run_attempt": found.attempt,
        "node_id": node_id("CR", found.id),
        "head_sha": run.head_sha,
        "url": f"{url}/jobs/{found.id}",
        "html_url": page,
        "status": seen.status,
        "conclusion": seen.conclusion,
        "created_at": utc(found.created_at),
        "started_at": utc(seen.started_at),
        "completed_at": utc(seen.completed_at),
        "name": found.name,
        "steps": [_step(step) for step in seen.steps],
        "check_run_url": f"{base}/repos/{found.repository}/check-runs/{found.id}",
        "labels": list(found.labels),
        "runner_id": seen.runner_id,
        "runner_name": seen.runner_name,
        "runner_group_id": seen.runner_group_id,
        "runner_group_name": seen.runner_group_name,
    }


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    """Steps have fractional seconds and a local offset."""
    return {
        key: pacific(value) if isinstance(value, datetime) else value for key, value in step.items()
    }


def run(found: Run, repository: Repository, base: str) -> dict[str, Any]:
    url = f"{base}/repos/{found.repository}/actions/runs/{found.id}"
    suite = found.id + 1_000_000
    minimal = minimal_repository(repository, base)
    previous = f"{url}/attempts/{found.attempt - 1}" if found.attempt > 1 else None
    return {
        "id": found.id,
        "name": found.name,
        "node_id": node_id("WFR", found.id),
        "head_branch": found.head_branch,
        "head_sha": found.head_sha,
        "path": found.path,
        "display_title": found.display_title,
        "run_number": found.run_number,
        "event": found.event,
        "status": found.status,
        "conclusion": found.conclusion,
        "workflow_id": found.workflow_id,
        "check_suite_id": suite,
        "check_suite_node_id": node_id("CS", suite),
        "url": url,
        "html_url": f"{site(base)}/{found.repository}/actions/runs/{found.id}",
        "pull_requests": [],
        "created_at": utc(found.created_at),
        "updated_at": utc(found.updated_at),
        "actor": user(found.actor, base),
        "run_attempt": found.attempt,
        "referenced_workflows": [],
        "run_started_at": utc(found.run_started_at),
        "triggering_actor": user(found.actor, base),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{base}/repos/{found.repository}/check-suites/{suite}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": previous,
        "workflow_url": f"{base}/repos/{found.repository}/actions/workflows/{found.workflow_id}",
        "head_commit": {
            "id": found.head_sha,
            "tree_id": found.head_sha,
            "message": found.display_title,
            "timestamp": utc(found.created_at),
            "author": {"name": found.actor, "email": f"{found.actor}@example.com"},
            "committer": {"name": found.actor, "email": f"{found.actor}@example.com"},
        },
        "repository": minimal,
        "head_repository": minimal,
    }


def variable(found: Variable) -> dict[str, Any]:
    return {
        "name": found.name,
        "value": found.value,
        "created_at": utc(found.created_at),
        "updated_at": utc(found.updated_at),
    }
