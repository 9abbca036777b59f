"""Workflow runs and their jobs, as GitHub shows them: what tells a leftover from a sibling.

Reading them takes 'Actions: read' (fine-grained token or App), or the scope `repo` for a private
repository (classic token); GitHub REST API reference, "Permissions required for GitHub Apps".
"""

from __future__ import annotations

from dataclasses import dataclass

from runner_fleet.errors import GitHubError
from runner_fleet.github import GitHub
from runner_fleet.github_wire import understood


@dataclass(frozen=True)
class WorkflowRun:
    """One run of a workflow, as of its latest attempt."""

    status: str
    run_attempt: int

    @property
    def completed(self) -> bool:
        return self.status == "completed"


@dataclass(frozen=True)
class Job:
    """One job of one attempt of a run."""

    name: str  # with the matrix values, and the names of the calling jobs before it
    status: str
    runner_name: str  # empty until a runner has it

    @property
    def completed(self) -> bool:
        return self.status == "completed"


def run(github: GitHub, repository: str, run_id: str) -> WorkflowRun | None:
    """None: GitHub answers 404, for a run that is gone or one that the token may not see."""
    path = f"/repos/{repository}/actions/runs/{run_id}"
    try:
        with understood("GET", path):
            data = github.get(path)
            return WorkflowRun(str(data["status"]), int(data["run_attempt"]))
    except GitHubError as error:
        if error.status == 404:
            return None
        raise


def check_readable(github: GitHub, repository: str) -> None:
    """Raises `GitHubError` unless the token sees the repository's runs: only then does a 404 for
    one of them mean that it is gone."""
    path = f"/repos/{repository}/actions/runs?per_page=1"
    with understood("GET", path):
        if not isinstance(github.get(path)["workflow_runs"], list):
            raise TypeError


def jobs(github: GitHub, repository: str, run_id: str, attempt: str) -> list[Job]:
    """All jobs of one attempt; one call for each 100."""
    path = f"/repos/{repository}/actions/runs/{run_id}/attempts/{attempt}/jobs?per_page=100"
    with understood("GET", path):
        return [
            Job(str(data["name"]), str(data["status"]), str(data["runner_name"] or ""))
            for data in github.items(path, "jobs")
        ]
