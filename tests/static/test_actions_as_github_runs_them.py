"""What act would let pass and GitHub would not, read from every action.yml and example.

act gives composite steps INPUT_* that GitHub does not give, does not enforce permissions or the
timeouts of jobs, and knows no ID token. So none of that shows when the examples run under act.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from sandbox.act.rc import ROOT
from sandbox.act.staging import parts

ACTIONS = sorted(path.parent for path in ROOT.glob("*/action.yml"))
WORKFLOWS = sorted((ROOT / "examples" / "workflows").glob("*.y*ml"))

# These two are the documented text, word for word, and set no timeouts.
DOCUMENTED = {"matrix-test.yaml", "reusable-matrix-test.yaml"}

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def load(path: Path) -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def steps(action: Path) -> list[dict[str, Any]]:
    document = load(action / "action.yml")
    assert document["runs"]["using"] == "composite"
    return list(document["runs"]["steps"])


def jobs(workflow: Path) -> list[tuple[str, dict[str, Any]]]:
    return list(load(workflow)["jobs"].items())


every_action = pytest.mark.parametrize("action", ACTIONS, ids=lambda path: path.name)
every_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)


def test_there_are_actions_and_workflows_to_check() -> None:
    assert {"start-runner", "stop-runner"} <= {action.name for action in ACTIONS}
    assert {path.name for path in WORKFLOWS} >= DOCUMENTED


@every_action
def test_each_input_is_mapped_to_the_variable_the_code_reads(action: Path) -> None:
    mapped = {name: value for step in steps(action) for name, value in step.get("env", {}).items()}
    inputs = load(action / "action.yml").get("inputs", {})
    assert mapped == {f"FLEET_{name.upper()}": f"${{{{ inputs.{name} }}}}" for name in inputs}


@every_action
def test_no_expression_stands_in_a_script(action: Path) -> None:
    scripts = [step.get("run", "") for step in steps(action)]
    assert [script for script in scripts if _EXPRESSION.search(script)] == []


@every_action
def test_each_step_that_runs_something_names_its_shell(action: Path) -> None:
    assert all("shell" in step for step in steps(action) if "run" in step)


@every_action
def test_each_output_is_an_output_of_a_step_that_exists(action: Path) -> None:
    ids = {step.get("id") for step in steps(action)}
    for name, output in load(action / "action.yml").get("outputs", {}).items():
        match = re.fullmatch(r"\$\{\{ steps\.([\w-]+)\.outputs\.([\w-]+) \}\}", output["value"])
        assert match is not None, name
        assert match[1] in ids
        assert match[2] == name


@every_action
def test_a_step_becomes_the_program_it_starts(action: Path) -> None:
    """GitHub signals the step's first process only; bash would keep the signal to itself."""
    last_lines = [step["run"].strip().splitlines()[-1] for step in steps(action) if "run" in step]
    assert all(line.startswith("exec ") for line in last_lines)


def test_the_code_reads_no_variable_that_only_act_sets() -> None:
    sources = [path for part in parts() for path in part.rglob("*.py")]
    assert sources
    readers = re.compile(r"[\"']INPUT_|[\"']ACT[\"']")
    assert [path for path in sources if readers.search(path.read_text(encoding="utf-8"))] == []


@every_workflow
def test_only_a_job_that_may_have_an_id_token_asks_for_an_aws_role(workflow: Path) -> None:
    for name, job in jobs(workflow):
        for step in job.get("steps", []):
            if "role-to-assume" in step.get("with", {}):
                assert job["permissions"]["id-token"] == "write", name


@every_workflow
def test_a_caller_grants_what_the_called_jobs_ask_for(workflow: Path) -> None:
    """A called workflow cannot have more than its caller; act would not notice."""
    rank = {"none": 0, "read": 1, "write": 2}
    for name, job in jobs(workflow):
        called = str(job.get("uses", ""))
        if not called.startswith("./"):
            continue
        granted = job.get("permissions", {})
        for _, inner in jobs(workflow.parent / Path(called).name):
            for scope, access in inner.get("permissions", {}).items():
                assert rank[granted.get(scope, "none")] >= rank[access], (name, scope)


def test_every_job_of_ours_has_a_time_limit() -> None:
    """The two documented workflows are left as they are: start-runner has limits of its own."""
    without = [
        f"{workflow.name}: {name}"
        for workflow in WORKFLOWS
        if workflow.name not in DOCUMENTED
        for name, job in jobs(workflow)
        if "uses" not in job and "timeout-minutes" not in job
    ]
    assert without == []


@every_workflow
def test_cleaning_up_is_never_left_out(workflow: Path) -> None:
    """Whatever start-runner launched must be taken back when the test fails or is cancelled."""
    for name, job in jobs(workflow):
        stops = [step for step in job.get("steps", []) if "/stop-runner@" in step.get("uses", "")]
        if any("sweep" not in step.get("with", {}) for step in stops):
            assert "always()" in str(job["if"]), name


@every_workflow
def test_what_comes_from_elsewhere_is_pinned_to_a_commit(workflow: Path) -> None:
    for name, job in jobs(workflow):
        for step in job.get("steps", []):
            assert re.search(r"@[0-9a-f]{40}$|^\./", step.get("uses", "./")), name
