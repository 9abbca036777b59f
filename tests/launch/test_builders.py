"""Which of a host's means builds the environment, and in which order."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.launch.conftest import Checkout


def test_the_hosts_uv_comes_first(checkout_with_uv: Checkout) -> None:
    checkout_with_uv.launch("--print-env")

    assert list(checkout_with_uv.cache.glob("uv-tool-*")) == []


def test_without_uv_one_is_fetched_with_pip(checkout: Checkout, uv: Path) -> None:
    checkout.add_uv_wheel(uv)

    result = checkout.launch("-m", "hello")

    assert result.returncode == 0
    assert len(list(checkout.cache.glob("uv-tool-*/uv"))) == 1


def test_a_broken_uv_is_passed_over(checkout: Checkout, uv: Path) -> None:
    checkout.script("uv", "echo 'error: broken' >&2; exit 1")
    checkout.add_uv_wheel(uv)

    assert checkout.launch("-m", "hello").returncode == 0


def test_a_uv_of_another_machine_is_passed_over(checkout: Checkout, uv: Path) -> None:
    broken = checkout.script("uv", "")
    broken.write_bytes(b"\x7fELF of another machine")
    checkout.add_uv_wheel(uv)

    assert checkout.launch("-m", "hello").returncode == 0


def test_a_fetched_uv_is_kept_for_other_sets(checkout: Checkout, uv: Path) -> None:
    wheel = checkout.add_uv_wheel(uv)
    checkout.launch("--print-env")
    (checkout.wheels / wheel).unlink()
    checkout.lock("tiny", checkout.add_wheel("hello-2.0-py3-none-any.whl", {"hello.py": ""}))

    assert checkout.launch("-m", "hello").returncode == 0


class Index(http.server.SimpleHTTPRequestHandler):
    """A package index (PEP 691) of a directory of wheels, behind a password."""

    def do_GET(self) -> None:
        if self.headers["Authorization"] != "Basic dXNlcjpodW50ZXIy":  # user:hunter2
            self.send_error(401)
        elif self.path == "/simple/uv/":
            self._listing()
        else:
            super().do_GET()

    def _listing(self) -> None:
        files = []
        for path in Path(self.directory).glob("uv-*.whl"):
            digest = self.server.digests[path.name]  # type: ignore[attr-defined]
            hashes = {"sha256": digest}
            files.append({"filename": path.name, "url": f"../../{path.name}", "hashes": hashes})
        body = json.dumps({"meta": {"api-version": "1.0"}, "name": "uv", "files": files}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def index(checkout: Checkout, uv: Path) -> Iterator[str]:
    """The address of an index that has the locked uv."""
    wheel = checkout.add_uv_wheel(uv)
    lock = (checkout.shared / "requirements" / "uv.txt").read_text()
    handler = partial(Index, directory=str(checkout.wheels))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.digests = {wheel: lock.rpartition(":")[2].strip()}  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://user:hunter2@127.0.0.1:{server.server_port}/simple"
        server.shutdown()
        thread.join()


def test_without_pip_uv_is_fetched_from_the_index(
    checkout: Checkout, bare_python: Path, index: str
) -> None:
    result = checkout.launch("-m", "hello", python=bare_python, UV_DEFAULT_INDEX=index)

    assert (result.returncode, result.stdout[:5]) == (0, "hello")


def test_a_uv_that_is_not_the_locked_one_is_refused(
    checkout: Checkout, bare_python: Path, index: str
) -> None:
    (wheel,) = checkout.wheels.glob("uv-*.whl")
    wheel.write_bytes(b"something else")

    result = checkout.launch("-m", "hello", python=bare_python, UV_DEFAULT_INDEX=index)

    assert result.returncode == 1
    assert "refused: uv-1.0" in result.stdout
    assert list(checkout.cache.glob("uv-tool-*/uv")) == []


def test_an_index_that_says_no_is_named_without_its_password(
    checkout: Checkout, bare_python: Path, index: str
) -> None:
    wrong = index.replace("hunter2", "hunter3")

    result = checkout.launch("-m", "hello", python=bare_python, UV_DEFAULT_INDEX=wrong)

    assert result.returncode == 1
    assert "401" in result.stdout
    assert "hunter" not in result.stdout + result.stderr


def test_without_uv_to_be_had_venv_builds(checkout: Checkout) -> None:
    pytest.importorskip("ensurepip", reason="this host's python3 has no venv")

    result = checkout.launch("-m", "hello")

    assert (result.returncode, result.stdout[:5]) == (0, "hello")


def test_virtualenv_is_the_last_resort(checkout: Checkout, bare_python: Path) -> None:
    log = checkout.directory / "log"
    for tool in ("uv", "virtualenv"):
        checkout.script(tool, f'echo {tool} >>"{log}"; echo "error: {tool} is broken" >&2; exit 1')

    result = checkout.launch("-m", "hello", python=bare_python)

    assert log.read_text().split() == ["uv", "virtualenv"]
    assert result.stdout.count("::error") == 1
    assert "uv: error: uv is broken; virtualenv: error: virtualenv is broken" in result.stdout


def test_a_host_with_nothing_is_told_which_package_to_install(
    checkout: Checkout, bare_python: Path
) -> None:
    result = checkout.launch("-m", "hello", python=bare_python)

    assert result.returncode == 1
    assert result.stdout.count("\n") == 1
    assert result.stdout.startswith("::error title=runner-fleet::")
    assert "apt-get install python3-venv" in result.stdout
    assert "dnf install python3-pip" in result.stdout


def test_installers_see_no_secrets(checkout: Checkout, bare_python: Path) -> None:
    log = checkout.directory / "log"
    checkout.script("uv", f'echo "$GH_PAT$AWS_SECRET_ACCESS_KEY$INPUT_X." >"{log}"; exit 1')

    secrets = {"GH_PAT": "p", "AWS_SECRET_ACCESS_KEY": "a", "INPUT_X": "i"}
    checkout.launch("--print-env", python=bare_python, **secrets)

    assert log.read_text() == ".\n"


def test_pips_index_is_told_to_uv(checkout: Checkout, bare_python: Path) -> None:
    log = checkout.directory / "log"
    checkout.script("uv", f'echo "$UV_DEFAULT_INDEX $UV_INDEX" >"{log}"; exit 1')
    for name in ("UV_NO_INDEX", "UV_FIND_LINKS"):
        del checkout.variables[name]

    indexes = {
        "PIP_INDEX_URL": "http://127.0.0.1:1/a",
        "PIP_EXTRA_INDEX_URL": "http://127.0.0.1:1/b",
    }
    checkout.launch("--print-env", python=bare_python, **indexes)

    assert log.read_text() == "http://127.0.0.1:1/a http://127.0.0.1:1/b\n"
