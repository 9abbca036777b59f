"""The simulated GitHub as tests and the demo hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sandbox.calls import CallLog
from sandbox.faults import Faults
from sandbox.github import dispatch, labels, runners, runs, scopes
from sandbox.github.app import build
from sandbox.github.downloads import Archives
from sandbox.github.knobs import Knobs
from sandbox.github.limits import HOURLY, Limits, Secondary
from sandbox.github.records import Event, Identity, Job, Label, Repository, Run, Runner, TokenKind
from sandbox.github.refs import initial_commit
from sandbox.github.state import Clock, State, number_of, utc_now


class Simulator:
    """One GitHub. Serve `.wsgi` and put the server's address into `.url`.

    Every method may be called from any thread, while requests are being served. With a virtual
    `clock`, call `tick` after moving it (a request does so too).
    """

    def __init__(
        self,
        clock: Clock = utc_now,
        log: CallLog | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.log = log or CallLog()
        self.faults = faults or Faults()
        self.state = State(clock)
        self.limits = Limits()
        self.archives = Archives()
        self.url = ""
        self.wsgi = build(self)

    @property
    def knobs(self) -> Knobs:
        return self.state.knobs

    @property
    def secondary_limits(self) -> Secondary:
        return self.limits.secondary

    def tick(self) -> None:
        self.state.tick()

    def reset(self) -> None:
        """As new, but for repositories, tokens and archives."""
        with self.state.lock:
            self.state.reset()
            for repository in self.state.repositories.values():
                initial_commit(self.state, repository)
        self.limits.reset()
        self.faults.clear()

    def forget(self) -> None:
        """As new, but for archives: there is no repository, and nobody may do anything."""
        with self.state.lock:
            self.state.forget()
            self.reset()

    # Who and where ----------------------------------------------------------------------------

    def add_repository(
        self, full_name: str, *, private: bool = True, default_branch: str = "main"
    ) -> Repository:
        """A repository with one commit on its default branch, and its owner as organization."""
        with self.state.transaction():
            known = self.state.repository(full_name)
            if known is not None:
                return known
            found = Repository(
                id=number_of(full_name),
                full_name=full_name,
                private=private,
                default_branch=default_branch,
                created_at=self.state.now(),
            )
            self.state.repositories[full_name.lower()] = found
            self.state.repository_ids[found.id] = found
            self.state.organizations.setdefault(
                found.owner.lower(), (number_of(found.owner), found.owner)
            )
            initial_commit(self.state, found)
            return found

    def add_token(
        self,
        token: str,
        repos: Mapping[str, str] | None = None,
        orgs: Mapping[str, str] | None = None,
        kind: TokenKind = "classic",
        *,
        enterprises: Mapping[str, str] | None = None,
        permissions: Mapping[str, str] | None = None,
        login: str = "octocat",
        limit: int | None = None,
        expires_at: datetime | None = None,
    ) -> Identity:
        """Let `token` in, with a role (admin, write, read) by repository and organization.

        `permissions` narrows a fine-grained or App token, as in {"administration": "read"}.
        """
        identity = Identity(
            token=token,
            kind=kind,
            id=number_of(token),
            login=login,
            limit=HOURLY[kind] if limit is None else limit,
            repos={name.lower(): role for name, role in (repos or {}).items()},
            orgs={name.lower(): role for name, role in (orgs or {}).items()},
            enterprises={name.lower(): role for name, role in (enterprises or {}).items()},
            permissions=permissions,
            expires_at=expires_at,
        )
        with self.state.lock:
            for org in identity.orgs:
                self.state.organizations.setdefault(org, (number_of(org), org))
            self.state.identities[token] = identity
        return identity

    @property
    def issued(self) -> frozenset[str]:
        """Every secret that GitHub has given out since the last reset."""
        with self.state.lock:
            return frozenset(
                {*self.state.scope_tokens, *self.state.credentials, *self.state.jit_configs}
            )

    def set_rate_limit_used(self, token: str, used: int) -> None:
        self.limits.set_used(self.state.identities[token], used, self.state.clock())

    def set_runner_archive(self, os: str, arch: str, filename: str, data: bytes) -> None:
        """What the downloads list offers for `linux`, `win` or `osx` and `x64`, `arm64`, `arm`."""
        self.archives.set(os, arch, filename, data)

    # Runners ----------------------------------------------------------------------------------

    def runners(self, scope: str | None = None) -> list[Runner]:
        """As they really are, without any lag; all, or those of one scope."""
        with self.state.transaction():
            found = list(self.state.runners.rows.values())
        return [r for r in found if scope is None or r.scope.lower() == scope.lower()]

    def runner(self, runner_id: int) -> Runner:
        with self.state.transaction():
            return self.state.runners.rows[runner_id]

    def add_runner(
        self,
        scope: str,
        name: str,
        labels: Sequence[str | Label] = (),
        *,
        status: str = "online",
        busy: bool = False,
        ephemeral: bool = False,
        os: str = "Linux",
        arch: str = "X64",
        version: str | None = None,
        default_labels: bool = False,
    ) -> Runner:
        """A runner without a process: it acquires by `acquire_job` or the knob `auto_acquire`."""
        with self.state.transaction():
            where = scopes.canonical(self.state, scope)
            if where is None:
                msg = f"there is no repository or organization {scope}"
                raise ValueError(msg)
            given = [label if isinstance(label, Label) else Label(label) for label in labels]
            fixed = ("self-hosted", runners.os_name(os), runners.arch_name(arch))
            defaults = [Label(text, "read-only") for text in fixed] if default_labels else []
            runner = runners.register(
                self.state,
                where,
                name,
                [*defaults, *given],
                os=os,
                arch=arch,
                version=version or self.archives.version,
                ephemeral=ephemeral,
            )
            return self.set_runner(runner.id, status=status, busy=busy)

    def set_runner(self, runner_id: int, **changes: Any) -> Runner:
        """Change fields of the record; `labels` may be names."""
        with self.state.transaction():
            before = self.state.runners.rows[runner_id]
            if "labels" in changes:
                return self._set_labels(before, changes)
            if "status" in changes and changes["status"] != before.status:
                online = changes["status"] == "online"
                changes["offline_since"] = None if online else self.state.now()
            after = runners.put(self.state, replace(before, **changes))
            if after.status == "offline" and before.status == "online":
                runners.expect_connection(self.state, after)
                dispatch.lose(self.state, after)
            self.state.wake("runner", runner_id)
            dispatch.offer_runner(self.state, runner_id)
            return self.state.runners.rows[runner_id]

    def _set_labels(self, before: Runner, changes: dict[str, Any]) -> Runner:
        given = changes.pop("labels")
        new = tuple(label if isinstance(label, Label) else Label(label) for label in given)
        names = [label.name for label in new]
        labels.write(self.state, before, "python", names, new)
        return self.set_runner(before.id, **changes)

    def remove_runner(self, runner_id: int) -> None:
        """Without asking whether it is busy."""
        with self.state.transaction():
            runners.remove(self.state, self.state.runners.rows[runner_id], "python")

    # Runs and jobs ----------------------------------------------------------------------------

    def add_run(self, repository: str, **fields: Any) -> Run:
        """Fields as of `runs.add_run`: name, path, event, head_branch, status, stays_open, ..."""
        with self.state.transaction():
            return runs.add_run(self.state, repository, **fields)

    def close_run(self, run_id: int) -> Run:
        """No more jobs will be added to a run that `stays_open`."""
        with self.state.transaction():
            return runs.close(self.state, run_id)

    def queue_job(
        self, repository: str, run_id: int | None, name: str, labels: Sequence[str], **fields: Any
    ) -> Job:
        """A job of the run (None: of a new one), waiting for a runner unless `status` is given."""
        with self.state.transaction():
            if run_id is None:
                run_id = runs.add_run(self.state, repository).id
            return runs.add_job(self.state, self.state.runs.rows[run_id], name, labels, **fields)

    def set_job(self, job_id: int, **changes: Any) -> Job:
        """Change fields of a job that no runner here has (a hosted one); its run follows."""
        with self.state.transaction():
            job = self.state.jobs.put(job_id, replace(self.state.jobs.rows[job_id], **changes))
            if job.status != "queued":
                self.state.queued.pop(job_id, None)
            runs.follow_jobs(self.state, job.run_id)
            return job

    def acquire_job(self, job_id: int) -> Job:
        """Let the runner that the job was dispatched to take it."""
        with self.state.transaction():
            runner = self.state.jobs.rows[job_id].dispatched_to
            return dispatch.acquire(self.state, job_id, runner or 0)

    def finish_job(self, job_id: int, conclusion: str = "success") -> Job:
        with self.state.transaction():
            return dispatch.complete(self.state, self.state.jobs.rows[job_id], conclusion)

    def job(self, job_id: int) -> Job:
        with self.state.transaction():
            return self.state.jobs.rows[job_id]

    def jobs(self, repository: str | None = None) -> list[Job]:
        with self.state.transaction():
            found = list(self.state.jobs.rows.values())
        return [job for job in found if repository in (None, job.repository)]

    def runs(self, repository: str | None = None) -> list[Run]:
        with self.state.transaction():
            found = list(self.state.runs.rows.values())
        return [run for run in found if repository in (None, run.repository)]

    # What happened ----------------------------------------------------------------------------

    @property
    def history(self) -> list[Event]:
        """Everything so far, in order; a copy."""
        with self.state.transaction():
            return list(self.state.history)
