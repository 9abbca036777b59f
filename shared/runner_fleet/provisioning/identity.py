"""Who a fleet is: its id, its labels, the tags by which it can always be found again."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
import string
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runner_fleet.errors import InputError

TAG_PREFIX = "runner-fleet:"
FLEET_TAG = f"{TAG_PREFIX}fleet-id"
REPOSITORY_TAG = f"{TAG_PREFIX}repository"
RUN_REPOSITORY_TAG = f"{TAG_PREFIX}run-repository"
RUN_TAG = f"{TAG_PREFIX}run-id"
ATTEMPT_TAG = f"{TAG_PREFIX}run-attempt"
JOB_TAG = f"{TAG_PREFIX}job"
STARTER_TAG = f"{TAG_PREFIX}started-by"
LABEL_TAG = f"{TAG_PREFIX}label"  # where each instance is launched alone
PRICE_TAG = f"{TAG_PREFIX}usd-per-hour"  # where the start knew it

FLEET_ID = r"[0-9]{1,20}-[0-9]{1,10}-[A-Za-z0-9-]{1,64}-[a-z0-9]{8}"
"""Run, attempt, job and a random end, as `Fleet.create` puts them together."""

INSTANCE_ID = r"i-[0-9a-f]{8}([0-9a-f]{9})?"

OWN_LABEL = r"runner-[a-z0-9]{8}"
"""What a label that we draw looks like; users' own labels may be on runners of others."""

_ALPHABET = string.ascii_lowercase + string.digits


@dataclass(frozen=True)
class Caller:
    """The job that asks, from the environment GitHub gives every step."""

    repository: str  # "owner/name" where the workflow runs
    run_id: str
    run_attempt: str
    job: str  # the key in the workflow file; not unique in a matrix
    runner: str = ""  # the runner of the job itself; unique for each hosted job

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Caller:
        return cls(
            repository=environ.get("GITHUB_REPOSITORY", ""),
            run_id=_plain(environ.get("GITHUB_RUN_ID", ""), 20) or "0",
            run_attempt=_plain(environ.get("GITHUB_RUN_ATTEMPT", ""), 10) or "1",
            job=plain_job(environ.get("GITHUB_JOB", "")) or "manual",
            runner=" ".join(environ.get("RUNNER_NAME", "").split())[:256],
        )


def plain_job(key: str) -> str:
    """A job's key as it stands in ids and tags."""
    return _plain(key, 64)


def _plain(text: str, limit: int) -> str:
    """The text as it may stand in ids and tags: ASCII letters and digits, `-` for all else."""
    plain = "".join(char if char.isascii() and char.isalnum() else "-" for char in text)
    return plain[:limit]


def random_text() -> str:
    """Eight lower-case letters and digits that nobody can guess (41 bits)."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


def random_label() -> str:
    return f"runner-{random_text()}"


def label_source(environ: Mapping[str, str]) -> Callable[[], str]:
    """Where labels come from: chance, or the pool of a sandbox that must know them beforehand.

    act runs only jobs whose labels it was told before it started, so the sandbox draws them and
    lays out one file for each in the directory `RUNNER_FLEET_SANDBOX_LABELS`. It is heeded only
    where GitHub's API is on a loopback address: a label drawn by others could be guessed by others.
    """
    pool = environ.get("RUNNER_FLEET_SANDBOX_LABELS", "")
    if not pool or not _is_loopback(environ.get("GITHUB_API_URL", "")):
        return random_label
    return lambda: _claim(Path(pool))


def _is_loopback(url: str) -> bool:
    try:
        return ipaddress.ip_address(urlsplit(url).hostname or "").is_loopback
    except ValueError:
        return False


def _claim(pool: Path) -> str:
    try:
        for path in sorted(pool.iterdir()):
            with suppress(FileNotFoundError):
                path.unlink()  # only one process can
                return path.name
    except OSError as error:
        msg = f"RUNNER_FLEET_SANDBOX_LABELS: the sandbox's labels cannot be read: {error.strerror}"
        raise InputError(msg) from None
    msg = "the sandbox's pool of labels is used up: start the sandbox anew"
    raise InputError(msg)


@dataclass(frozen=True)
class Fleet:
    """The instances of one start: N with a label of their own each."""

    id: str
    repository: str  # where the runners register
    caller: Caller
    labels: tuple[str, ...]  # one an instance, in launch order
    shared_label: str | None  # carried by all, when there is more than one

    @classmethod
    def create(
        cls, caller: Caller, repository: str, count: int, draw: Callable[[], str] = random_label
    ) -> Fleet:
        return cls(
            id=f"{caller.run_id}-{caller.run_attempt}-{caller.job}-{random_text()}",
            repository=repository,
            caller=caller,
            labels=tuple(draw() for _ in range(count)),
            shared_label=draw() if count > 1 else None,
        )

    def client_token(self, part: str) -> str:
        """For one launch of this fleet, of which `part` tells where and which try it is.

        EC2 launches once for it, however often it is asked (64 ASCII characters at most).
        """
        return hashlib.sha256(f"{self.id} {part}".encode()).hexdigest()

    @property
    def runs_on(self) -> tuple[str, ...]:
        """The labels for `runs-on`: every runner of the fleet has all of them, nobody else has."""
        return (self.shared_label,) if self.shared_label else self.labels

    def jit_name(self, label: str) -> str:
        """For a runner that is registered before its instance has an id (64 characters at most)."""
        return f"{label}-jit-{self.caller.run_id}-{self.caller.run_attempt}"

    def jit_labels(self, label: str, extra: Iterable[str]) -> tuple[str, ...]:
        """Everything that such a runner is found by: it gets no label besides.

        The fleet's mark is for stop-runner, which may know nothing but the fleet's id.
        """
        shared = (self.shared_label,) if self.shared_label else ()
        return tuple(dict.fromkeys((label, *shared, fleet_mark(self.id), *extra)))

    def tags(self) -> dict[str, str]:
        """What every instance and volume carries; EC2 allows 256 characters a value."""
        values = {
            "fleet-id": self.id,
            "repository": self.repository,
            "run-repository": self.caller.repository,
            "run-id": self.caller.run_id,
            "run-attempt": self.caller.run_attempt,
            "job": self.caller.job,
            "started-by": self.caller.runner,
        }
        return {f"{TAG_PREFIX}{key}": value for key, value in values.items() if value}


def fleet_mark(fleet_id: str) -> str:
    """A label of our form, made of the random end of a fleet's id; nobody else can know it."""
    return f"runner-{fleet_id.rpartition('-')[2]}"


def runner_name(label: str, instance_id: str) -> str:
    """The name a runner registers under (boot.sh): unique, and it tells its instance."""
    return f"{label}-{instance_id}"


def instance_of(name: str) -> str | None:
    """The instance id in a runner's name; None for runners that are not ours."""
    head, mark, tail = name.rpartition("-i-")
    return f"i-{tail}" if head and mark and tail.isalnum() else None


def own_instance_of(name: str) -> str | None:
    """The same, but only for names that no runner of others is likely to have."""
    found = re.fullmatch(rf"{OWN_LABEL}-({INSTANCE_ID})", name)
    return found[1] if found else None


def jit_run_of(name: str) -> tuple[str, str, str] | None:
    """Label, run id and attempt in the name of a runner with a just-in-time configuration."""
    found = re.fullmatch(rf"({OWN_LABEL})-jit-([0-9]+)-([0-9]+)", name)
    return (found[1], found[2], found[3]) if found else None


def is_runner_of(name: str, instance_id: str, label: str) -> bool:
    """Whether a runner of this name is that of an instance; its own `label` may be unknown."""
    jit = jit_run_of(name)
    return instance_of(name) == instance_id or (jit is not None and jit[0] == label.lower())


def is_jit(name: str) -> bool:
    return jit_run_of(name) is not None
