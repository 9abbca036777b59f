"""What every action that talks to AWS needs of it: a region, credentials that can be sent."""

from __future__ import annotations

from collections.abc import Mapping

from runner_fleet.provisioning.inputs import InputReader

NAME = "aws_region_name"
REGION = r"[a-z]{2,}(-[a-z]+)+-[0-9]+"


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
    """All that are named, or the job's own; those that are wrong are left out, and noted."""
    if read.text(NAME):
        before = len(read.problems)
        found = read.words(NAME, REGION, "a region like us-east-1")
        if not found and len(read.problems) == before:
            read.problem(NAME, "names no region")
        return found
    default = region(read, environ)
    return (default,) if default else ()


def region(read: InputReader, environ: Mapping[str, str]) -> str:
    """Empty when the input is wrong: another region is not what was meant."""
    default = _default(environ)
    if not read.text(NAME, default):
        read.problem(NAME, "is required, as AWS_REGION is not set either")
    region = read.matching(NAME, REGION, "a region like us-east-1", default)
    return region if region == read.text(NAME, default) else ""


def _default(environ: Mapping[str, str]) -> str:
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
