"""Lines as act 0.2.89 prints them with --json."""

from __future__ import annotations

import json

from sandbox.act.events import (
    JobEnded,
    JobSkipped,
    JobStarted,
    Line,
    Note,
    Output,
    StepEnded,
    StepStarted,
    Summary,
    parse,
)

JOB = "Run Matrix Test-1/Reusable Matrix Test/test"


def said(**fields: object) -> str:
    return json.dumps({"job": JOB + "      ", "jobID": "test", "level": "info", **fields})


def test_a_job_starts_with_its_set_up_step() -> None:
    line = said(msg="⭐ Run Set up job", step="Set up job", stepid=["--setup-job"])
    assert parse(line) == JobStarted(JOB, "test")


def test_the_end_of_the_set_up_step_is_no_second_start() -> None:
    line = said(msg="  ✅  Success - Set up job", stepid=["--setup-job"], stepResult="success")
    assert isinstance(parse(line), Note)


def test_the_result_of_a_job_ends_it() -> None:
    assert parse(said(msg="🏁  Job failed", jobResult="failure")) == JobEnded(
        JOB, "test", "failure"
    )


def test_an_unknown_label_is_told_from_other_remarks() -> None:
    text = "🚧  Skipping unsupported platform -- Try running with `-P runner-ab12cd34=...`"
    assert isinstance(parse(said(msg=text)), JobSkipped)


def test_the_leg_is_the_name_without_the_job() -> None:
    assert parse(said(msg="x", jobResult="success")).leg == "Run Matrix Test-1/Reusable Matrix Test"


def test_a_step_of_the_job_starts_and_ends() -> None:
    common = {"step": "Run test", "stage": "Main", "stepID": ["1"]}
    assert parse(said(msg="⭐ Run Main Run test", **common)) == StepStarted(JOB, "test", "Run test")
    assert parse(said(msg="  ❌  Failure", stepResult="failure", **common)) == StepEnded(
        JOB, "test", "Run test", "failure"
    )


def test_a_step_inside_a_composite_action_is_not_a_step_of_the_job() -> None:
    line = said(msg="⭐ Run Main inner", step="Create", stage="Main", stepID=["aws-start", "r"])
    assert isinstance(parse(line), Note)


def test_an_output_has_its_name_and_value() -> None:
    line = said(command="set-output", name="instances", arg='["runner-ab12cd34"]', msg="…")
    assert parse(line) == Output(JOB, "test", "instances", '["runner-ab12cd34"]')


def test_a_summary_keeps_its_line_ends() -> None:
    assert parse(said(command="summary", content="# a\nb\n", msg="…")) == Summary(
        JOB, "test", "# a\nb\n"
    )


def test_what_a_script_prints_is_a_line_without_its_end() -> None:
    assert parse(said(raw_output=True, msg="hello\n")) == Line(JOB, "test", "hello")


def test_a_line_that_is_not_json_is_an_error_when_it_says_so() -> None:
    assert parse("Error: yaml: line 3\n") == Note("", "", "error", "Error: yaml: line 3")


def test_json_that_is_no_object_is_only_a_note() -> None:
    assert parse("42") == Note("", "", "info", "42")
