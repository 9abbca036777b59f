"""Where a fleet may be launched, and how many instances it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner_fleet.provisioning.inputs import InputReader
from runner_fleet.provisioning.options.aws import region

LARGEST_COUNT = 200
"""Instances of one start: as many as one filter of DescribeInstances may name (EC2 API reference,
Filter)."""


@dataclass(frozen=True)
class Placement:
    region: str
    instance_type: str
    subnet_id: str
    count: int


def placement(read: InputReader, environ: Mapping[str, str]) -> Placement:
    return Placement(
        region=region(read, environ),
        instance_type=_instance_type(read),
        subnet_id=read.matching(
            "aws_subnet_id", r"subnet-[0-9a-f]{8,17}", "a subnet id (subnet-0123456789abcdef0)"
        ),
        count=read.integer("instance_count", 1, maximum=LARGEST_COUNT),
    )


def _instance_type(read: InputReader) -> str:
    name = "aws_instance_type"
    if not read.text(name) and not read.text("aws_launch_template"):
        read.problem(name, "is required, for instance g4dn.xlarge")
    return read.matching(name, r"[a-z][a-z0-9-]*\.[a-z0-9-]+", "an instance type like g4dn.xlarge")
