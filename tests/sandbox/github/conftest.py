"""A simulator with a clock of its own for every test; one server for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sandbox.github import Simulator, VirtualClock
from sandbox.serve import Server
from werkzeug.test import Client, TestResponse

REPO = "octo-org/gpu-tests"
ORG = "octo-org"
ADMIN = "admin"  # the token that may do everything here


class Reply(TestResponse):
    """A reply whose body is JSON, as all are here."""

    @property
    def json(self) -> Any:
        return self.get_json()


class Api:
    """Calls the simulator in this process, as the administrator unless another token is given."""

    def __init__(self, simulator: Simulator) -> None:
        self._client = Client(simulator.wsgi, Reply)
        self.repo = f"/repos/{REPO}"
        self.org = f"/orgs/{ORG}"

    def __call__(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        token: str | None = ADMIN,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> Reply:
        sent = {"User-Agent": "tests", **(headers or {})}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        reply = self._client.open(path, method=method, json=json, headers=sent, **more)
        assert isinstance(reply, Reply)
        return reply

    def get(self, path: str, **more: Any) -> Reply:
        return self("GET", path, **more)

    def post(self, path: str, json: Any = None, **more: Any) -> Reply:
        return self("POST", path, json, **more)

    def put(self, path: str, json: Any = None, **more: Any) -> Reply:
        return self("PUT", path, json, **more)

    def patch(self, path: str, json: Any = None, **more: Any) -> Reply:
        return self("PATCH", path, json, **more)

    def delete(self, path: str, **more: Any) -> Reply:
        return self("DELETE", path, **more)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def github(clock: VirtualClock) -> Simulator:
    simulator = Simulator(clock)
    simulator.add_repository(REPO)
    simulator.add_token(ADMIN, repos={REPO: "admin"}, orgs={ORG: "admin"})
    simulator.add_token("writer", repos={REPO: "write"})
    simulator.add_token("stranger")
    simulator.add_token("job", repos={REPO: "write"}, kind="github-token")
    return simulator


@pytest.fixture
def api(github: Simulator) -> Api:
    return Api(github)


@pytest.fixture(scope="session")
def _server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def served(github: Simulator, _server: Server) -> Simulator:
    """The same simulator, behind a real socket: `served.url`."""
    _server.application = github.wsgi
    github.url = _server.url
    return github


@pytest.fixture(scope="session")
def eventually() -> Callable[[Callable[[], object]], None]:
    """Wait, at most a minute, until the condition holds."""

    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, "it never came about"
            time.sleep(0.005)

    return wait
