"""API calls by name: `RunInstances`, `GET runners`, `DELETE runner`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sandbox.calls import Call

_CLIENTS = ("runner-fleet/", "Boto3/")
# Tests, too, use boto3: only ours names itself behind it.
_OURS = "runner-fleet/"
_NUMBER = re.compile(r"/\d+(?=/|$)")
_SCOPE = re.compile(r"^/(repos/[^/]+/[^/]+|orgs/[^/]+|enterprises/[^/]+)/actions/")


def is_ours(client: str) -> bool:
    """Whether a User-Agent is an action's; machines and tests make calls, too."""
    return client.startswith(_CLIENTS) and _OURS in client


def name_of(operation: str) -> str:
    """The operation as `Call.operation` has it, without the scope and ids."""
    method, _, path = operation.partition(" ")
    if not path:
        return operation
    short = _NUMBER.sub("/{id}", _SCOPE.sub("", path))
    return f"{method} {short}"


def pattern_of(name: str) -> str:
    """A regular expression for the operations of a name, as `sandbox.faults.Fault` takes it."""
    method, _, path = name.partition(" ")
    if not path:
        return f"{re.escape(name)}$"
    path = re.escape(path).replace(re.escape("{id}"), r"\d+")
    return rf"{method} /(\S+/actions/)?{path.removeprefix('/')}$"


def made(calls: Iterable[Call]) -> list[str]:
    """The names of the calls that actions made, in order."""
    return [name_of(call.operation) for call in calls if is_ours(call.client)]
