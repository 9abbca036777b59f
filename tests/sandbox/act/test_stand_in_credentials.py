"""The stand-in for aws-actions/configure-aws-credentials, under act."""

from __future__ import annotations

from pathlib import Path

import pytest
from sandbox.act.events import Annotation, Event, JobEnded, Line
from sandbox.act.rc import ROOT, local_repositories
from sandbox.act.runner import Act, clean_environment

(USED,) = [name for name in local_repositories() if name.startswith("aws-actions/")]

WORKFLOW = """\
name: W
on: push
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - uses: {uses}
        with:
          role-to-assume: {role}
          aws-region: {region}
      - run: |
          env | grep ^AWS_ | sort
          python3 -c 'import os; print(len(os.environ["AWS_SESSION_TOKEN"]) > 9)'
"""


def run(tmp_path: Path, role: str, region: str) -> list[Event]:
    root = tmp_path / "repository"
    (root / ".github" / "workflows").mkdir(parents=True)
    text = WORKFLOW.format(uses=USED, role=role, region=region)
    (root / ".github" / "workflows" / "w.yaml").write_text(text)
    arguments = [
        "push",
        *("-P", "ubuntu-latest=-self-hosted"),
        "--no-cache-server",
        *("--local-repository", f"{USED}={ROOT / local_repositories()[USED]}"),
    ]
    with Act(arguments, clean_environment(tmp_path / "home"), root) as act:
        return [event for event in act.events() if event is not None]


def printed(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Line)]


def test_later_steps_get_credentials_whose_secret_parts_are_masked(tmp_path: Path) -> None:
    events = run(tmp_path, "arn:aws:iam::123456789012:role/gpu-tests", "us-east-1")
    assert printed(events)[-6:] == [
        "AWS_ACCESS_KEY_ID=testing",
        "AWS_DEFAULT_REGION=us-east-1",
        "AWS_REGION=us-east-1",
        "AWS_SECRET_ACCESS_KEY=***",
        "AWS_SESSION_TOKEN=***",
        "True",
    ]


@pytest.mark.parametrize(
    ("role", "region", "complaint"),
    [
        ("''", "us-east-1", "Could not assume the role"),
        ("gpu-tests", "us-east-1", "Could not assume the role"),
        ("arn:aws:iam::123456789012:role/gpu-tests", "''", "Region is not valid"),
    ],
)
def test_an_input_it_cannot_do_without_fails_the_job(
    tmp_path: Path, role: str, region: str, complaint: str
) -> None:
    events = run(tmp_path, role, region)
    assert [event.result for event in events if isinstance(event, JobEnded)] == ["failure"]
    said = [event.text for event in events if isinstance(event, Annotation)]
    assert any(complaint in text for text in said)
