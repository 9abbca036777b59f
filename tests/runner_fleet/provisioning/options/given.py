"""Inputs that suffice, and what start-runner makes of them with others added."""

from __future__ import annotations

import pytest
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.start import StartOptions, start_options

ENVIRON = {
    "GITHUB_REPOSITORY": "octo-org/gpu-tests",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_JOB": "start-aws-runner",
    "GH_PAT": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "AWS_REGION": "us-east-1",
}
GOOD = {"aws_image_id": "ami-0123456789abcdef0", "aws_instance_type": "g4dn.xlarge"}


def parsed(**inputs: str) -> StartOptions:
    return start_options(GOOD | inputs, ENVIRON)


def problems(environ: dict[str, str] | None = None, /, **inputs: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        start_options(GOOD | inputs, ENVIRON if environ is None else environ)
    return list(caught.value.lines)
