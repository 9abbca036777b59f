"""generate-jitconfig: a registration made beforehand, for one job."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping
from typing import Any

from sandbox.github import bodies, groups, runners
from sandbox.github import render_repositories as repositories
from sandbox.github.errors import invalid_request, validation_failed
from sandbox.github.records import Label, Runner
from sandbox.github.state import State

MAX_LABELS = 100

_RSA_BYTES = {
    **dict.fromkeys(("d", "modulus"), 256),
    **dict.fromkeys(("dp", "dq", "inverseQ", "p", "q"), 128),
    "exponent": 3,
}


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
    group = groups.by_id(state, scope, body["runner_group_id"])
    labels = [Label(text, "read-only") for text in names]
    runner = runners.register(state, scope, name, labels, jit=True, runner_group_id=group.id)
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
        # As large as the real one: of a key of 2048 bits.
        ".credentials_rsaparams": {
            name: _base64_bytes(secrets.token_bytes(size)) for name, size in _RSA_BYTES.items()
        },
    }
    packed = {name: _base64(json.dumps(content)) for name, content in files.items()}
    return _base64(json.dumps(packed))


def _base64(text: str) -> str:
    return _base64_bytes(text.encode())


def _base64_bytes(data: bytes) -> str:
    return base64.b64encode(data).decode()
