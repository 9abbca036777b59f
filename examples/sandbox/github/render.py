"""The JSON bodies of runners, jobs, runs, repositories and users."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from sandbox.github.records import Commit, Job, Label, Repository, Run, Runner, Variable
from sandbox.github.state import number_of

_PACIFIC = timezone(timedelta(hours=-8))


def utc(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def pacific(at: datetime) -> str:
    """Milliseconds and an offset: how tokens say when they expire."""
    return at.astimezone(_PACIFIC).isoformat(timespec="milliseconds")


def site(base: str) -> str:
    """Where pages for people are: the API's base without the prefix of GitHub Enterprise Server."""
    return base.removesuffix("/api/v3")


def node_id(kind: str, number: int) -> str:
    return f"{kind}_kwDO{base64.urlsafe_b64encode(str(number).encode()).decode().rstrip('=')}"


def label(found: Label) -> dict[str, Any]:
    return {"id": 0, "name": found.name, "type": found.type}


def labels(runner: Runner) -> dict[str, Any]:
    return {"total_count": len(runner.labels), "labels": [label(one) for one in runner.labels]}


def runner(found: Runner, *, status: str | None = None, busy: bool | None = None) -> dict[str, Any]:
    """A runner; `status` and `busy` as they are seen, if that differs from how they are."""
    body: dict[str, Any] = {
        "id": found.id,
        "name": found.name,
        "os": found.os,
        "status": found.status if status is None else status,
        "busy": found.busy if busy is None else busy,
        "ephemeral": found.ephemeral,
        "labels": [label(one) for one in found.labels],
        "runner_group_id": found.runner_group_id,
    }
    if found.version is not None:
        body["version"] = found.version
    return body


_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def user(login: str, base: str, kind: str = "User") -> dict[str, Any]:
    number = number_of(login)
    url = f"{base}/users/{login}"
    return {
        "login": login,
        "id": number,
        "node_id": node_id("U", number),
        "avatar_url": f"{base}/avatars/{number}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{site(base)}/{login}",
        **{key: url + rest for key, rest in _USER_LINKS.items()},
        "type": kind,
        "site_admin": False,
    }


_REPOSITORY_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def repository_url(found: Repository, base: str) -> str:
    return f"{base}/repos/{found.full_name}"


def minimal_repository(found: Repository, base: str) -> dict[str, Any]:
    url = repository_url(found, base)
    return {
        "id": found.id,
        "node_id": node_id("R", found.id),
        "name": found.name,
        "full_name": found.full_name,
        "owner": user(found.owner, base, "Organization"),
        "private": found.private,
        "html_url": f"{site(base)}/{found.full_name}",
        "description": None,
        "fork": False,
        "url": url,
        **{key: url + rest for key, rest in _REPOSITORY_LINKS.items()},
    }


def full_repository(
    found: Repository, base: str, permissions: Mapping[str, bool]
) -> dict[str, Any]:
    page = f"{site(base)}/{found.full_name}"
    counts = (
        "forks_count",
        "stargazers_count",
        "watchers_count",
        "size",
        "open_issues_count",
        "subscribers_count",
        "network_count",
        "forks",
        "open_issues",
        "watchers",
    )
    return {
        **minimal_repository(found, base),
        "git_url": f"git:{page.partition(':')[2]}.git",
        "ssh_url": f"git@127.0.0.1:{found.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        **dict.fromkeys(counts, 0),
        "default_branch": found.default_branch,
        **dict.fromkeys(("has_issues", "has_projects", "has_wiki"), True),
        **dict.fromkeys(("has_pages", "has_discussions", "archived", "disabled"), False),
        "visibility": "private" if found.private else "public",
        "pushed_at": utc(found.created_at),
        "created_at": utc(found.created_at),
        "updated_at": utc(found.created_at),
        "permissions": dict(permissions),
        "organization": user(found.owner, base, "Organization"),
    }


def job(found: Job, run: Run, base: str, *, at: Job | None = None) -> dict[str, Any]:
    """A job; `at` is the same job as it is seen, if that lags behind."""
    seen = at or found
    url = f"{base}/repos/{found.repository}/actions"
    page = f"{site(base)}/{found.repository}/actions/runs/{run.id}/job/{found.id}"
    return {
        "id": found.id,
        "run_id": run.id,
        "workflow_name": run.name,
        "head_branch": run.head_branch,
        "run_url": f"{url}/runs/{run.id}",
        "run_attempt": found.attempt,
        "node_id": node_id("CR", found.id),
        "head_sha": run.head_sha,
        "url": f"{url}/jobs/{found.id}",
        "html_url": page,
        "status": seen.status,
        "conclusion": seen.conclusion,
        "created_at": utc(found.created_at),
        "started_at": utc(seen.started_at),
        "completed_at": utc(seen.completed_at),
        "name": found.name,
        "steps": [_step(step) for step in seen.steps],
        "check_run_url": f"{base}/repos/{found.repository}/check-runs/{found.id}",
        "labels": list(found.labels),
        "runner_id": seen.runner_id,
        "runner_name": seen.runner_name,
        "runner_group_id": seen.runner_group_id,
        "runner_group_name": seen.runner_group_name,
    }


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    """Steps have fractional seconds and a local offset."""
    return {
        key: pacific(value) if isinstance(value, datetime) else value for key, value in step.items()
    }


def run(found: Run, repository: Repository, base: str) -> dict[str, Any]:
    url = f"{base}/repos/{found.repository}/actions/runs/{found.id}"
    suite = found.id + 1_000_000
    minimal = minimal_repository(repository, base)
    previous = f"{url}/attempts/{found.attempt - 1}" if found.attempt > 1 else None
    return {
        "id": found.id,
        "name": found.name,
        "node_id": node_id("WFR", found.id),
        "head_branch": found.head_branch,
        "head_sha": found.head_sha,
        "path": found.path,
        "display_title": found.display_title,
        "run_number": found.run_number,
        "event": found.event,
        "status": found.status,
        "conclusion": found.conclusion,
        "workflow_id": found.workflow_id,
        "check_suite_id": suite,
        "check_suite_node_id": node_id("CS", suite),
        "url": url,
        "html_url": f"{site(base)}/{found.repository}/actions/runs/{found.id}",
        "pull_requests": [],
        "created_at": utc(found.created_at),
        "updated_at": utc(found.updated_at),
        "actor": user(found.actor, base),
        "run_attempt": found.attempt,
        "referenced_workflows": [],
        "run_started_at": utc(found.run_started_at),
        "triggering_actor": user(found.actor, base),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{base}/repos/{found.repository}/check-suites/{suite}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": previous,
        "workflow_url": f"{base}/repos/{found.repository}/actions/workflows/{found.workflow_id}",
        "head_commit": {
            "id": found.head_sha,
            "tree_id": found.head_sha,
            "message": found.display_title,
            "timestamp": utc(found.created_at),
            "author": {"name": found.actor, "email": f"{found.actor}@example.com"},
            "committer": {"name": found.actor, "email": f"{found.actor}@example.com"},
        },
        "repository": minimal,
        "head_repository": minimal,
    }


def variable(found: Variable) -> dict[str, Any]:
    return {
        "name": found.name,
        "value": found.value,
        "created_at": utc(found.created_at),
        "updated_at": utc(found.updated_at),
    }


def ref(repository: Repository, name: str, sha: str, base: str) -> dict[str, Any]:
    url = f"{repository_url(repository, base)}/git"
    return {
        "ref": name,
        "node_id": node_id("REF", number_of(f"{repository.full_name}:{name}")),
        "url": f"{url}/{name}",
        "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"},
    }


def commit(repository: Repository, found: Commit, base: str) -> dict[str, Any]:
    url = f"{repository_url(repository, base)}/git"
    page = f"{site(base)}/{repository.full_name}/commit"
    person = {"name": "octocat", "email": "octocat@example.com", "date": utc(found.at)}
    return {
        "sha": found.sha,
        "node_id": node_id("C", number_of(found.sha)),
        "url": f"{url}/commits/{found.sha}",
        "html_url": f"{page}/{found.sha}",
        "author": person,
        "committer": person,
        "message": found.message,
        "tree": {"sha": found.tree, "url": f"{url}/trees/{found.tree}"},
        "parents": [
            {"sha": sha, "url": f"{url}/commits/{sha}", "html_url": f"{page}/{sha}"}
            for sha in found.parents
        ],
        "verification": {
            "verified": False,
            "reason": "unsigned",
            "signature": None,
            "payload": None,
            "verified_at": None,
        },
    }
