"""What every action that talks to AWS needs of it: a region, credentials that can be sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from runner_fleet.provisioning.inputs import REGION, InputReader

NAME = "aws_region_name"
T = TypeVar("T")


def of_region(values: Mapping[str, T], region: str) -> T | None:
    """The value for a region, of those `InputReader.by_region` read."""
    return values.get(region, values.get(""))


def check_aws(read: InputReader, environ: Mapping[str, str]) -> None:
    """What botocore would choke on, with the value in its message."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        value = environ.get(name, "")
        if not value.isprintable() or value != value.strip():
            read.problem(name, "the value holds white space or control characters: set it anew")
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_EC2"):
        read.url(environ, name)


def says_a_region(read: InputReader, environ: Mapping[str, str]) -> bool:
    return bool(read.text(NAME) or _default(environ))


def regions(read: InputReader, environ: Mapping[str, str]) -> tuple[str, ...]:
    """One or several, the preferred one first; those that are wrong are left out, and noted."""
    hint, before = "a region like us-east-1", len(read.problems)
    default = _default(environ)
    if read.text(NAME):
        found = read.words(NAME, REGION, hint)
        if not found and len(read.problems) == before:
            read.problem(NAME, "names no region")
        return found
    if not default:
        read.problem(NAME, "is required, as AWS_REGION is not set either")
    else:
        read.matching(NAME, REGION, hint, default)
    return (default,) if len(read.problems) == before else ()


def _default(environ: Mapping[str, str]) -> str:
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
