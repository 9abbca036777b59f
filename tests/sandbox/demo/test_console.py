from __future__ import annotations

import io

import pytest
from sandbox.demo.console import Console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _colours_not_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_line_has_the_seconds_the_leg_and_the_text() -> None:
    stream = io.StringIO()
    console = Console(["g4dn.xlarge", "g4dn.2xlarge"], stream)
    console.event("online", "g4dn.xlarge", at=console.began + 1.5)
    assert stream.getvalue() == "  1.50 s  g4dn.xlarge   online\n"


def test_there_is_no_colour_where_nobody_sees_it() -> None:
    stream = io.StringIO()
    Console(["a"], stream).event("bad", "a", "bad")
    assert "\x1b" not in stream.getvalue()


def test_a_terminal_gets_colour() -> None:
    stream = Terminal()
    Console(["a"], stream).event("bad", "a", "bad")
    assert "\x1b[31mbad\x1b[0m" in stream.getvalue()


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    Console(["a"], stream).event("bad", "a", "bad")
    assert "\x1b" not in stream.getvalue()
