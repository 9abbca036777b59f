"""A start and a stop with OMSF's published library: `gha_runner` of PyPI, its own flow.

The library ships no provider for AWS, and OMSF's start action, which has one, is not on PyPI. So
the provider is here: it asks EC2 what that action asks, which is one RunInstances an instance, the
waiter `instance_running`, and to stop one TerminateInstances and the waiter `instance_terminated`.

Arguments: `start N`, or `stop` with a mapping on standard input. A start writes its mapping to
standard output, where the library tells its progress, too: it is the last line.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Any

import boto3
from gha_runner.clouddeployment import (  # type: ignore[import-not-found]
    CreateCloudInstance,
    DeployInstance,
    StopCloudInstance,
    TeardownInstance,
)
from gha_runner.gh import GitHubInstance  # type: ignore[import-not-found]

TIMEOUT = 300  # seconds, for each runner
SCRIPT = """#!/bin/bash
set -e
export RUNNER_ALLOW_RUNASROOT=1
cd "$(mktemp -d)"
curl -sSfLo runner.tar.gz {archive}
tar xzf runner.tar.gz
./config.sh --url {url} --token {token} --name {label} --labels {label} --ephemeral --unattended
./run.sh
"""


@dataclass
class Starting(CreateCloudInstance):  # type: ignore[misc]
    """The fields are what `DeployInstance` passes on."""

    image: str
    instance_type: str
    url: str
    gh_runner_tokens: list[str]
    runner_release: str

    def __post_init__(self) -> None:
        self._ec2 = boto3.client("ec2")

    def create_instances(self) -> dict[str, str]:
        mapping = {}
        for token in self.gh_runner_tokens:
            label = GitHubInstance.generate_random_label()
            script = SCRIPT.format(
                archive=self.runner_release, url=self.url, token=token, label=label
            )
            reply = self._ec2.run_instances(
                ImageId=self.image,
                InstanceType=self.instance_type,  # type: ignore[arg-type]
                MinCount=1,
                MaxCount=1,
                UserData=script,
            )
            mapping[reply["Instances"][0]["InstanceId"]] = label
        return mapping

    def wait_until_ready(self, ids: list[str], **_options: Any) -> None:
        self._ec2.get_waiter("instance_running").wait(InstanceIds=ids)

    def set_instance_mapping(self, mapping: dict[str, str]) -> None:
        self.mapping = mapping


@dataclass
class Stopping(StopCloudInstance):  # type: ignore[misc]
    mapping: dict[str, str]

    def __post_init__(self) -> None:
        self._ec2 = boto3.client("ec2")

    def remove_instances(self, ids: list[str]) -> None:
        self._ec2.terminate_instances(InstanceIds=ids)

    def wait_until_removed(self, ids: list[str], **_options: Any) -> None:
        self._ec2.get_waiter("instance_terminated").wait(InstanceIds=ids)

    def get_instance_mapping(self) -> dict[str, str]:
        return self.mapping


def main(what: str, *count: str) -> None:
    GitHubInstance.BASE_URL = os.environ["GITHUB_API_URL"]  # fixed in the library
    repository = os.environ["GITHUB_REPOSITORY"]
    github = GitHubInstance(os.environ["GH_PAT"], repository)
    if what == "stop":
        parameters = {"mapping": json.load(sys.stdin)}
        TeardownInstance(Stopping, parameters, github).stop_runner_instances()
        return
    parameters = {
        "image": os.environ["BENCH_IMAGE"],
        "instance_type": "g4dn.xlarge",
        "url": f"{os.environ['GITHUB_SERVER_URL']}/{repository}",
    }
    deploy = DeployInstance(Starting, parameters, github, int(count[0]), TIMEOUT)
    deploy.start_runner_instances()
    print(json.dumps(deploy.provider.mapping))


if __name__ == "__main__":
    main(*sys.argv[1:])
