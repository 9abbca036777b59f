"""Pages: sizes, Link headers with numeric ids, and items that move between two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from sandbox.github import Simulator
from werkzeug.http import parse_options_header

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


def links(header: str) -> dict[str, str]:
    found = {}
    for part in header.split(", "):
        url, options = part.split(">; ", 1)
        found[parse_options_header(f"x; {options}")[1]["rel"]] = url.lstrip("<")
    return found


@pytest.fixture
def runners(github: Simulator) -> list[int]:
    return [github.add_runner(REPO, f"node-{number:03}").id for number in range(130)]


@pytest.mark.parametrize(
    ("query", "size"),
    [("", 30), ("per_page=100", 100), ("per_page=500", 100), ("per_page=0", 30), ("page=5", 10)],
)
def test_page_sizes(api: Api, runners: list[int], query: str, size: int) -> None:
    body = api.get(f"{api.repo}/actions/runners?{query}").json
    assert (body["total_count"], len(body["runners"])) == (130, size)


def test_there_is_no_link_when_everything_fits_on_one_page(github: Simulator, api: Api) -> None:
    github.add_runner(REPO, "node")
    assert "Link" not in api.get(f"{api.repo}/actions/runners").headers


def test_links_name_the_repository_by_number(
    github: Simulator, api: Api, runners: list[int]
) -> None:
    number = github.state.repositories[REPO].id
    reply = api.get(f"{api.repo}/actions/runners?per_page=50&page=2&name=")
    url = f"http://localhost/repositories/{number}/actions/runners?per_page=50&name="
    assert links(reply.headers["Link"]) == {
        "prev": f"{url}&page=1",
        "next": f"{url}&page=3",
        "last": f"{url}&page=3",
        "first": f"{url}&page=1",
    }


def test_links_name_the_organization_by_number(github: Simulator, api: Api) -> None:
    for number in range(2):
        github.add_runner("octo-org", f"node-{number}")
    reply = api.get(f"{api.org}/actions/runners?per_page=1")
    following = urlsplit(links(reply.headers["Link"])["next"])
    assert following.path.startswith("/organizations/")
    again = api.get(f"{following.path}?{following.query}")
    assert [runner["name"] for runner in again.json["runners"]] == ["node-1"]


def test_following_next_visits_everything_once(api: Api, runners: list[int]) -> None:
    seen, path = [], f"{api.repo}/actions/runners?per_page=40"
    while path:
        reply = api.get(path)
        seen += [runner["id"] for runner in reply.json["runners"]]
        path = links(reply.headers.get("Link", "<>; rel=none")).get("next", "")
    assert seen == runners


def test_an_unknown_number_is_not_found(api: Api) -> None:
    assert api.get("/repositories/1/actions/runners").status_code == 404
    assert api.get("/organizations/1/actions/runners").status_code == 404


def test_a_page_after_the_last_is_empty(api: Api, runners: list[int]) -> None:
    reply = api.get(f"{api.repo}/actions/runners?page=9")
    assert reply.json == {"total_count": 130, "runners": []}
    assert links(reply.headers["Link"]).keys() == {"prev", "first"}


def test_a_deletion_between_two_pages_hides_a_runner(
    github: Simulator, api: Api, runners: list[int]
) -> None:
    """There is no snapshot over pages: what was first on page 2 moves to page 1."""
    path = f"{api.repo}/actions/runners?per_page=100"
    first = api.get(path).json["runners"]
    github.remove_runner(runners[0])
    second = api.get(f"{path}&page=2").json["runners"]
    seen = {runner["id"] for runner in first + second}
    assert set(runners) - seen == {runners[100]}


def test_the_order_can_be_by_name(github: Simulator, api: Api) -> None:
    for name in ("b", "a", "c"):
        github.add_runner(REPO, name)
    github.knobs.list_order = "name"
    body = api.get(f"{api.repo}/actions/runners").json
    assert [runner["name"] for runner in body["runners"]] == ["a", "b", "c"]


def test_the_order_can_be_unstable(github: Simulator, api: Api, runners: list[int]) -> None:
    github.knobs.list_order = "unstable"
    path = f"{api.repo}/actions/runners?per_page=100"
    orders = [[runner["id"] for runner in api.get(path).json["runners"]] for _ in range(2)]
    assert orders[0] != orders[1]


def test_variables_come_ten_at_a_time_and_thirty_at_most(api: Api) -> None:
    for number in range(35):
        api.post(f"{api.repo}/actions/variables", {"name": f"V{number:02}", "value": "x"})
    for query, size in (("", 10), ("?per_page=100", 30)):
        body = api.get(f"{api.repo}/actions/variables{query}").json
        assert (body["total_count"], len(body["variables"])) == (35, size)
