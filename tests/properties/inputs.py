"""Input sets as people and programs may write them, made from what action.yml declares."""

from __future__ import annotations

import json
import os
from functools import cache

from hypothesis import strategies as st

from tests.static.test_action_contract import ENVIRONMENT, VALUES, defaults

EXAMPLES = int(os.environ.get("RUNNER_FLEET_EXAMPLES", "300"))
"""Input sets for each property; `make test-faults` tries many more."""

_ODD = [
    *(" ", "\t", "\r\n", "-", "--", "\\", "'", '"', "`id`", "$(id)", "${HOME}", "%0A", "%n"),
    *("0", "-0", "+1", "00", "1e9", "1.5", "٣", "9" * 9, "9" * 400, "-" + "9" * 30, "0x10", "NaN"),
    *("null", "true", "True", "false", "[]", "{}", "[[]]", "[null]", '""', "{", "[", '{"": ""}'),
    *('{"a": 1}', '{"a": null}', '[{"Key": "a"}]', '{"us-east-1": []}', '{"us-east-1": {"a": 1}}'),
    *('{"a": "b", "a": "c"}', '{"i-0123456789abcdef0": null}', '"\\ud800"'),
    *("\ufeff", "\u202e", "é", "日本", "🙂", "a\u0301", "x" * 300, "x" * 70_000, "[" * 100_000),
    *("../../etc/passwd", "/", "//", "a/b", "a/b/c", "https://user:pass@example.com", "file:///"),
    *("arn:aws:iam::123456789012:role/x", "us-east-1,us-west-2", "a,b,,c", ",", "latest", "self"),
    *("::error::x", "1e999", "-1", "999999999999", '{"\\ud800": "\\u0000"}'),
]

APART: dict[str, list[tuple[str, ...]]] = {
    "start-runner": [],
    "stop-runner": [
        ("instance_mapping", "fleet_id", "wait"),
        ("sweep", "min_age_minutes", "dry_run"),
    ],
}
"""Inputs of which one group must be left out, for the others to be taken."""

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
).map(json.dumps)
_text = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
_numbers = st.integers().map(str)


@st.composite
def _mutated(draw: st.DrawFn, value: str) -> str:
    """The value with a piece of it replaced."""
    begin = draw(st.integers(0, len(value)))
    end = draw(st.integers(begin, min(len(value), begin + 4)))
    piece = draw(st.sampled_from(["", *_ODD[:20], ",", " ", "\n"]) | st.text("a0-_.:/", max_size=3))
    return value[:begin] + piece.replace("\0", "") + value[end:]


@st.composite
def input_sets(draw: st.DrawFn, action: str) -> dict[str, str]:
    """All inputs of an action as they may be, but for a few that are left out or odd."""
    values = VALUES[action]
    names = st.sampled_from(sorted(values))
    given = dict(values)
    for name in draw(st.sampled_from([(), *APART[action]])):
        given[name] = _defaults(action).get(name, "")
    # Others go together ill, too: so now and then most are left out.
    for name in draw(st.sets(names, max_size=draw(st.sampled_from([4, len(values)])))):
        given[name] = _defaults(action).get(name, "")
    for name in draw(st.sets(names, max_size=2)):
        given[name] = draw(_wrong(values[name]))
    return given


@cache
def _defaults(action: str) -> dict[str, str]:
    return defaults(action)


def _wrong(good: str) -> st.SearchStrategy[str]:
    """What may stand in the place of a good value."""
    others = sorted({value for values in VALUES.values() for value in values.values()})
    return st.one_of(
        _mutated(good), st.sampled_from(_ODD), _text, _numbers, _json, st.sampled_from(others)
    )


@st.composite
def environments(draw: st.DrawFn) -> dict[str, str]:
    """Variables of a step; now and then one is odd."""
    if draw(st.integers(0, 9)):
        return ENVIRONMENT
    names = sorted({*ENVIRONMENT, "GITHUB_API_URL", "GITHUB_SERVER_URL", "GITHUB_RUN_ID"})
    return ENVIRONMENT | {draw(st.sampled_from(names)): draw(_text | st.sampled_from(_ODD))}
