"""Repository variables and git refs: what a lock can be made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


class TestVariables:
    def path(self, api: Api, name: str = "") -> str:
        return f"{api.repo}/actions/variables{name and '/'}{name}"

    def test_from_creation_to_deletion(self, api: Api, clock: VirtualClock) -> None:
        made = api.post(self.path(api), {"name": "lease", "value": "1"})
        assert (made.status_code, made.json) == (201, {})
        clock.advance(60)
        changed = api.patch(self.path(api, "Lease"), {"value": "2"})
        assert (changed.status_code, changed.data) == (204, b"")
        assert api.get(self.path(api, "lease")).json == {
            "name": "LEASE",
            "value": "2",
            "created_at": "2026-11-02T09:00:00Z",
            "updated_at": "2026-11-02T09:01:00Z",
        }
        assert api.delete(self.path(api, "LEASE")).status_code == 204
        assert api.get(self.path(api, "LEASE")).status_code == 404

    def test_a_name_is_taken_whatever_its_case(self, api: Api) -> None:
        api.post(self.path(api), {"name": "lease", "value": "1"})
        reply = api.post(self.path(api), {"name": "LEASE", "value": "2"})
        assert reply.status_code == 409
        assert reply.json["message"] == "Already exists - Variable already exists"
        assert api.get(self.path(api, "lease")).json["value"] == "1"

    def test_one_can_be_renamed(self, api: Api) -> None:
        for name in ("a", "taken"):
            api.post(self.path(api), {"name": name, "value": "1"})
        assert api.patch(self.path(api, "a"), {"name": "taken"}).status_code == 409
        assert api.patch(self.path(api, "a"), {"name": "b"}).status_code == 204
        names = [one["name"] for one in api.get(self.path(api)).json["variables"]]
        assert names == ["B", "TAKEN"]

    @pytest.mark.parametrize(
        ("name", "value"),
        [("1A", "x"), ("GITHUB_A", "x"), ("A-B", "x"), ("", "x"), ("A", "x" * 49153), ("A", 1)],
    )
    def test_what_cannot_be(self, api: Api, name: str, value: Any) -> None:
        assert api.post(self.path(api), {"name": name, "value": value}).status_code == 422

    @pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
    def test_an_absent_one_is_not_found(self, api: Api, method: str) -> None:
        assert api(method, self.path(api, "NONE"), {"value": "x"}).status_code == 404


@pytest.fixture
def head(github: Simulator) -> str:
    return github.state.refs.rows[REPO, "refs/heads/main"]


class TestRefs:
    def create(self, api: Api, name: str, sha: str) -> Any:
        return api.post(f"{api.repo}/git/refs", {"ref": name, "sha": sha})

    def commit(self, api: Api, message: str, *parents: str) -> str:
        tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        body = {"message": message, "tree": tree, "parents": list(parents)}
        reply = api.post(f"{api.repo}/git/commits", body)
        assert reply.status_code == 201
        sha: str = reply.json["sha"]
        return sha

    def test_creation_says_where_it_is(self, api: Api, head: str) -> None:
        reply = self.create(api, "refs/leases/node-1", head)
        assert reply.status_code == 201
        url = "http://localhost/repos/octo-org/gpu-tests/git/refs/leases/node-1"
        assert reply.headers["Location"] == reply.json["url"] == url
        assert reply.json["object"]["sha"] == head
        assert api.get(f"{api.repo}/git/ref/leases/node-1").json["object"]["sha"] == head

    def test_only_one_of_many_creates_it(self, api: Api, head: str) -> None:
        with ThreadPoolExecutor(8) as pool:
            replies = list(
                pool.map(lambda _: self.create(api, "refs/leases/node-1", head), range(24))
            )
        assert sorted(reply.status_code for reply in replies) == [201] + 23 * [422]
        refused = next(reply for reply in replies if reply.status_code == 422)
        assert refused.json["message"] == "Reference already exists"

    @pytest.mark.parametrize(
        ("name", "sha", "message"),
        [
            ("leases/a", None, "Invalid request."),
            ("refs/a", None, "Invalid request."),
            ("refs/leases/a b", None, "refs/leases/a b is not a valid ref name."),
            ("refs/leases/a..b", None, "refs/leases/a..b is not a valid ref name."),
            ("refs/leases/a", "0" * 40, "Object does not exist"),
        ],
    )
    def test_what_cannot_be_created(
        self, api: Api, head: str, name: str, sha: str | None, message: str
    ) -> None:
        reply = self.create(api, name, sha or head)
        assert reply.status_code == 422
        assert reply.json["message"].startswith(message)

    def test_deletion_happens_once(self, api: Api, head: str) -> None:
        self.create(api, "refs/leases/a", head)
        path = f"{api.repo}/git/refs/leases/a"
        assert api.delete(path).status_code == 204
        again = api.delete(path)
        assert (again.status_code, again.json["message"]) == (422, "Reference does not exist")
        assert api.get(f"{api.repo}/git/ref/leases/a").status_code == 404

    def test_matching_refs_begin_alike(self, api: Api, head: str) -> None:
        for name in ("refs/leases/a", "refs/leases/ab", "refs/other/a"):
            self.create(api, name, head)
        listed = api.get(f"{api.repo}/git/matching-refs/leases/a").json
        assert [ref["ref"] for ref in listed] == ["refs/leases/a", "refs/leases/ab"]

    def test_an_update_that_is_no_fast_forward_is_refused(self, api: Api, head: str) -> None:
        """So a ref can be swapped only by who has seen its present value."""
        self.create(api, "refs/leases/a", head)
        path = f"{api.repo}/git/refs/leases/a"
        mine, other = self.commit(api, "mine", head), self.commit(api, "other", head)
        assert api.patch(path, {"sha": mine}).status_code == 200
        lost = api.patch(path, {"sha": other, "force": False})
        assert (lost.status_code, lost.json["message"]) == (422, "Update is not a fast forward")
        after = self.commit(api, "after", mine)
        assert api.patch(path, {"sha": after}).json["object"]["sha"] == after
        assert api.patch(path, {"sha": other, "force": True}).status_code == 200

    def test_an_update_of_nothing_or_to_nothing_is_refused(self, api: Api, head: str) -> None:
        absent = api.patch(f"{api.repo}/git/refs/leases/a", {"sha": head})
        assert (absent.status_code, absent.json["message"]) == (422, "Reference does not exist")
        unknown = api.patch(f"{api.repo}/git/refs/heads/main", {"sha": "0" * 40})
        assert unknown.json["message"] == "Object does not exist"

    def test_a_commit_carries_its_message(self, api: Api, head: str) -> None:
        sha = self.commit(api, '{"expires": 1}', head)
        seen = api.get(f"{api.repo}/git/commits/{sha}").json
        assert seen["message"] == '{"expires": 1}'
        assert [parent["sha"] for parent in seen["parents"]] == [head]

    def test_a_commit_needs_parents_that_exist(self, api: Api) -> None:
        body = {"message": "x", "tree": "t", "parents": ["0" * 40]}
        assert api.post(f"{api.repo}/git/commits", body).status_code == 422

    def test_equal_commits_of_different_writers_are_one(self, api: Api, head: str) -> None:
        """As in git: whoever wants to be told apart says something of its own."""
        assert self.commit(api, "same", head) == self.commit(api, "same", head)
