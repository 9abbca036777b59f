"""What bash says of a script before an instance has to."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.script_syntax import check_syntax


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("if then fi", 'line 1: bash cannot read it: "syntax error near unexpected token `then\'"'),
        (
            "true\n\necho )",
            'line 3: bash cannot read it: "syntax error near unexpected token `)\'"',
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(script: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_syntax("pre_runner_script", script)
    assert caught.value.lines == (f"pre_runner_script: {said}",)


@pytest.mark.parametrize(
    "script",
    [
        "",
        "for x in 1 2; do\n  echo $x\ndone",
        "shopt -s extglob\nls !(*.txt)",
        "no-such-command --at-all",
        "cat <<'EOF'\n(\nEOF",
        "cat <<EOF\n(",  # only a warning
    ],
)
def test_what_bash_can_read_is_left_alone(script: str) -> None:
    check_syntax("pre_runner_script", script)


def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "env").write_text(f"touch {trace}")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "env"))
    check_syntax("pre_runner_script", f"touch {trace}\necho $(touch {trace})")
    assert not trace.exists()
