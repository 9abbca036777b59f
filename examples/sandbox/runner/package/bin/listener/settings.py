"""What the runner is told on its command line, and what it keeps in its directory."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .wire import RunnerError, Server

_FILES = (".runner", ".credentials", ".credentials_rsaparams")


def arguments(words: Iterable[str], valued: Sequence[str], flags: Sequence[str]) -> dict[str, str]:
    """The options; each may also come from ACTIONS_RUNNER_INPUT_<NAME>."""
    found = {}
    for name in (*valued, *flags):
        value = os.environ.get("ACTIONS_RUNNER_INPUT_" + name.replace("-", "").upper())
        if value:
            found[name] = value
    left = list(words)
    while left:
        word = left.pop(0)
        name = word[2:] if word.startswith("--") else ""
        if name in flags:
            found[name] = "true"
        elif name in valued and left:
            found[name] = left.pop(0)
        else:
            msg = f"Unrecognized command-line input arguments: '{word}'."
            raise RunnerError(msg)
    return found


def release() -> dict[str, str]:
    """Which runner this is: version, os, architecture."""
    text = Path("bin/release.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def configured() -> bool:
    return Path(".runner").exists()


def save(settings: dict[str, Any], credential: str) -> None:
    Path(".runner").write_text(json.dumps(settings, indent=2), encoding="utf-8")
    credentials = Path(".credentials")
    held = {"scheme": "OAuth", "data": {"credential": credential}}
    credentials.write_text(json.dumps(held, indent=2), encoding="utf-8")
    credentials.chmod(0o600)


def saved() -> tuple[dict[str, Any], Server]:
    try:
        settings = json.loads(Path(".runner").read_text(encoding="utf-8"))
        credentials = json.loads(Path(".credentials").read_text(encoding="utf-8"))
    except FileNotFoundError:
        msg = "Not configured. Run config.(sh/cmd) to configure the runner."
        raise RunnerError(msg) from None
    return settings, Server(settings["serverUrl"], credentials["data"]["credential"])


def forget() -> None:
    for name in _FILES:
        Path(name).unlink(missing_ok=True)


def unpack(config: str) -> None:
    """Write the files that a just-in-time configuration holds."""
    try:
        files = json.loads(base64.b64decode(config, validate=True))
        contents = {name: base64.b64decode(value) for name, value in files.items()}
    except ValueError:
        msg = "The just-in-time configuration cannot be read."
        raise RunnerError(msg) from None
    for name in _FILES:
        if name in contents:
            Path(name).write_bytes(contents[name])
