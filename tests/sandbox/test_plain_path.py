from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from sandbox.plain_path import ROOT_VARIABLE, UnreachableError, plain_root

ODD = "my projects & 'fun' für $HOME"


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where links are made."""
    place = tmp_path / "links"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.mark.usefixtures("links")
def test_a_plain_path_is_taken_as_it_is() -> None:
    with plain_root(Path("/home/octocat/src/runner-fleet")) as root:
        assert root == Path("/home/octocat/src/runner-fleet")
        assert ROOT_VARIABLE not in os.environ


def test_a_checkout_with_an_odd_path_is_reached_through_a_link(tmp_path: Path, links: Path) -> None:
    real = tmp_path / ODD
    real.mkdir()
    with plain_root(real) as root:
        assert root.resolve() == real
        assert root.is_relative_to(links)
        assert os.environ[ROOT_VARIABLE] == str(root)
    assert list(links.iterdir()) == []
    assert ROOT_VARIABLE not in os.environ


@pytest.mark.usefixtures("links")
def test_paths_below_the_checkout_that_make_hands_on_go_through_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / ODD
    real.mkdir()
    monkeypatch.setenv("RUNNER_FLEET_CACHE", str(real / ".cache" / "environments"))
    with plain_root(real) as root:
        assert os.environ["RUNNER_FLEET_CACHE"] == f"{root}/.cache/environments"
    assert os.environ["RUNNER_FLEET_CACHE"] == f"{real}/.cache/environments"


def test_without_a_place_for_the_link_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / ODD
    real.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(real))
    with pytest.raises(UnreachableError, match="move the checkout, or set TMPDIR"):
        plain_root(real).__enter__()
