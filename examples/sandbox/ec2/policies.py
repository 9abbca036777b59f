"""IAM's verdict on one action: moto's own looks at neither conditions nor EC2's resources.

After the IAM user guide, "Policy evaluation logic": an explicit deny wins, then an allow, and what
nobody allows is denied. A condition operator that is not known here is never met, so that a policy
which uses it fails instead of passing unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True)
class Ask:
    """An action on a resource (an ARN, or `*`), with the context keys that go with it."""

    action: str
    resource: str = "*"
    context: Mapping[str, list[str]] = field(default_factory=dict)


def allowed(documents: Iterable[Mapping[str, Any]], ask: Ask) -> bool:
    """Whether the policies taken together allow it."""
    effects = {
        statement["Effect"]
        for document in documents
        for statement in _list(document["Statement"])
        if _concerns(statement, ask) and _conditions_hold(statement, ask.context)
    }
    return "Allow" in effects and "Deny" not in effects


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _like(pattern: str, value: str) -> bool:
    return fnmatchcase(value, pattern.replace("[", "[[]"))


def _concerns(statement: Mapping[str, Any], ask: Ask) -> bool:
    def named(element: str, value: str, *, fold: bool) -> bool:
        patterns = [str(pattern) for pattern in _list(statement[element])]
        if fold:
            return any(_like(pattern.lower(), value.lower()) for pattern in patterns)
        return any(_like(pattern, value) for pattern in patterns)

    if "NotAction" in statement:
        acts = not named("NotAction", ask.action, fold=True)
    else:
        acts = named("Action", ask.action, fold=True)
    if "NotResource" in statement:
        return acts and not named("NotResource", ask.resource, fold=False)
    return acts and named("Resource", ask.resource, fold=False)


def _conditions_hold(statement: Mapping[str, Any], context: Mapping[str, list[str]]) -> bool:
    lowered = {key.lower(): values for key, values in context.items()}
    return all(
        _holds(operator, lowered.get(key.lower()), [str(each) for each in _list(wanted)])
        for operator, pairs in statement.get("Condition", {}).items()
        for key, wanted in pairs.items()
    )


def _holds(operator: str, values: list[str] | None, wanted: list[str]) -> bool:
    if operator == "Null":
        return (values is None) == (wanted[0].lower() == "true")
    quantifier, _, name = operator.rpartition(":")
    if name.endswith("IfExists"):
        name = name.removesuffix("IfExists")
        if values is None:
            return True
    negated = "Not" in name
    test = _TESTS.get(name.replace("Not", ""))
    if test is None:
        return False
    if values is None:  # a key that is not there meets negated operators, and ForAllValues
        return negated or quantifier == "ForAllValues"
    met = [any(test(pattern, value) for pattern in wanted) != negated for value in values]
    return any(met) if quantifier == "ForAnyValue" else all(met)


def _equal(pattern: str, value: str) -> bool:
    return pattern == value


def _equal_ignoring_case(pattern: str, value: str) -> bool:
    return pattern.lower() == value.lower()


_TESTS: dict[str, Callable[[str, str], bool]] = {
    "StringEquals": _equal,
    "StringEqualsIgnoreCase": _equal_ignoring_case,
    "StringLike": _like,
    "ArnEquals": _like,
    "ArnLike": _like,
    "Bool": _equal_ignoring_case,
}
