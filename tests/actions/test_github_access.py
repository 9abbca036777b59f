"""Runners of other places than a repository, and by other means than a token."""

from __future__ import annotations

import pytest
from sandbox.github import apps, groups
from sandbox.world import REPOSITORY, World

from tests.actions.harness import Actions
from tests.actions.test_start import INPUTS
from tests.runner_fleet.keys import key_pair

ORG = "octo-org"


def test_an_app_starts_and_stops_and_its_secrets_show_nowhere(
    actions: Actions, world: World
) -> None:
    key = key_pair().private
    permissions = {"administration": "write", "metadata": "read"}
    apps.install(world.github.state, "12345", key_pair().public, ORG, permissions)
    before = set(world.github.state.identities)
    app = {"github_app_id": "12345", "github_app_private_key": key.replace("\n", "\\n")}
    started = actions.run("start-runner", INPUTS | app, {"GH_PAT": ""})
    assert started.status == 0, started.log
    assert len(world.github.runners(REPOSITORY)) == 1
    given = {"instance_mapping": started.outputs["mapping"]}
    stopped = actions.run("stop-runner", given | app, {"GH_PAT": ""})
    assert stopped.status == 0, stopped.log
    assert world.github.runners() == []
    tokens = set(world.github.state.identities) - before
    assert len(tokens) == 2
    for result in (started, stopped):
        shown = [line for line in result.log.splitlines() if not line.startswith("::add-mask::")]
        text = "\n".join([*shown, *result.outputs.values(), result.summary])
        secrets = [*tokens, *key.splitlines()[1:-1]]
        assert [secret for secret in secrets if secret in text] == []
        masked = [line.removeprefix("::add-mask::") for line in result.log.splitlines()]
        assert {line for line in key.splitlines()[1:-1] if len(line) >= 20} <= set(masked)
        assert set(masked) & tokens


def test_runners_of_an_organization_are_put_in_a_group_and_taken_back(
    actions: Actions, world: World
) -> None:
    world.github.add_token("owner-of-octo-org", repos={REPOSITORY: "read"}, orgs={ORG: "admin"})
    gpu = groups.add(world.github.state, ORG, "gpu machines", [REPOSITORY])
    env = {"GH_PAT": "owner-of-octo-org"}
    inputs = INPUTS | {"organization": ORG, "runner_group": "gpu machines"}
    started = actions.run("start-runner", inputs, env)
    assert started.status == 0, started.log
    (runner,) = world.github.runners(ORG)
    assert runner.runner_group_id == gpu.id
    (instance,) = world.ec2.instances()
    assert instance.tags["runner-fleet:repository"] == REPOSITORY
    given = {"organization": ORG, "fleet_id": started.outputs["fleet_id"]}
    stopped = actions.run("stop-runner", given, env)
    assert stopped.status == 0, stopped.log
    assert world.github.runners() == []


def test_runners_of_an_enterprise_start_and_stop(actions: Actions, world: World) -> None:
    world.github.add_token("owner-of-octo-corp", enterprises={"octo-corp": "admin"})
    env = {"GH_PAT": "owner-of-octo-corp"}
    started = actions.run("start-runner", INPUTS | {"enterprise": "octo-corp"}, env)
    assert started.status == 0, started.log
    (runner,) = world.github.runners("enterprise:octo-corp")
    assert runner.status == "online"
    assert world.github.runners(REPOSITORY) == []
    given = {"enterprise": "octo-corp", "instance_mapping": started.outputs["mapping"]}
    stopped = actions.run("stop-runner", given, env)
    assert stopped.status == 0, stopped.log
    assert world.github.runners() == []


def test_a_refusal_is_said_in_our_words_only(actions: Actions, world: World) -> None:
    world.github.add_token("a-token-of-actions", repos={REPOSITORY: "write"}, kind="github-token")
    result = actions.run("start-runner", INPUTS, {"GH_PAT": "a-token-of-actions"})
    assert len(result.errors) == 1
    said = [line for line in result.log.splitlines() if not line.startswith(("::", "Fleet "))]
    assert said == []


@pytest.mark.parametrize(
    ("inputs", "line"),
    [
        (
            {"organization": ORG, "runner_group": "cpu"},
            "runner_group: there is no runner group 'cpu' (there are: Default)",
        ),
        ({"runner_group": "gpu"}, "runner_group: only organizations and enterprises have"),
    ],
)
def test_a_group_that_is_not_there_starts_nothing(
    actions: Actions, world: World, inputs: dict[str, str], line: str
) -> None:
    world.github.add_token("owner-of-octo-org", repos={REPOSITORY: "read"}, orgs={ORG: "admin"})
    result = actions.run("start-runner", INPUTS | inputs, {"GH_PAT": "owner-of-octo-org"})
    assert (result.status, world.ec2.instances()) == (1, [])
    assert result.errors[0].startswith(line)
