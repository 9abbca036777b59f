"""The documentation says what the code says, and misses no message."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTIONS = sorted(file.parent.name for file in ROOT.glob("*/action.yml"))
READMES = [ROOT / "README.md", *(ROOT / action / "README.md" for action in ACTIONS)]
TROUBLESHOOTING = ROOT / "docs" / "troubleshooting.md"
_PAGES = ("CONTRIBUTING.md", "examples/sandbox/README.md")
_DOCS = ("aws.md", "github.md", "proof.md", "reports.md")
OTHERS = [*(ROOT / name for name in _PAGES), *(ROOT / "docs" / name for name in _DOCS)]

# Where the messages are written that a user may see, beside the boot script.
ACTION_SOURCES = [*(ROOT / "shared" / "runner_fleet").rglob("*.py"), *ROOT.glob("*/main.py")]
LAUNCH_SOURCES = [ROOT / "shared" / "launch", *(ROOT / "shared" / "launcher").glob("*.py")]
BOOT = [*(ROOT / "shared" / "runner_fleet" / "provisioning").rglob("*.sh")]
BOOT_WINDOWS = ROOT / "shared" / "runner_fleet" / "provisioning" / "boot.ps1"

# How texts begin that are no failure: progress, tables, patterns for what others say.
NO_FAILURES = (
    *("Nothing was launched", "…: nothing of this start", "…. **Not all could"),
    *("Fleet …", "Terminated …", "Taking back", "Cannot look for", "### St", "### Why"),
    *("Nothing was left", "registration removed", "No License required", "leave it out for"),
    *("Encoded auth", "perform: ("),
    *("Console of …", "Why: …", "Runner label", "What to do", "\n… more instances were lost"),
    *("runner-fleet: r", "Successfully replaced", "…error \\[(", "PRIVATE KEY", "-----BEGIN"),
    *("\\A(?:", "(?<=.)[", "\\x1b(?:", "(?i)(--("),
    *("Orphans, if this were", "There is no orphan", "has ended meanwhile"),
    # of a dry run
    *("### Dry run", "in …, … free", "through …, with", "EC2 would launch", "it takes an instance"),
    *("… bytes… of at most", "EC2 refuses it, for the same reason", "default VPC: way out"),
    *("each of its subnets", "^bash: "),
    # of a launch template
    *("DeleteOnTermination false", "shutdown behavior stop", "protection from "),
    *("Nothing that was checked", "the token may register", "dry run of RunInst", "with the role"),
    *("… of … ended, … removed", "Waiting until …", "Pass …: …: …", "no clear answer"),
    *(" About $… an hour", "… … in …", "on-demand price of", " and … more", "### Att"),
    *("Repository permissions, ", "Organization permissions, ", "-----BEGIN (", "-----END ("),
    *("'Administration: read and", "the organization permission", "the scope 'manage_runners"),
    *("the token in GH_PAT", "the token of the GitHub App"),
    # of the boot script
    *("trying again in", "installing the runner's", "running pre_runner_script", "powering off"),
    *("runner was registered just in time", "instance … is runner"),
)

# Of a message that is put together, no piece shorter than this tells one from another.
TELLING = 9


def run_docs(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "docs.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_every_generated_part_is_up_to_date() -> None:
    result = run_docs("--check")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_generated_part_that_was_edited_is_noticed_and_made_anew(tmp_path: Path) -> None:
    text = (ROOT / "stop-runner" / "README.md").read_text(encoding="utf-8")
    copy = tmp_path / "README.md"
    copy.write_text(text.replace("| `wait` | `false` |", "| `wait` | `true` |"), encoding="utf-8")
    assert copy.read_text(encoding="utf-8") != text
    assert run_docs("--check", copy).returncode == 1
    assert run_docs(copy).returncode == 0
    assert copy.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "page", [*READMES, TROUBLESHOOTING, *OTHERS], ids=lambda path: str(path.relative_to(ROOT))
)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    for link in links:
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """As GitHub makes them from headings: letters, digits and hyphens, in lower case."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("action", ACTIONS)
def test_every_input_is_in_the_tables_once(action: str) -> None:
    declared = yaml.safe_load((ROOT / action / "action.yml").read_text(encoding="utf-8"))["inputs"]
    text = section((ROOT / action / "README.md").read_text(encoding="utf-8"), "Inputs")
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(declared)


def test_the_inputs_of_start_runner_are_in_groups() -> None:
    text = section((ROOT / "start-runner" / "README.md").read_text(encoding="utf-8"), "Inputs")
    disk = text.partition("\n### Disk\n")[2].partition("\n### ")[0]
    found = re.findall(r"^\| `(\w+)` \|", disk, re.MULTILINE)
    assert found
    assert all(name.startswith("aws_root_device_") for name in found)


@pytest.mark.parametrize("action", ACTIONS)
def test_every_statement_of_the_policy_is_explained(action: str) -> None:
    policy = json.loads((ROOT / action / "iam-policy.json").read_text(encoding="utf-8"))
    text = (ROOT / action / "README.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `(\w+)` \| .{20,} \|$", section(text, "Permissions"), re.MULTILINE)
    assert explained == [statement["Sid"] for statement in policy["Statement"]]


def section(text: str, heading: str) -> str:
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def documented() -> list[str]:
    """The messages in the tables for troubleshooting, with … for what differs."""
    found = []
    for table in TROUBLESHOOTING.read_text(encoding="utf-8").split("\n\n"):
        if table.startswith("| Message |"):
            for row in table.splitlines()[2:]:
                found += re.findall(r"`([^`]+)`", row.split(" | ")[0])
    return found


def literals(*sources: Path) -> Iterator[str]:
    """Every text in Python sources, with … for what is put in, except documentation."""
    for source in sources:
        tree = ast.parse(source.read_text(encoding="utf-8"))
        skipped: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                skipped.add(id(node.value))
            if isinstance(node, ast.JoinedStr):
                skipped |= {id(inner) for inner in ast.walk(node)} - {id(node)}
            if id(node) in skipped:
                continue
            if isinstance(node, ast.JoinedStr):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "…"
                    for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def boot_failures() -> Iterator[str]:
    text = "\n".join(part.read_text(encoding="utf-8") for part in BOOT)
    for message in re.findall(r'(?:\b(?:fail|complain) [\w-]+|\bsay) "([^"]+)"', text):
        yield re.sub(r"\$\([^)]*\)|\$\{[^}]*\}|\$[\w?]+", "…", message)
    text = BOOT_WINDOWS.read_text(encoding="ascii")
    for _, message in re.findall(r"""(?:\bFail \S+|\$(?:way|text) =) (["'])(.*?)\1""", text):
        yield re.sub(r"\$\([^)]*\)+|\$[\w:]+", "…", message)


def pieces(message: str) -> list[str]:
    """The fixed parts of a message, as the code puts it together: input name, verb, hint."""
    parts = re.split(r"…|: |\bis not ", message)
    return [part.strip() for part in parts if len(part.strip()) > 3]


def test_every_documented_message_is_one_of_the_code() -> None:
    text = "\n".join([*literals(*ACTION_SOURCES, *LAUNCH_SOURCES), *boot_failures()])
    messages = documented()
    assert len(messages) > 60
    unknown = [message for message in messages for piece in pieces(message) if piece not in text]
    assert unknown == []


def test_every_message_of_the_actions_is_documented() -> None:
    """Of `launch` only the main ones are: it has more patterns for tools' messages than its own."""
    known = [piece for message in documented() for piece in pieces(message)]
    known = [piece for piece in known if len(piece) >= TELLING]
    text = " ".join(TROUBLESHOOTING.read_text(encoding="utf-8").split())
    missing = [
        literal
        for literal in (*literals(*ACTION_SOURCES), *boot_failures())
        if " " in literal
        and len(literal) > 2 * TELLING
        and not literal.startswith(NO_FAILURES)
        and " ".join(literal.split()) not in text
        and not any(piece in literal for piece in known)
    ]
    assert missing == []
