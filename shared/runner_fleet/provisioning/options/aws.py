"""What every action that talks to AWS needs of it: a region, credentials that can be sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from runner_fleet.provisioning.inputs import REGION, InputReader

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


def region(read: InputReader, environ: Mapping[str, str]) -> str:
    """Empty when the input is wrong: another region is not what was meant."""
    name = "aws_region_name"
    default = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
    if not read.text(name, default):
        read.problem(name, "is required, as AWS_REGION is not set either")
    region = read.matching(name, REGION, "a region like us-east-1", default)
    return region if region == read.text(name, default) else ""


def regions(read: InputReader, environ: Mapping[str, str]) -> tuple[str, ...]:
    """One or several, the preferred one first; empty when the input is wrong."""
    name = "aws_region_name"
    default = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
    if not read.text(name):
        if not default:
            read.problem(name, "is required, as AWS_REGION is not set either")
        return (default,) if default else ()
    return read.words(name, REGION, "a region like us-east-1")
