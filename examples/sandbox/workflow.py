"""Start act on a workflow, with the world's services and this checkout's actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.act import staging
from sandbox.act.events import Annotation, Event, JobEnded, JobSkipped, Line, Output, Summary
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
    # act 0.2.89 reads and writes one map of secrets from every job of a matrix at once, and Go ends
    # a program that does (getWorkflowSecrets); on one processor they take turns.
    process_environment = {**clean_environment(directory / "act"), "GOMAXPROCS": "1"}
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


@dataclass
class Outcome:
    """What a whole run of act came to; jobs go by act's full names of them."""

    status: int = 0  # act's own, which does not count jobs it left out
    results: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)  # of its steps
    lines: dict[str, list[str]] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)
    summaries: dict[str, list[str]] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case JobEnded():
                self.results[event.job] = event.result
            case JobSkipped():
                self.skipped[event.job] = event.why
            case Output():
                self.outputs.setdefault(event.job, {})[event.name] = event.value
            case Line():
                self.lines.setdefault(event.job, []).append(event.text)
            case Annotation(level="error"):
                self.errors.setdefault(event.job, []).append(event.text)
            case Summary():
                self.summaries.setdefault(event.job, []).append(event.text)


def run_act(
    world: World,
    workflow: str,
    directory: Path,
    *,
    run_id: int = 77,
    repository: Path = EXAMPLES,
    event: str = "workflow_dispatch",
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """As `start_act`, to the end."""
    outcome = Outcome()
    with start_act(
        world,
        workflow,
        directory,
        run_id=run_id,
        repository=repository,
        event=event,
        environment=environment,
    ) as act:
        for said in act.events():
            if said is not None:
                outcome.add(said)
        outcome.status = act.wait()
    return outcome
