"""The sandbox for every test that wants one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from sandbox.world import World


def pytest_configure() -> None:
    """No test sees the AWS settings of whoever runs it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull


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
