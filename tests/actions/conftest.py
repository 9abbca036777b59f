"""The actions under test."""

from __future__ import annotations

from pathlib import Path

import pytest
from sandbox.world import World

from tests.actions.harness import Actions


@pytest.fixture
def actions(world: World, tmp_path: Path) -> Actions:
    return Actions(world, tmp_path)
