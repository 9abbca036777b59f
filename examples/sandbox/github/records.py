"""What the simulated GitHub keeps: immutable records, replaced as a whole on every change.

Times are aware datetimes in UTC. A scope is where runners are registered: a repository
(`octo-org/gpu-tests`), an organization (`octo-org`) or an enterprise (`enterprise:octo-corp`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

LabelType = Literal["read-only", "custom"]
TokenKind = Literal["classic", "fine-grained", "installation", "github-token", "app", "anonymous"]


@dataclass(frozen=True)
class Label:
    """A runner label. Its id on the wire is 0 for every label, as on GitHub today."""

    name: str
    type: LabelType = "custom"

    @property
    def key(self) -> str:
        """What GitHub compares: labels are case-insensitive."""
        return self.name.casefold()


def label_keys(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


@dataclass(frozen=True)
class Runner:
    """A registration. `job_id` is the job that was sent to it, acquired (`busy`) or not yet."""

    id: int
    name: str
    scope: str
    os: str  # "Linux", "Windows", "macOS"; "unknown" until a JIT runner connects
    arch: str
    status: Literal["online", "offline"]
    busy: bool
    ephemeral: bool
    labels: tuple[Label, ...]
    created_at: datetime
    version: str | None = None
    runner_group_id: int = 1
    jit: bool = False
    job_id: int | None = None
    offline_since: datetime | None = None
    connected: bool = False  # a process holds a session
    seen_at: datetime | None = None
    leaving: bool = False  # its single job is done; only the record lingers
    stale_keys: frozenset[str] | None = None  # labels of before a --replace, still matched

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(label.key for label in self.labels)

    @property
    def label_names(self) -> list[str]:
        return [label.name for label in self.labels]


@dataclass(frozen=True)
class Job:
    """One job of one attempt of a run. `labels` is its runs-on as written."""

    id: int
    run_id: int
    repository: str
    attempt: int
    name: str
    labels: tuple[str, ...]
    status: str
    conclusion: str | None
    created_at: datetime
    started_at: datetime  # equals created_at until a runner has it
    completed_at: datetime | None = None
    queued_at: datetime | None = None  # since when it waits; a re-queue keeps it
    runner_id: int | None = None
    runner_name: str | None = None
    runner_group_id: int | None = None
    runner_group_name: str | None = None
    dispatched_to: int | None = None
    dispatched_at: datetime | None = None
    avoid: int | None = None  # the runner that did not pick it up
    cancel_requested: bool = False
    steps: tuple[Mapping[str, Any], ...] = ()

    @cached_property
    def keys(self) -> frozenset[str]:
        return label_keys(self.labels)


@dataclass(frozen=True)
class Run:
    """A workflow run. Its status follows its jobs; `open` keeps it going between two of them."""

    id: int
    repository: str
    name: str
    path: str
    workflow_id: int
    run_number: int
    attempt: int
    event: str
    head_branch: str
    head_sha: str
    status: str
    conclusion: str | None
    created_at: datetime
    updated_at: datetime
    run_started_at: datetime
    actor: str = "octocat"
    display_title: str = ""
    open: bool = False


@dataclass(frozen=True)
class Repository:
    id: int
    full_name: str
    private: bool
    default_branch: str
    created_at: datetime

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]


@dataclass(frozen=True)
class Variable:
    name: str
    value: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Commit:
    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    at: datetime


@dataclass(frozen=True)
class Identity:
    """Who a token speaks for. Roles are `admin`, `write` or `read`; `permissions` narrows them."""

    token: str
    kind: TokenKind
    id: int
    login: str
    limit: int  # requests an hour
    repos: Mapping[str, str] = field(default_factory=dict)  # keys in lower case
    orgs: Mapping[str, str] = field(default_factory=dict)
    enterprises: Mapping[str, str] = field(default_factory=dict)
    permissions: Mapping[str, str] | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True)
class ScopeToken:
    """A registration or remove token: reusable for its scope until it expires."""

    token: str
    purpose: Literal["registration", "remove"]
    scope: str
    expires_at: datetime


@dataclass(frozen=True)
class Event:
    """One thing that happened, in an order without gaps."""

    sequence: int
    at: datetime
    kind: str
    fields: Mapping[str, Any]
