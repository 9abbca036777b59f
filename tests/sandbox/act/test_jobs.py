from __future__ import annotations

from pathlib import Path

import pytest
from sandbox.act.jobs import expected_jobs, leg_values, problems
from sandbox.act.rc import ROOT

CALLER = ROOT / "examples" / "workflows" / "matrix-test.yaml"


def test_the_matrix_example_has_three_jobs_in_each_of_two_legs() -> None:
    assert expected_jobs(CALLER) == [
        "Run Matrix Test-1/Reusable Matrix Test/start-aws-runner",
        "Run Matrix Test-1/Reusable Matrix Test/test",
        "Run Matrix Test-1/Reusable Matrix Test/stop-aws-runner",
        "Run Matrix Test-2/Reusable Matrix Test/start-aws-runner",
        "Run Matrix Test-2/Reusable Matrix Test/test",
        "Run Matrix Test-2/Reusable Matrix Test/stop-aws-runner",
    ]


def test_a_leg_knows_its_matrix_values() -> None:
    assert leg_values(CALLER) == {
        "Run Matrix Test-1/Reusable Matrix Test": {"instance_type": "g4dn.xlarge"},
        "Run Matrix Test-2/Reusable Matrix Test": {"instance_type": "g4dn.2xlarge"},
    }


def test_a_matrix_with_include_cannot_be_counted(tmp_path: Path) -> None:
    workflow = tmp_path / "w.yaml"
    workflow.write_text(
        "name: w\non: push\njobs:\n  a:\n    strategy: {matrix: {include: [{x: 1}]}}\n"
    )
    with pytest.raises(ValueError, match="include or exclude"):
        expected_jobs(workflow)


def test_nothing_is_wrong_when_every_job_succeeded() -> None:
    assert problems(["a", "b"], {"a": "success", "b": "success"}, {}) == []


def test_a_job_that_never_ran_is_a_problem() -> None:
    assert problems(["a", "b"], {"a": "success"}, {}) == ["b: never ran"]


def test_a_failed_job_is_a_problem() -> None:
    assert problems(["a"], {"a": "failure"}, {}) == ["a: failure"]


def test_a_skipped_job_is_a_problem_that_names_the_label() -> None:
    (problem,) = problems(["a"], {}, {"a": "Skipping unsupported platform -- -P runner-x=..."})
    assert problem.startswith("a: skipped by act, which was not told its label")
    assert "runner-x" in problem
