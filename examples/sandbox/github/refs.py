"""Git refs and the commits they point to: create-if-absent, and compare-and-swap."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from sandbox.github.errors import ApiError, invalid_request, validation_failed
from sandbox.github.records import Commit, Repository
from sandbox.github.state import State

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_FORBIDDEN = re.compile(r"[\x00-\x20~^:?*\[\\\x7f]|\.\.|@\{|//|/$|\.lock$|/\.")


def initial_commit(state: State, repository: Repository) -> Commit:
    commit = add_commit(state, f"Initial commit of {repository.full_name}", EMPTY_TREE, ())
    state.refs.put((repository.full_name, f"refs/heads/{repository.default_branch}"), commit.sha)
    return commit


def add_commit(state: State, message: str, tree: str, parents: Sequence[str]) -> Commit:
    """422 for a parent that does not exist."""
    for parent in parents:
        if parent not in state.commits:
            raise validation_failed("Parent SHA does not exist or is not a commit object")
    content = "\0".join([tree, *parents, message, state.now().isoformat()])
    sha = hashlib.sha1(content.encode()).hexdigest()  # noqa: S324 - as git
    return state.commits.setdefault(sha, Commit(sha, tree, tuple(parents), message, state.now()))


def create(state: State, repository: Repository, name: str, sha: str) -> None:
    """Only one creator of a name succeeds; 422 `Reference already exists` for all others."""
    if not name.startswith("refs/") or name.count("/") < 2:
        msg = "Reference name must start with 'refs/' and contain at least one more slash"
        raise invalid_request(msg)
    if _FORBIDDEN.search(name):
        msg = f"{name} is not a valid ref name."
        raise ApiError(422, msg)
    if (repository.full_name, name) in state.refs.rows:
        raise ApiError(422, "Reference already exists")
    if sha not in state.commits:
        raise ApiError(422, "Object does not exist")
    _write(state, repository, name, sha)


def update(state: State, repository: Repository, name: str, sha: str, *, force: bool) -> None:
    """422 unless the commit descends from what the ref points to, or `force`."""
    old = state.refs.get((repository.full_name, name))
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if sha not in state.commits:
        raise ApiError(422, "Object does not exist")
    if not force and not _descends(state, sha, old):
        raise ApiError(422, "Update is not a fast forward")
    _write(state, repository, name, sha)


def delete(state: State, repository: Repository, name: str) -> None:
    if (repository.full_name, name) not in state.refs.rows:
        raise ApiError(422, "Reference does not exist")
    _write(state, repository, name, None)


def _write(state: State, repository: Repository, name: str, sha: str | None) -> None:
    key = (repository.full_name, name)
    before = state.refs.get(key)
    if sha is None:
        state.refs.remove(key)
    else:
        state.refs.put(key, sha)
    state.record("ref_changed", repository=repository.full_name, ref=name, before=before, after=sha)


def _descends(state: State, sha: str, ancestor: str) -> bool:
    found, waiting = set(), [sha]
    while waiting:
        current = waiting.pop()
        if current == ancestor:
            return True
        if current not in found:
            found.add(current)
            commit = state.commits.get(current)
            waiting += commit.parents if commit else ()
    return False
