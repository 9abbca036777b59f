"""The program that is started: its process, its variables, its arguments."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.launch.conftest import Checkout

SHOW = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ), sys.path]))"


def test_it_is_the_process_that_was_started(checkout_with_uv: Checkout) -> None:
    program = checkout_with_uv.program("import os; print(os.getpid())")

    start = checkout_with_uv.start(program)

    assert start.communicate()[0] == f"{start.pid}\n"


def test_signals_and_the_exit_status_are_its_own(checkout_with_uv: Checkout) -> None:
    program = checkout_with_uv.program(
        "import signal\n"
        "signal.signal(signal.SIGTERM, lambda *_: exit(7))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    start = checkout_with_uv.start(program)
    assert start.stdout
    assert start.stdout.readline() == "ready\n"

    start.send_signal(signal.SIGTERM)
    start.communicate()

    assert start.returncode == 7


def test_a_signal_it_does_not_handle_ends_it_as_ever(checkout_with_uv: Checkout) -> None:
    program = checkout_with_uv.program("import signal; print(flush=True); signal.pause()")
    start = checkout_with_uv.start(program)
    assert start.stdout
    start.stdout.readline()

    start.send_signal(signal.SIGTERM)
    start.communicate()

    assert start.returncode == -signal.SIGTERM


def test_an_interrupt_before_anything_is_begun_is_quiet(checkout: Checkout) -> None:
    (checkout.shared / "launcher" / "errors.py").write_text(
        "import signal; print(flush=True); signal.pause()\n"
    )
    start = checkout.start("--print-env")
    assert start.stdout
    start.stdout.readline()

    start.send_signal(signal.SIGINT)
    _, errors = start.communicate()

    assert (start.returncode, errors) == (-signal.SIGINT, "")


def test_an_interrupt_is_held_until_there_is_a_handler(checkout_with_uv: Checkout) -> None:
    program = checkout_with_uv.program(
        "import signal\n"
        "print('not yet', flush=True)\n"
        "input()\n"
        "signal.signal(signal.SIGINT, lambda *_: exit(7))\n"
        "signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])\n"
        "signal.pause()\n"
    )
    start = checkout_with_uv.start("--hold-sigint", program)
    assert start.stdout
    start.stdout.readline()

    start.send_signal(signal.SIGINT)
    _, errors = start.communicate("go on\n")

    assert start.returncode == 7
    assert "Traceback" not in errors


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_it_is_built_and_runs_with_closed_streams(checkout_with_uv: Checkout, closed: str) -> None:
    program = checkout_with_uv.program(
        "import os, sys\n"
        "print(sys.argv[1])\n"
        "print(*map(os.fstat, range(3)), file=sys.stderr)\n"
        "open(sys.argv[1], 'x').close()\n"
    )
    ran = checkout_with_uv.directory / "ran"

    result = checkout_with_uv.launch_by_shell(f'exec "$@" {closed}', program, ran)

    assert (result.returncode, ran.exists()) == (0, True)


def test_it_is_built_and_runs_where_the_working_directory_is_gone(checkout: Checkout) -> None:
    pytest.importorskip("ensurepip", reason="this host's python3 has no venv")

    result = checkout.launch_by_shell(
        'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "--bin", "hello"
    )

    assert (result.returncode, result.stdout[:5]) == (0, "hello")


def test_arguments_arrive_unchanged(checkout_with_uv: Checkout) -> None:
    awkward = ["--set", "a b", "", "'\"$x\n", "-m"]

    result = checkout_with_uv.launch(checkout_with_uv.program(SHOW), *awkward)

    assert json.loads(result.stdout)[0] == awkward


def test_the_hosts_python_settings_do_not_reach_it(checkout_with_uv: Checkout) -> None:
    result = checkout_with_uv.launch(
        checkout_with_uv.program(SHOW),
        PYTHONPATH="/somewhere",
        PYTHONHOME=sys.base_prefix,
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONSTARTUP="/startup.py",
        PYTHONOPTIMIZE="2",
        PYTHONUNBUFFERED="1",
        GH_PAT="kept",
    )
    variables = json.loads(result.stdout)[1]

    assert {name: variables[name] for name in variables if name.startswith("PYTHON")} == {
        "PYTHONPATH": str(checkout_with_uv.shared),
        "PYTHONUNBUFFERED": "1",
    }
    assert variables["GH_PAT"] == "kept"


def test_only_its_own_packages_can_be_imported(checkout_with_uv: Checkout) -> None:
    result = checkout_with_uv.launch(checkout_with_uv.program(SHOW))
    path = json.loads(result.stdout)[2]

    packages = [entry for entry in path if "-packages" in entry]
    assert len(packages) == 1
    assert packages[0].startswith(str(checkout_with_uv.cache))


def test_further_import_paths_come_after_shared(checkout_with_uv: Checkout) -> None:
    result = checkout_with_uv.launch("--path", "/a", checkout_with_uv.program(SHOW))

    assert json.loads(result.stdout)[1]["PYTHONPATH"] == f"{checkout_with_uv.shared}:/a"


def test_a_script_gets_the_hosts_path(checkout_with_uv: Checkout) -> None:
    result = checkout_with_uv.launch(checkout_with_uv.program(SHOW))

    assert json.loads(result.stdout)[1]["PATH"] == str(checkout_with_uv.bin)


@pytest.mark.parametrize("way", [("-m", "hello"), ("--bin", "hello")])
def test_modules_and_commands_of_the_set_can_be_run(
    checkout_with_uv: Checkout, way: tuple[str, str]
) -> None:
    checkout_with_uv.lock(
        "tiny",
        checkout_with_uv.add_wheel(
            "hello-3.0-py3-none-any.whl",
            {
                "hello.py": "import shutil\n"
                "def main(): print(shutil.which('hello'))\n"
                "if __name__ == '__main__': main()\n",
                "hello-3.0.dist-info/entry_points.txt": "[console_scripts]\nhello = hello:main\n",
            },
        ),
    )

    result = checkout_with_uv.launch(*way)

    (environment,) = checkout_with_uv.environments()
    assert result.stdout == f"{environment}/bin/hello\n"


def test_it_runs_though_python_is_told_not_to_look_beside_scripts(
    checkout_with_uv: Checkout,
) -> None:
    assert checkout_with_uv.launch("--print-env", PYTHONSAFEPATH="1").returncode == 0


def test_it_runs_though_python_is_told_not_to_set_up_a_site(checkout_with_uv: Checkout) -> None:
    result = checkout_with_uv.launch_by_shell(
        'python=$1; shift; exec "$python" -S "$@"', "-m", "hello"
    )

    assert (result.returncode, result.stdout[:5]) == (0, "hello")
