"""The sandbox for every test that wants one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sandbox.world import World


@pytest.fixture(scope="session")
def _world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(tmp_path_factory.mktemp("world")) as world:
        yield world


@pytest.fixture
def world(_world: World) -> Iterator[World]:
    """GitHub and EC2 on loopback, as new; afterwards no machine is left running."""
    _world.reset()
    yield _world
    _world.reset()
