"""The JSON bodies of users, organizations, repositories, refs and commits."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from sandbox.github.records import Commit, Repository
from sandbox.github.state import number_of


def utc(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def site(base: str) -> str:
    """Where pages for people are: the API's base without the prefix of GitHub Enterprise Server."""
    return base.removesuffix("/api/v3")


def node_id(kind: str, number: int) -> str:
    return f"{kind}_kwDO{base64.urlsafe_b64encode(str(number).encode()).decode().rstrip('=')}"


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


def organization(number: int, login: str, base: str) -> dict[str, Any]:
    url = f"{base}/orgs/{login}"
    links = ("repos", "events", "hooks", "issues", "members", "public_members")
    return {
        "login": login,
        "id": number,
        "node_id": node_id("O", number),
        "url": url,
        "html_url": f"{site(base)}/{login}",
        "avatar_url": f"{base}/avatars/{number}",
        **{f"{name}_url": f"{url}/{name}" for name in links},
        "description": None,
        **dict.fromkeys(("has_organization_projects", "has_repository_projects"), True),
        **dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0),
        "type": "Organization",
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2020-01-01T00:00:00Z",
        "archived_at": None,
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
