"""Every way to fail ends in one line that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

    from tests.launch.conftest import Checkout


def error_of(result: subprocess.CompletedProcess[str]) -> str:
    """The one line of a start that failed."""
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    prefix = "::error title=runner-fleet::"
    assert result.stdout.startswith(prefix)
    assert result.stdout.count("\n") == 1
    return result.stdout.removeprefix(prefix).strip()


def test_a_wrong_hash_is_refused(checkout_with_uv: Checkout) -> None:
    checkout_with_uv.lock("tiny", "hello==1.0 --hash=sha256:" + "0" * 64)

    assert "refused" in error_of(checkout_with_uv.launch("-m", "hello"))
    assert checkout_with_uv.environments() == []


def test_a_requirement_without_a_hash_is_refused(
    checkout_with_uv: Checkout, bare_python: Path
) -> None:
    checkout_with_uv.lock("tiny", "hello==1.0")

    assert "hash" in error_of(checkout_with_uv.launch("-m", "hello", python=bare_python))
    assert checkout_with_uv.environments() == []


def test_a_wrong_hash_of_uv_is_refused_by_pip(checkout: Checkout, uv: Path) -> None:
    checkout.add_uv_wheel(uv)
    checkout.lock("uv", "uv==1.0 --hash=sha256:" + "0" * 64)

    assert "refused" in error_of(checkout.launch("-m", "hello"))


def test_no_network_is_said_with_what_was_asked(
    checkout_with_uv: Checkout, bare_python: Path
) -> None:
    for name in ("UV_NO_INDEX", "UV_FIND_LINKS"):
        del checkout_with_uv.variables[name]

    error = error_of(
        checkout_with_uv.launch(
            "-m",
            "hello",
            python=bare_python,
            UV_DEFAULT_INDEX="http://user:hunter2@127.0.0.1:1/simple",
            UV_HTTP_RETRIES="0",
        )
    )

    assert "the package index does not answer" in error
    assert "127.0.0.1:1/simple/hello" in error
    assert "hunter2" not in error


def test_a_full_disk_is_named(checkout: Checkout) -> None:
    checkout.script("uv", "echo 'failed to copy: No space left on device (os error 28)'; exit 2")

    assert "the disk is full" in error_of(checkout.launch("-m", "hello"))


def test_an_unwritable_cache_is_named(checkout_with_uv: Checkout, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    error = error_of(
        checkout_with_uv.launch("-m", "hello", RUNNER_FLEET_CACHE=f"{tmp_path}/file/x")
    )

    assert f"{tmp_path}/file/x" in error
    assert "Set RUNNER_FLEET_CACHE" in error


def test_an_unknown_set_is_answered_with_the_known_ones(checkout: Checkout) -> None:
    assert "tiny, uv" in error_of(checkout.launch("--set", "nope", "x.py"))


@pytest.mark.parametrize("name", ["../launch", "", "/etc/passwd"])
def test_a_set_is_a_name_and_no_path(checkout: Checkout, name: str) -> None:
    error_of(checkout.launch("--set", name, "x.py"))


@pytest.mark.parametrize("arguments", [(), ("-m",), ("--bin",), ("--unknown", "x")])
def test_a_wrong_command_line_is_answered_with_the_usage(
    checkout: Checkout, arguments: tuple[str, ...]
) -> None:
    assert error_of(checkout.launch(*arguments)).startswith("usage: launch --set NAME")


def test_an_error_is_told_whatever_the_encoding(checkout: Checkout) -> None:
    result = checkout.launch("--set", "größer", "x.py", PYTHONIOENCODING="ascii")

    assert "'größer'" in error_of(result)


def test_an_error_that_cannot_be_told_is_a_status_still(checkout: Checkout) -> None:
    result = checkout.launch_by_shell('exec "$@" >/dev/full')

    assert (result.returncode, result.stderr) == (1, "")


def test_a_path_that_leads_nowhere_is_named(checkout: Checkout) -> None:
    result = checkout.launch_by_shell(
        'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "--path", "here", "x.py"
    )

    assert "'here' leads nowhere" in error_of(result)


def test_a_place_that_python_cannot_import_from_is_named(checkout_with_uv: Checkout) -> None:
    place = checkout_with_uv.directory / "with:colon"

    error = error_of(checkout_with_uv.launch("--path", place, "-m", "hello"))

    assert f"cannot import from a directory with ':' in its path: {place}" in error


def test_a_damaged_cache_of_the_builder_is_told(
    checkout_with_uv: Checkout, bare_python: Path
) -> None:
    checkout_with_uv.launch("--print-env")
    damage(checkout_with_uv)

    error = error_of(
        checkout_with_uv.launch(
            "-m", "hello", python=bare_python, RUNNER_FLEET_CACHE=f"{checkout_with_uv.cache}-2"
        )
    )

    assert "hello.py has 0 bytes instead of" in error


def test_a_damaged_cache_of_one_builder_leaves_the_others(checkout_with_uv: Checkout) -> None:
    pytest.importorskip("ensurepip", reason="this host's python3 has no venv")
    checkout_with_uv.launch("--print-env")
    damage(checkout_with_uv)

    result = checkout_with_uv.launch(
        "-m", "hello", RUNNER_FLEET_CACHE=f"{checkout_with_uv.cache}-2"
    )

    assert (result.returncode, result.stdout[:5]) == (0, "hello")


def damage(checkout: Checkout) -> None:
    """Empty a package's file in uv's cache."""
    (file,) = (checkout.directory / "uv-cache").rglob("hello.py")
    file.write_text("")


def test_an_unknown_command_is_named(checkout_with_uv: Checkout) -> None:
    assert "'nope'" in error_of(checkout_with_uv.launch("--bin", "nope"))
