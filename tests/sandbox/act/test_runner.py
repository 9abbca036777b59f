"""act itself, on a workflow made for the test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sandbox.act import processes
from sandbox.act.events import Event, JobEnded, JobSkipped, Line, Note, Output
from sandbox.act.runner import Act, clean_environment, write_env_file


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty user repository; like the checkout, it has an .actrc."""
    root = tmp_path / "repository"
    (root / ".github" / "workflows").mkdir(parents=True)
    (root / ".actrc").write_text("-P ubuntu-latest=-self-hosted\n--no-cache-server\n")
    return root


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    yield clean_environment(tmp_path / "home")
    assert processes.living_in(tmp_path / "home") == []


def run(
    repository: Path, environment: dict[str, str], workflow: str, arguments: Sequence[str] = ()
) -> tuple[int, list[Event]]:
    (repository / ".github" / "workflows" / "w.yaml").write_text(workflow)
    with Act(["push", *arguments], environment, repository) as act:
        events = [event for event in act.events() if event is not None]
        return act.wait(), events


def one_step(script: str, runs_on: str = "ubuntu-latest") -> str:
    lines = "".join(f"          {line}\n" for line in script.splitlines())
    return (
        f"name: W\non: push\njobs:\n  a:\n    runs-on: {runs_on}\n    steps:\n"
        f"      - run: |\n{lines}"
    )


def printed(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Line)]


def test_a_job_says_how_it_ended(repository: Path, environment: dict[str, str]) -> None:
    status, events = run(repository, environment, one_step("exit 1"))
    assert status == 1
    assert [event.result for event in events if isinstance(event, JobEnded)] == ["failure"]


def test_nothing_of_the_host_reaches_a_step(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "the-users-own")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    allowed = {"PATH", "LANG", "HOME", "TMPDIR", "PWD", "SHLVL", "_", "CI", "ACT"}
    _, events = run(repository, clean_environment(tmp_path / "home"), one_step("env"))
    names = {line.partition("=")[0] for line in printed(events)}
    assert "GITHUB_SHA" in names
    others = {name for name in names if not name.startswith(("GITHUB_", "RUNNER_", "XDG_"))}
    assert others - allowed == {"ImageOS"}


def test_a_step_gets_what_the_env_file_says(
    repository: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    file = write_env_file(tmp_path / "act.env", {"GREETING": "a $b # c", "GITHUB_RUN_ID": "77"})
    _, events = run(
        repository,
        environment,
        one_step('echo "$GREETING / $GITHUB_RUN_ID"'),
        ["--env-file", str(file)],
    )
    assert printed(events) == ["a $b # c / 77"]


def test_a_value_that_an_env_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="GREETING cannot be written"):
        write_env_file(tmp_path / "act.env", {"GREETING": "it's"})


def test_an_unknown_label_is_reported_although_act_succeeds(
    repository: Path, environment: dict[str, str]
) -> None:
    status, events = run(repository, environment, one_step("true", runs_on="runner-zzzzzzzz"))
    assert status == 0
    assert [event.job for event in events if isinstance(event, JobSkipped)] == ["W/a"]


def test_lines_arrive_while_the_step_runs(
    repository: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    script = f"echo ready\nwhile [ ! -e '{go}' ]; do sleep 0.02; done\necho went"
    (repository / ".github" / "workflows" / "w.yaml").write_text(one_step(script))
    seen: list[str] = []
    with Act(["push"], environment, repository) as act:
        for event in act.events():
            if isinstance(event, Line):
                seen.append(event.text)
                go.touch()
        assert act.wait() == 0
    assert seen == ["ready", "went"]


def test_leaving_ends_what_a_step_has_started(
    repository: Path, environment: dict[str, str]
) -> None:
    script = "setsid sleep 600 & echo started; wait"
    (repository / ".github" / "workflows" / "w.yaml").write_text(one_step(script))
    with Act(["push"], environment, repository) as act:
        assert any(isinstance(event, Line) for event in act.events())
        assert processes.living_in(Path(environment["HOME"])) != []
    assert processes.living_in(Path(environment["HOME"])) == []


def test_everything_is_written_below_the_home_given(
    repository: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    run(repository, environment, one_step('echo "$HOME"; mktemp'))
    assert {path.name for path in tmp_path.iterdir()} == {"home", "repository"}


def test_a_workflow_act_cannot_read_is_an_error_note(
    repository: Path, environment: dict[str, str]
) -> None:
    status, events = run(repository, environment, "name: W\non: push\njobs: [\n")
    assert status != 0
    assert any(isinstance(event, Note) and event.level == "error" for event in events)


def test_outputs_of_steps_are_events(repository: Path, environment: dict[str, str]) -> None:
    _, events = run(repository, environment, one_step('echo "x=1" >> "$GITHUB_OUTPUT"'))
    outputs = {(event.name, event.value) for event in events if isinstance(event, Output)}
    assert outputs == {("x", "1")}
