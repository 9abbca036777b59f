"""Pages and their Link header, whose URLs name repositories and organizations by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import urlencode

from flask import Request

T = TypeVar("T")


def page_of(
    request: Request, items: Sequence[T], url: str, *, default: int = 30, largest: int = 100
) -> tuple[list[T], dict[str, str]]:
    """The items of the page that is asked for, and its Link header unless all fit on one page.

    Sizes over the largest are clamped; a number that is none counts as absent.
    """
    size = min(_positive(request, "per_page", default), largest)
    page = _positive(request, "page", 1)
    last = max(1, -(-len(items) // size))
    chosen = list(items[(page - 1) * size : page * size])
    if last == 1 and page == 1:
        return chosen, {}
    targets = []
    if page > 1:
        targets += [(min(page - 1, last), "prev")]
    if page < last:
        targets += [(page + 1, "next"), (last, "last")]
    if page > 1:
        targets += [(1, "first")]
    query = [(key, value) for key, value in request.args.items(multi=True) if key != "page"]
    links = [
        f'<{url}?{urlencode([*query, ("page", str(number))])}>; rel="{rel}"'
        for number, rel in targets
    ]
    return chosen, {"Link": ", ".join(links)}


def _positive(request: Request, name: str, default: int) -> int:
    text = request.args.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else default
