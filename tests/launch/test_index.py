"""Which package index `launch` asks for uv itself, and where it leaves that to the host's pip."""

from __future__ import annotations

from pathlib import Path

import pytest
from launcher.fetch import index_to_ask

PUBLIC = "https://pypi.org/simple"


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host on which nobody has configured pip or uv; returns its home directory."""
    for name in (
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
        "PIP_INDEX_URL",
        "PIP_NO_INDEX",
        "UV_NO_INDEX",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "etc"))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "none"))
    return tmp_path


def test_the_public_one_where_nobody_has_said_otherwise() -> None:
    assert index_to_ask() == PUBLIC


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"])
def test_the_one_that_the_environment_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "https://mirror.example.com/simple")
    assert index_to_ask() == "https://mirror.example.com/simple"


@pytest.mark.parametrize("name", ["UV_NO_INDEX", "PIP_NO_INDEX"])
def test_none_where_none_may_be_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert index_to_ask() is None


@pytest.mark.parametrize(
    "place", ["none", "etc/pip/pip.conf", ".config/pip/pip.conf", ".pip/pip.conf"]
)
@pytest.mark.parametrize("line", ["index-url = https://mirror.example.com", "no-index=true"])
def test_none_where_pip_is_configured_to_another(host: Path, place: str, line: str) -> None:
    (host / place).parent.mkdir(parents=True, exist_ok=True)
    (host / place).write_text(f"[global]\n{line}\n")
    assert index_to_ask() is None


def test_what_pip_adds_to_the_public_one_changes_nothing(host: Path) -> None:
    (host / "none").write_text("[global]\nextra-index-url = https://more.example.com\n")
    assert index_to_ask() == PUBLIC
