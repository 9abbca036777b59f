"""The locked sets against the short files they are made from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REQUIREMENTS = Path(__file__).resolve().parents[2] / "shared" / "requirements"
SETS = ("bench", "dev", "ec2", "github", "uv")


def wanted(name: str) -> list[Requirement]:
    """What a short file asks for, its `-r` lines followed."""
    found = []
    for text in (REQUIREMENTS / f"{name}.in").read_text().splitlines():
        line = text.partition("#")[0].strip()
        if line.startswith("-r "):
            found += wanted(line.removeprefix("-r ").removesuffix(".in"))
        elif line:
            found.append(Requirement(line))
    return found


def locked(name: str) -> list[tuple[Requirement, list[str]]]:
    """Each requirement of a lock with its hashes."""
    text = (REQUIREMENTS / f"{name}.txt").read_text().replace("\\\n", "")
    return [
        (
            Requirement(line.partition("--hash")[0]),
            re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line),
        )
        for line in text.splitlines()
    ]


def versions(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for requirement, _ in locked(name):
        (specifier,) = requirement.specifier
        found.setdefault(canonicalize_name(requirement.name), set()).add(specifier.version)
    return found


def test_every_set_has_both_files() -> None:
    assert sorted(path.name for path in REQUIREMENTS.iterdir()) == sorted(
        f"{name}.{kind}" for name in SETS for kind in ("in", "txt")
    )


@pytest.mark.parametrize("name", SETS)
def test_a_lock_has_all_that_is_wanted(name: str) -> None:
    have = versions(name)
    for requirement in wanted(name):
        found = have.get(canonicalize_name(requirement.name), set())
        assert found, requirement
        assert all(requirement.specifier.contains(version) for version in found)


@pytest.mark.parametrize("name", SETS)
def test_every_line_is_one_exact_version_with_hashes(name: str) -> None:
    for requirement, hashes in locked(name):
        assert [specifier.operator for specifier in requirement.specifier] == ["=="], requirement
        assert hashes, requirement


@pytest.mark.parametrize("name", SETS)
def test_a_lock_names_no_place_to_get_packages_from(name: str) -> None:
    text = (REQUIREMENTS / f"{name}.txt").read_text()

    assert re.findall(r"://|^\s*-(?!-hash=)|@", text, re.MULTILINE) == []


@pytest.mark.parametrize("name", ["ec2", "github", "uv"])
def test_what_is_tested_is_what_runs(name: str) -> None:
    dev = versions("dev")

    assert {package: dev[package] for package in versions(name)} == versions(name)


def test_both_runtime_sets_agree() -> None:
    ec2, github = versions("ec2"), versions("github")

    assert {name: ec2[name] for name in ec2.keys() & github.keys()} == {
        name: github[name] for name in ec2.keys() & github.keys()
    }


def test_actions_that_need_no_aws_do_not_install_it() -> None:
    assert {"boto3", "botocore"} & set(versions("github")) == set()
