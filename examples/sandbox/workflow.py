"""Start act on a workflow, with the world's services and this checkout's actions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sandbox.act import staging
from sandbox.act.rc import ROOT
from sandbox.act.runner import Act, clean_environment, write_env_file
from sandbox.actions_environment import CACHE
from sandbox.world import World

EXAMPLES = ROOT / "examples"
FIXTURES = ROOT / "tests" / "fixtures" / "act"


def start_act(
    world: World,
    workflow: str,
    directory: Path,
    *,
    run_id: int,
    repository: Path = EXAMPLES,
    event: str = "workflow_dispatch",
    environment: Mapping[str, str] | None = None,
) -> Act:
    """act on `.github/workflows/<workflow>` of `repository`; leave its context to end it.

    Everything it writes is below `directory`. `run_id` is the run of the simulator that the jobs
    are told they belong to, `environment` what each step's environment has besides.
    """
    process_environment = clean_environment(directory / "act")
    env_file = write_env_file(
        directory / "act.env",
        {
            **world.job_environment(),
            "GITHUB_RUN_ID": str(run_id),
            "RUNNER_FLEET_CACHE": str(CACHE),
            "PATH": process_environment["PATH"],
            **(environment or {}),
        },
    )
    actions = staging.copy_actions(directory / "runner-fleet")
    arguments = [
        event,
        *("--directory", str(repository)),
        *("--workflows", f".github/workflows/{workflow}"),
        *("--env-file", str(env_file)),
        *("--secret-file", str(FIXTURES / "secrets.env")),
        *("--var-file", str(FIXTURES / "variables.env")),
        *("--local-repository", f"{staging.our_repository()}={actions}"),
    ]
    payload = FIXTURES / f"{event}.json"
    if payload.exists():
        arguments += ["--eventpath", str(payload)]
    return Act(arguments, process_environment)
