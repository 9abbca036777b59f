"""The sandbox for every test that wants one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sandbox import aws_settings
from sandbox.world import World


def pytest_configure() -> None:
    """No test sees the AWS settings of whoever runs it."""
    aws_settings.forget()


@pytest.fixture(scope="session")
def _world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(tmp_path_factory.mktemp("world")) as world:
        yield world


@pytest.fixture
def world(_world: World) -> Iterator[World]:
    """GitHub and EC2 on loopback, as new; afterwards no machine is left running."""
    _world.reset()
    yield _world
    _world.intercept(lambda application: application)
    _world.reset()


@pytest.fixture
def inside(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world, with this process as a step of a job in it: for code that is called directly."""
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    return world
