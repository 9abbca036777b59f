"""PowerShell as its grammar reads it: the scripts for Windows cannot run here, but be parsed."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache

import tree_sitter_powershell
from tree_sitter import Language, Node, Parser


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_powershell.language()))


def parse(script: str) -> Node:
    """The whole script; what the grammar does not understand is in it as error nodes."""
    return _parser().parse(script.encode()).root_node


def errors(node: Node) -> list[tuple[int, str]]:
    """Line, from 1, and text of whatever the grammar does not understand, or misses."""
    return [
        (each.start_point[0] + 1, text(each)[:60])
        for each in walk(node)
        if each.is_error or each.is_missing
    ]


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from walk(child)


def nodes(node: Node, kind: str) -> list[Node]:
    return [each for each in walk(node) if each.type == kind]


def text(node: Node) -> str:
    return (node.text or b"").decode()


def commands(node: Node) -> list[str]:
    """The names of the commands in it, in the order of the text."""
    return [text(each) for each in nodes(node, "command_name")]


def function(script: Node, name: str) -> Node:
    (found,) = [
        each
        for each in nodes(script, "function_statement")
        if text(nodes(each, "function_name")[0]) == name
    ]
    return found


def assigned(script: Node) -> dict[str, str]:
    """What the variables hold that are set to a text, verbatim or in base64, at the top."""
    found = {}
    for each in nodes(script, "assignment_expression"):
        strings = [text(string) for string in nodes(each, "string_literal")] or [""]
        name, _, value = text(each).partition(" = ")
        if value == strings[0] and value.startswith("'"):
            found[name.removeprefix("$")] = value[1:-1].replace("''", "'")
        elif value == f"[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String({strings[0]}))":
            found[name.removeprefix("$")] = base64.b64decode(strings[0][1:-1]).decode()
    return found
