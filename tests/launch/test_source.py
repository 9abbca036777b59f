"""What can be told from the source: old interpreters, the standard library only, a cheap start."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared"
# Each takes a millisecond or more, and none is needed to find an environment.
HEAVY = {"argparse", "dataclasses", "inspect", "json", "pathlib", "re", "subprocess", "typing"}


def test_an_old_python_can_read_launch() -> None:
    assert ast.parse((SHARED / "launch").read_text(), feature_version=(3, 6)).body


def test_an_old_python_is_told_which_one_is_needed() -> None:
    code = (
        "import runpy, sys\n"
        "sys.version_info = (3, 9, 18, 'final', 0)\n"
        f"runpy.run_path({str(SHARED / 'launch')!r}, run_name='__main__')\n"
    )

    result = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False
    )

    assert result.returncode == 1
    assert result.stdout.startswith("::error title=runner-fleet::Python 3.10 or newer is needed")
    assert result.stdout.count("\n") == 1


def test_launch_needs_the_standard_library_only() -> None:
    imported = set()
    for path in (SHARED / "launch", *(SHARED / "launcher").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])

    assert imported - sys.stdlib_module_names == {"launcher"}


def test_a_warm_start_imports_nothing_heavy() -> None:
    code = (
        f"import sys; sys.path[:0] = [{str(SHARED)!r}]; import launcher.main; print(*sys.modules)"
    )

    result = subprocess.run(
        [sys.executable, "-B", "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )

    assert HEAVY & set(result.stdout.split()) == set()
