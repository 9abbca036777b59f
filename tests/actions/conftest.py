"""The actions under test."""

from __future__ import annotations

from pathlib import Path

import pytest
from actions.harness import Actions
from sandbox.world import World


@pytest.fixture
def actions(world: World, tmp_path: Path) -> Actions:
    return Actions(world, tmp_path)
