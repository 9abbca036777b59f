from __future__ import annotations

import re

from sandbox.act import rc
from sandbox.act.staging import our_repository


def test_every_label_is_one_that_start_runner_could_draw() -> None:
    assert all(re.fullmatch(r"runner-[a-z0-9]{8}", label) for label in rc.labels())


def test_there_are_labels_for_the_largest_fleet() -> None:
    assert len(set(rc.labels())) == len(rc.labels()) >= 41  # 40 runners and the label they share


def test_the_mapped_repositories_are_those_the_examples_name() -> None:
    workflows = (rc.ROOT / "examples" / "workflows").glob("*.y*ml")
    used = {
        f"{match[1]}@{match[2]}"
        for workflow in workflows
        for match in re.finditer(
            r"uses: ((?!actions/checkout)[\w.-]+/[\w.-]+)(?:/[\w./-]+)?@(\w+)", workflow.read_text()
        )
    }
    assert used == set(rc.local_repositories())


def test_our_own_repository_is_pinned_to_a_full_commit() -> None:
    assert re.fullmatch(r"runner-fleet/runner-fleet@[0-9a-f]{40}", our_repository())


def test_the_files_actrc_names_are_there() -> None:
    options = rc.arguments()
    directory = rc.ROOT / options[options.index("--directory") + 1]
    for option in ("--secret-file", "--var-file"):
        assert (directory / options[options.index(option) + 1]).is_file()
    assert (directory / ".github" / "workflows" / "matrix-test.yaml").is_file()
