"""generate-jitconfig: a registration made beforehand, for one job."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from sandbox.github import bodies, runners
from sandbox.github import render_repositories as repositories
from sandbox.github.errors import invalid_request, not_found, validation_failed
from sandbox.github.records import Label, Runner
from sandbox.github.state import State

MAX_LABELS = 100


def generate(state: State, scope: str, body: Mapping[str, Any], base: str) -> tuple[Runner, str]:
    """The runner and its encoded configuration. 404 unknown group, 409 name taken, 422 labels.

    No default label is added, and every label is read-only, as in PyGithub's recording of a real
    reply (`Organization.testSelfHostedRunnerJitConfig`).
    """
    name = bodies.string(body, "name")
    if "runner_group_id" not in body:
        raise invalid_request('"runner_group_id" wasn\'t supplied.')
    names = bodies.string_list(body, "labels")
    if not name:
        raise validation_failed("Name cannot be empty")
    if not 1 <= len(names) <= MAX_LABELS:
        msg = f"labels must have between 1 and {MAX_LABELS} items"
        raise validation_failed(msg)
    if body["runner_group_id"] != 1:
        raise not_found()
    labels = [Label(text, "read-only") for text in names]
    runner = runners.register(state, scope, name, labels, jit=True)
    encoded = _encode(state, runner, base)
    state.jit_configs.append(encoded)
    return runner, encoded


def _encode(state: State, runner: Runner, base: str) -> str:
    credential = runners.new_credential(state, runner)
    files = {
        ".runner": {
            "agentId": runner.id,
            "agentName": runner.name,
            "serverUrl": base,
            "gitHubUrl": f"{repositories.site(base)}/{runner.scope}",
            "ephemeral": True,
        },
        ".credentials": {"scheme": "OAuth", "data": {"credential": credential}},
        ".credentials_rsaparams": {},
    }
    packed = {name: _base64(json.dumps(content)) for name, content in files.items()}
    return _base64(json.dumps(packed))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
