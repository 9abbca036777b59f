"""Check what a JSON object gives as the arguments of a function, before it is called."""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


class ArgumentError(ValueError):
    """What is wrong with an argument, in one line that names it."""


def from_json(text: bytes) -> Any:
    """What a request's body holds, whatever content type it claims; raises ArgumentError."""
    try:
        return json.loads(text)
    except ValueError as error:
        msg = f"the body is not JSON: {error}"
        raise ArgumentError(msg) from None


def call(function: Callable[..., Any], given: object, what: str) -> Any:
    """`function(**given)`; raises ArgumentError when it has no such arguments.

    `what` says what the object describes ("a fault").
    """
    if not isinstance(given, Mapping):
        msg = f"{what} is a JSON object"
        raise ArgumentError(msg)
    hints, required = _signature(function)
    for name, value in given.items():
        if name not in hints:
            msg = f"{what} has no field {name!r}; there are: {', '.join(sorted(hints))}"
            raise ArgumentError(msg)
        if not _fits(value, hints[name]):
            msg = f"{name} of {what} is to be {_in_words(hints[name])}, not {value!r}"
            raise ArgumentError(msg)
    for name in required:
        if name not in given:
            msg = f"{what} needs the field {name!r}"
            raise ArgumentError(msg)
    try:
        return function(**given)
    except re.error as error:
        msg = f"{what} has a regular expression that is none: {error}"
        raise ArgumentError(msg) from None


@cache
def _signature(function: Callable[..., Any]) -> tuple[dict[str, Any], list[str]]:
    """The type of each parameter, and those without a default."""
    parameters = dict(inspect.signature(function).parameters)
    types_of = get_type_hints(function)
    hints = {name: types_of.get(name, Any) for name in parameters}
    required = [name for name in hints if parameters[name].default is inspect.Parameter.empty]
    return hints, required


def _fits(value: object, hint: Any) -> bool:
    """Whether JSON's value is of a type; what is not plain is left to the function itself."""
    if get_origin(hint) in (Union, types.UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) is dict:
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    if isinstance(value, bool):
        return hint is bool or hint not in (int, float, str, types.NoneType)
    if hint is float:
        return isinstance(value, (int, float))
    return not isinstance(hint, type) or isinstance(value, hint)


def _in_words(hint: Any) -> str:
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(map(_in_words, get_args(hint)))
    if get_origin(hint) is Literal:
        return " or ".join(repr(option) for option in get_args(hint))
    words = {
        str: "a string",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        types.NoneType: "null",
    }
    return words.get(hint, "an object of strings" if get_origin(hint) is dict else str(hint))
