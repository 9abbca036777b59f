#!/usr/bin/env python3
"""Write the parts of the documentation that repeat something: `docs.py [--check] [FILE...]`.

What stands between

    <!-- generated: KIND ARGUMENT... -->
    <!-- end of generated -->

is made anew from the file that says it first, so the two cannot disagree:

    inputs ACTION           table of the inputs of ACTION/action.yml; where comments such as
                            "# -- Disk --" group them, a heading and a table for each group
    outputs ACTION          table of its outputs
    example FILE [JOB...]   a file as a code block, or only some jobs of a workflow
    aws-errors              table of the error codes of AWS that the library explains
    causes                  table of the causes for which a start loses an instance

With --check nothing is written; the exit status is 1 when a file is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "shared"))

from runner_fleet import aws_errors  # noqa: E402 - the path comes first
from runner_fleet.provisioning.causes import CAUSES  # noqa: E402
from runner_fleet.provisioning.guesses import GUESSES  # noqa: E402

FILES = (
    "README.md",
    "start-runner/README.md",
    "stop-runner/README.md",
    "docs/aws.md",
    "docs/troubleshooting.md",
)

_SECTION = re.compile(
    r"(?P<begin><!-- generated: (?P<what>[^\n]+) -->\n).*?(?P<end><!-- end of generated -->)",
    re.DOTALL,
)
_LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def inputs(action: str) -> str:
    """In each group the inputs that must be given come first, then in the order of action.yml."""
    declared = _action(action)["inputs"]
    parts = []
    for heading, names in input_groups(action).items():
        rows = [
            (f"`{name}`", _needed(declared[name]), _prose(declared[name]["description"]))
            for name in sorted(names, key=lambda name: not declared[name].get("required"))
        ]
        parts += [f"### {heading}"] if heading else []
        parts += [table(("Input", "Default", "Meaning"), rows)]
    return "\n\n".join(parts)


def input_groups(action: str) -> dict[str, list[str]]:
    """The names of the inputs by the comment above them; "" for those above the first one."""
    text = (ROOT / action / "action.yml").read_text("utf-8")
    text = text.partition("\ninputs:\n")[2].partition("\noutputs:\n")[0]
    groups: dict[str, list[str]] = {}
    heading = ""
    for group, name in re.findall(r"^  (?:# -- (.+) --|(\w+):)$", text, re.MULTILINE):
        if group:
            heading = group
        else:
            groups.setdefault(heading, []).append(name)
    return groups


def _needed(entry: dict[str, Any]) -> str:
    if entry.get("required"):
        return "**required**"
    return f"`{entry['default']}`" if "default" in entry else ""


def outputs(action: str) -> str:
    rows = [
        (f"`{name}`", _prose(entry["description"]))
        for name, entry in _action(action)["outputs"].items()
    ]
    return table(("Output", "Meaning"), rows)


def example(file: str, *jobs: str) -> str:
    """The file as it is: comments and all."""
    path = ROOT / file
    text = path.read_text(encoding="utf-8")
    if jobs:
        text = "jobs:\n" + "".join(job(text, name) for name in jobs)
    return f"```{_LANGUAGES[path.suffix]}\n{text.rstrip()}\n```"


def job(workflow: str, name: str) -> str:
    """The lines of one job; KeyError when there is no such job."""
    found = re.search(rf"^  {re.escape(name)}:\n(?:(?:   .*)?\n)*", workflow, re.MULTILINE)
    if found is None:
        raise KeyError(name)
    return found[0]


def aws_error_codes() -> str:
    codes: dict[str, list[str]] = {}
    for code, remedy in aws_errors._REMEDIES.items():
        codes.setdefault(remedy, []).append(f"`{code}`")
    rows = [(", ".join(names), _prose(remedy)) for remedy, names in codes.items()]
    return table(("Code", "What it means here, and what to do"), rows)


def causes() -> str:
    rows = [
        (
            f"`{cause.code}`",
            _prose(cause.title),
            ", ".join(f"`{_prose(sign)}`" for sign in (*cause.reasons, *cause.signs)),
            _prose(cause.remedy),
        )
        for cause in (*CAUSES, *GUESSES)
    ]
    return table(("Code", "Cause", "Also known by", "What to do"), rows)


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace("  |", " |") for cells in lines)


def _action(action: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / action / "action.yml").read_text("utf-8"))
    return content


def _prose(text: str) -> str:
    """Text that fits a cell: one line, no cell borders."""
    return " ".join(text.split()).replace("|", "\\|")


KINDS: dict[str, Callable[..., str]] = {
    "inputs": inputs,
    "outputs": outputs,
    "example": example,
    "aws-errors": aws_error_codes,
    "causes": causes,
}


def render(text: str) -> str:
    """The text with every generated part made anew; KeyError for a KIND that does not exist."""

    def section(match: re.Match[str]) -> str:
        kind, *arguments = match["what"].split()
        return f"{match['begin']}\n{KINDS[kind](*arguments)}\n\n{match['end']}"

    return _SECTION.sub(section, text)


def main(arguments: Sequence[str]) -> int:
    check = "--check" in arguments
    named = [Path(argument) for argument in arguments if argument != "--check"]
    stale = 0
    for path in named or [ROOT / file for file in FILES]:
        before = path.read_text(encoding="utf-8")
        after = render(before)
        if before == after:
            continue
        stale += 1
        if check:
            print(f"{path}: out of date; run 'make docs'")
        else:
            path.write_text(after, encoding="utf-8")
            print(f"{path}: written")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
