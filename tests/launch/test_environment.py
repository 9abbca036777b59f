"""When an environment is built, kept, and built again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.launch.conftest import Checkout, SlowUv


def test_a_first_start_builds_what_the_lock_says(checkout_with_uv: Checkout) -> None:
    result = checkout_with_uv.launch(checkout_with_uv.program("import hello; hello.main()"))

    assert result.returncode == 0
    assert result.stdout.startswith(f"hello from {checkout_with_uv.cache}/tiny-")


def test_a_second_start_builds_nothing(checkout: Checkout, slow_uv: SlowUv) -> None:
    slow_uv.release()

    first = checkout.launch("--print-env")
    second = checkout.launch("--print-env")

    assert first.stdout == second.stdout
    assert second.stderr == ""
    assert slow_uv.calls() == ["venv", "pip"]


def test_a_warm_start_needs_no_builder(checkout_with_uv: Checkout) -> None:
    checkout_with_uv.launch("--print-env")
    (checkout_with_uv.bin / "uv").unlink()

    assert checkout_with_uv.launch("-m", "hello").returncode == 0


def test_other_requirements_have_another_environment(checkout_with_uv: Checkout) -> None:
    checkout_with_uv.launch("--print-env")
    other = checkout_with_uv.add_wheel("hello-2.0-py3-none-any.whl", {"hello.py": ""})
    checkout_with_uv.lock("tiny", other)
    checkout_with_uv.launch("--print-env")

    assert len(checkout_with_uv.environments()) == 2


def delete_interpreter(environment: Path) -> None:
    (environment / "bin" / "python").unlink()


def point_interpreter_nowhere(environment: Path) -> None:
    delete_interpreter(environment)
    (environment / "bin" / "python").symlink_to("/nowhere/python3")


def point_interpreter_elsewhere(environment: Path) -> None:
    delete_interpreter(environment)
    (environment / "bin" / "python").symlink_to("/bin/sh")


def delete_marker(environment: Path) -> None:
    (environment / ".complete").unlink()


def empty_marker(environment: Path) -> None:
    (environment / ".complete").write_bytes(b"")


def garble_marker(environment: Path) -> None:
    (environment / ".complete").write_bytes(b"\xff\xfe\x00")


def delete_package(environment: Path) -> None:
    next(environment.glob("lib/*/site-packages/hello.py")).unlink()


def delete_all_but_the_marker(environment: Path) -> None:
    for path in environment.iterdir():
        if path.name != ".complete":
            shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize(
    "damage",
    [
        delete_interpreter,
        point_interpreter_nowhere,
        point_interpreter_elsewhere,
        delete_marker,
        empty_marker,
        garble_marker,
        delete_package,
        delete_all_but_the_marker,
    ],
)
def test_a_damaged_environment_is_built_again(
    checkout_with_uv: Checkout, damage: Callable[[Path], None]
) -> None:
    environment = Path(checkout_with_uv.launch("--print-env").stdout.strip())
    damage(environment)

    result = checkout_with_uv.launch("-m", "hello")

    assert result.returncode == 0
    assert "building" in result.stderr
    assert checkout_with_uv.launch("--print-env").stdout.strip() == str(environment)
    assert checkout_with_uv.environments() == [environment]


def test_its_files_are_no_links_to_a_cache(checkout_with_uv: Checkout) -> None:
    checkout_with_uv.launch("--print-env")

    assert hello_of(checkout_with_uv).stat().st_nlink == 1


def test_its_files_are_its_own_where_uv_is_fetched(checkout: Checkout, uv: Path) -> None:
    checkout.add_uv_wheel(uv)
    del checkout.variables["UV_CACHE_DIR"]

    checkout.launch("--print-env")

    assert hello_of(checkout).stat().st_nlink == 1
    assert len(checkout.environments()) == 1
    assert not (checkout.directory / "home" / ".cache").exists()


def hello_of(checkout: Checkout) -> Path:
    """The package of the only environment."""
    (file,) = checkout.cache.glob("tiny-*/lib/*/site-packages/hello.py")
    return file


def test_the_path_is_printed_as_it_is(checkout_with_uv: Checkout) -> None:
    cache = checkout_with_uv.directory / "größer"

    result = checkout_with_uv.launch(
        "--print-env", RUNNER_FLEET_CACHE=str(cache), PYTHONIOENCODING="ascii"
    )

    assert result.stdout.startswith(f"{cache}/tiny-")


def test_the_runners_tool_cache_is_used(checkout_with_uv: Checkout, tmp_path: Path) -> None:
    result = checkout_with_uv.launch(
        "--print-env", RUNNER_FLEET_CACHE="", RUNNER_TOOL_CACHE=str(tmp_path / "tools")
    )

    assert result.stdout.startswith(f"{tmp_path}/tools/runner-fleet/tiny-")


def test_an_unwritable_tool_cache_is_passed_over(
    checkout_with_uv: Checkout, tmp_path: Path
) -> None:
    (tmp_path / "tools").write_text("not a directory")

    result = checkout_with_uv.launch(
        "--print-env",
        RUNNER_FLEET_CACHE="",
        RUNNER_TOOL_CACHE=str(tmp_path / "tools"),
        XDG_CACHE_HOME=str(tmp_path / "xdg"),
    )

    assert result.stdout.startswith(f"{tmp_path}/xdg/runner-fleet/tiny-")


def test_without_settings_the_home_directory_is_used(checkout_with_uv: Checkout) -> None:
    result = checkout_with_uv.launch("--print-env", RUNNER_FLEET_CACHE="")

    assert result.stdout.startswith(f"{checkout_with_uv.directory}/home/.cache/runner-fleet/tiny-")


def test_an_environment_in_a_lesser_place_is_not_built_twice(
    checkout_with_uv: Checkout, tmp_path: Path
) -> None:
    first = checkout_with_uv.launch("--print-env", RUNNER_FLEET_CACHE="")

    second = checkout_with_uv.launch(
        "--print-env", RUNNER_FLEET_CACHE="", RUNNER_TOOL_CACHE=str(tmp_path / "tools")
    )

    assert second.stdout == first.stdout
