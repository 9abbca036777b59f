"""The edge to GitHub Actions."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner_fleet import action
from runner_fleet.errors import Cancelled, FleetError, InputError


def ends(failure: BaseException) -> int:
    def main(_: action.Reporter) -> None:
        raise failure

    with pytest.raises(SystemExit) as caught:
        action.run(main, "Start")
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_inputs_are_those_with_the_prefix_and_a_value() -> None:
    environ = {"FLEET_WAIT": " true ", "FLEET_REPO": "  ", "INPUT_WAIT": "false", "HOME": "/"}
    assert action.inputs(environ) == {"wait": "true"}


def test_each_problem_is_one_error_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(InputError("one\nin two lines", "two: 100 % wrong")) == 1
    assert capsys.readouterr().out == "::error::one in two lines\n::error::two: 100 %25 wrong\n"


def test_an_error_that_was_said_is_not_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    def main(log: action.Reporter) -> None:
        log.error("the token is refused")
        raise FleetError("the token is refused", "another")

    with pytest.raises(SystemExit):
        action.run(main, "Start")
    assert capsys.readouterr().out == "::error::the token is refused\n::error::another\n"


def test_a_cancelled_action_ends_as_its_signal_says() -> None:
    assert ends(Cancelled(15)) == 143


def test_a_bug_is_named_as_one_without_the_values_at_hand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RUNNER_DEBUG", raising=False)
    assert ends(ValueError("a secret value")) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("::error::internal error: ValueError at test_action.py:")
    assert "a secret value" not in shown


def test_a_damaged_environment_is_named_and_built_anew_next_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    (tmp_path / ".complete").touch()
    assert ends(ImportError("no", name="boto3")) == 1
    assert "is damaged (boto3 cannot be loaded): run this again" in capsys.readouterr().out
    assert not (tmp_path / ".complete").exists()


def test_a_short_secret_is_not_masked(capsys: pytest.CaptureFixture[str]) -> None:
    action.Reporter().mask("true")
    action.Reporter().mask("ghp_0123456789abcdefghij")
    assert capsys.readouterr().out == "::add-mask::ghp_0123456789abcdefghij\n"


def test_an_output_that_cannot_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "none" / "such"))
    with pytest.raises(FleetError, match=r"^GITHUB_OUTPUT: the output mapping cannot be written"):
        action.Reporter().output("mapping", "{}")


def test_a_summary_that_cannot_be_written_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    action.Reporter().summary("### Started")
    assert capsys.readouterr().out.startswith("::warning::GITHUB_STEP_SUMMARY: the job summary")


def test_what_was_masked_or_is_a_credential_is_hidden_in_the_words_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "key-of-the-environment")
    reporter = action.Reporter()
    reporter.mask("token-of-this-start")
    shown = reporter.hide("+ use token-of-this-start and key-of-the-environment")
    assert shown == "+ use *** and ***"


def test_a_group_is_folded_and_holds_no_commands(capsys: pytest.CaptureFixture[str]) -> None:
    action.Reporter().group("Console of x", ["one", "::error::two", "##[group]three"])
    assert capsys.readouterr().out == (
        "::group::Console of x\none\n> ::error::two\n## [group]three\n::endgroup::\n"
    )
