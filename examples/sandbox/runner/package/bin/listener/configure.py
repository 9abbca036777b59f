"""config.sh: register this runner, or remove its registration."""

from __future__ import annotations

import os

from . import settings
from .wire import Reply, RunnerError, Server, say

_STATUS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 422: "UnprocessableEntity"}


def configure(words: list[str]) -> int:
    if words[:1] == ["remove"]:
        return _remove(words[1:])
    given = settings.arguments(
        words,
        ("url", "token", "name", "labels", "work", "runnergroup"),
        ("unattended", "replace", "ephemeral", "disableupdate", "no-default-labels"),
    )
    if settings.configured():
        msg = (
            "Cannot configure the runner because it is already configured. To reconfigure the "
            "runner, run 'config.sh remove' first."
        )
        raise RunnerError(msg)
    for needed in ("url", "token"):
        if not given.get(needed):  # the real one asks, when somebody can answer
            msg = (
                f"Invalid configuration provided for {needed}. Terminating unattended "
                "configuration."
            )
            raise RunnerError(msg)
    name = given.get("name") or os.uname().nodename
    if len(name) > 64:
        msg = "Invalid configuration provided for name: it is longer than 64 characters."
        raise RunnerError(msg)
    server = Server(given["url"])
    body = _registration(given, name)
    credential = _checked(server.call("POST", "/_runner/register", body), given["url"], name)
    say("\u221a Connected to GitHub")
    say("\n\u221a Runner successfully added")
    kept = {
        "agentId": credential["id"],
        "agentName": name,
        "ephemeral": "ephemeral" in given,
        "serverUrl": f"http://{server.address}",
        "gitHubUrl": given["url"],
        "workFolder": given.get("work") or "_work",
        "disableUpdate": "disableupdate" in given,
    }
    settings.save(kept, str(credential["credential"]))
    say("\u221a Settings Saved.")
    return 0


def _registration(given: dict[str, str], name: str) -> dict[str, object]:
    about = settings.release()
    return {
        "url": given["url"],
        "token": given["token"],
        "name": name,
        "labels": labels(given.get("labels", "")),
        "ephemeral": "ephemeral" in given,
        "replace": "replace" in given,
        "no_default_labels": "no-default-labels" in given,
        "runner_group": given.get("runnergroup"),
        "os": about["os"],
        "arch": about["architecture"],
        "version": about["version"],
    }


def labels(text: str) -> list[str]:
    """Split at commas, trimmed, each once whatever its case."""
    found: dict[str, str] = {}
    for label in (part.strip() for part in text.split(",")):
        if len(label) > 256:
            msg = (
                f"Invalid configuration provided for labels: '{label[:40]}...' is longer than 256 "
                "characters."
            )
            raise RunnerError(msg)
        if label:
            found.setdefault(label.lower(), label)
    return list(found.values())


def _checked(reply: Reply, url: str, name: str) -> dict[str, object]:
    if reply.status == 201:
        return dict(reply.body)
    if reply.status == 409:
        msg = f"A runner exists with the same name {name}."
        raise RunnerError(msg)
    status = _STATUS.get(reply.status, "Error")
    msg = (
        f"Http response code: {status} from 'POST {url}' ({reply.message})\n"
        f"Response status code does not indicate success: {reply.status} ({status})."
    )
    raise RunnerError(msg)


def _remove(words: list[str]) -> int:
    given = settings.arguments(words, ("token",), ("local", "unattended"))
    if settings.configured() and "local" not in given:
        kept, server = settings.saved()
        reply = server.call("POST", "/_runner/remove", {"token": given.get("token", "")})
        if reply.status not in (204, 401):  # 401: the registration is gone already
            status = _STATUS.get(reply.status, "Error")
            msg = f"Failed: Removing runner {kept['agentName']} from the server ({status})"
            raise RunnerError(msg)
        say("\u221a Runner removed successfully")
    settings.forget()
    say("\u221a Removed .credentials\n\u221a Removed .runner")
    return 0
