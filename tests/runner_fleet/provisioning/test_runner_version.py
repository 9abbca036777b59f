"""Which runner instances install."""

from __future__ import annotations

import pytest
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.runner_version import Pin, version_of

RELEASES = "https://github.com/actions/runner/releases/download"
OFFERED = tuple(
    RunnerArchive(
        architecture,
        f"{RELEASES}/v2.335.1/actions-runner-linux-{architecture}-2.335.1.tar.gz",
        digit * 64,
    )
    for architecture, digit in (("x64", "1"), ("arm64", "2"))
)


def test_the_newest_is_what_github_offers() -> None:
    assert Pin.parse("latest").archives(OFFERED) == OFFERED
    assert Pin.parse("").archives(OFFERED) == OFFERED
    assert Pin.parse("2.335.1").archives(OFFERED) == OFFERED


def test_another_version_is_beside_it_and_its_digest_unknown() -> None:
    x64, arm64 = Pin.parse("2.330.0").archives(OFFERED)
    assert x64.url == f"{RELEASES}/v2.330.0/actions-runner-linux-x64-2.330.0.tar.gz"
    assert arm64.url == f"{RELEASES}/v2.330.0/actions-runner-linux-arm64-2.330.0.tar.gz"
    assert (x64.sha256, arm64.sha256) == ("", "")


def test_a_digest_that_was_given_is_checked() -> None:
    for version in ("2.330.0", "2.335.1"):
        x64, _ = Pin.parse(f"{version}@sha256:{'a' * 64}").archives(OFFERED)
        assert x64.sha256 == "a" * 64


@pytest.mark.parametrize("version", ["2.335.0", "2.99.9", "1.400.0"])
def test_an_old_version_is_warned_about(version: str) -> None:
    assert Pin.parse(version).warning(OFFERED) == (
        f"runner_version: {version} is older than 2.335.1, which GitHub offers. GitHub refuses a "
        "runner 30 days after the release of a newer one"
    )


@pytest.mark.parametrize("version", ["latest", "2.335.1", "2.1000.0", "3.0.0"])
def test_no_other_version_is(version: str) -> None:
    assert Pin.parse(version).warning(OFFERED) == ""


def test_an_offer_that_names_no_version_changes_nothing() -> None:
    strange = (RunnerArchive("x64", "https://ghes.example.com/runner.tgz", "1" * 64),)
    assert version_of(strange) == ""
    assert Pin.parse("2.330.0").archives(strange) == strange
    assert Pin.parse("2.330.0").warning(strange) == ""
