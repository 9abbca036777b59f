"""Whatever is put in, an action succeeds or says what is wrong; and after that it launches nothing.

`make test-faults` tries 10,000 input sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from runner_fleet.action import inputs as read_inputs
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.stop import StopOptions
from sandbox.faults import Fault
from sandbox.label_pool import VARIABLE
from sandbox.world import World

from tests.actions.harness import Actions
from tests.properties.inputs import EXAMPLES, environments, input_sets
from tests.static.test_action_contract import PARSERS, VALUES

# What a message may name beside the inputs: variables of the step, and what all inputs come to.
OTHERS = ("GH_PAT", "AWS_", "GITHUB_", "AWS credentials", "user data")

# The sandbox's pool of labels is soon used up; without it they are drawn as everywhere.
NO_POOL = {VARIABLE: ""}

thorough = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 300,  # the tests say the same each time; the campaign looks further
    suppress_health_check=list(HealthCheck),
)
# A whole run costs a hundred times as much.
whole = settings(thorough, max_examples=max(20, EXAMPLES // 100))


def clean(action: str, lines: Sequence[str]) -> None:
    """Each message is one line that names an input."""
    for line in lines:
        assert line.strip()
        assert len(line.splitlines()) == 1
        assert any(name in line for name in (*VALUES[action], *OTHERS)), line


@pytest.mark.parametrize("action", list(PARSERS))
def test_any_input_is_taken_or_refused_with_a_line_each(action: str) -> None:
    tried: Counter[str] = Counter()
    check(action, tried)()
    print(f"{action}: {tried['taken']} input sets taken, {tried['refused']} refused")
    assert min(tried.values()) > sum(tried.values()) // 20


def place(action: str, line: str) -> int:
    """Where the input that a message begins with is declared; after all when it names none."""
    names = list(VALUES[action])
    named = line.partition(":")[0]
    return names.index(named) if named in names else len(names)


def check(action: str, tried: Counter[str]) -> Callable[[], None]:
    @thorough
    @given(input_sets(action), environments())
    def taken_or_refused(values: dict[str, str], environ: dict[str, str]) -> None:
        step = {f"FLEET_{name.upper()}": value for name, value in values.items()}
        try:
            options = PARSERS[action](read_inputs(step), environ)
            problems = options.problems if isinstance(options, StopOptions) else ()
        except InputError as error:
            problems = error.lines
            assert problems
        clean(action, problems)
        assert list(problems) == sorted(problems, key=partial(place, action))
        tried["refused" if problems else "taken"] += 1

    return taken_or_refused


def test_any_start_launches_or_says_what_is_wrong(world: World, tmp_path: Path) -> None:
    """EC2 refuses each launch as the last step: so all is done but for the waiting."""
    actions = Actions(world, tmp_path)
    tried: Counter[str] = Counter()

    @whole
    @given(input_sets("start-runner").map(possible))
    def launched_or_said(values: dict[str, str]) -> None:
        world.calls.clear()
        world.faults.clear()
        world.faults.add(Fault("RunInstances$", status=400, code="VcpuLimitExceeded", times=None))
        result = actions.run("start-runner", values, NO_POOL)
        assert "Traceback" not in result.log
        assert "internal error" not in result.log
        launches = world.calls.count("RunInstances")
        refused = [line for line in result.errors if "VcpuLimitExceeded" not in line]
        if launches:
            assert refused == []
            tried["launched"] += 1
        else:
            assert result.status == 1
            assert result.errors
            clean("start-runner", result.errors)
            tried["said"] += 1

    launched_or_said()
    print(f"start-runner: {tried['launched']} got to the launch, {tried['said']} were refused")
    assert min(tried.values()) > sum(tried.values()) // 20


def possible(values: dict[str, str]) -> dict[str, str]:
    """As `values`, where they are right, but with what the sandbox has."""
    known = {
        "aws_image_owner": "amazon",
        "aws_image_name": "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)",
        "aws_region_name": "us-east-1",
        "repo": "octo-org/gpu-tests",
        "aws_subnet_id": "",
        "aws_security_group_id": "",
        "aws_iam_role": "",
        "aws_launch_template": "",
        "dry_run": "",
    }
    right = VALUES["start-runner"]
    return {
        name: known.get(name, value) if value == right[name] else value
        for name, value in values.items()
    }
