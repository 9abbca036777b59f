"""A job that reaches GitHub and AWS only through a proxy."""

from __future__ import annotations

from sandbox.world import World

from tests.actions import proxy
from tests.actions.harness import Actions
from tests.actions.test_start import INPUTS


def test_both_clients_go_through_the_proxy_of_the_environment(
    actions: Actions, world: World
) -> None:
    with proxy.running() as server:
        host, port = server.server_address[:2]
        env = {"HTTP_PROXY": f"http://{host!s}:{port}"}
        started = actions.run("start-runner", INPUTS, env)
        assert started.status == 0, started.log
        given = {"instance_mapping": started.outputs["mapping"]}
        stopped = actions.run("stop-runner", given, env)
        assert stopped.status == 0, stopped.log
        assert set(server.asked) == {world.github.url, world.ec2_url}
        assert len(server.asked) == len(actions.calls())


def test_a_host_in_no_proxy_is_asked_directly(actions: Actions, world: World) -> None:
    env = {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
    result = actions.run("start-runner", INPUTS, env)
    assert result.status == 0, result.log


def test_a_proxy_that_does_not_answer_is_named_among_the_causes(
    actions: Actions, world: World
) -> None:
    result = actions.run("start-runner", INPUTS, {"HTTP_PROXY": "http://127.0.0.1:9"})
    assert result.status == 1
    assert world.ec2.instances() == []
    (line,) = (line for line in result.errors if line.startswith("GitHub at "))
    assert "cannot be reached" in line
    assert "its proxy (HTTPS_PROXY, NO_PROXY)" in line
