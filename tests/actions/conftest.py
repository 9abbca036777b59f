"""The actions under test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandbox.world import World

from tests.actions.boot_host import Host
from tests.actions.harness import Actions, aws
from tests.faults.gate import Gate

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client


@pytest.fixture
def actions(world: World, tmp_path: Path) -> Actions:
    return Actions(world, tmp_path)


@pytest.fixture
def gate(world: World) -> Iterator[Gate]:
    """In front of the world's services."""
    made = Gate()
    world.intercept(made.around)
    yield made
    made.open()


@pytest.fixture
def ec2(world: World) -> Iterator[EC2Client]:
    client = aws(world, "ec2")
    yield client
    client.close()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path)
    yield made
    made.close()
