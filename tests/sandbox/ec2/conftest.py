"""One EC2 for all tests here, emptied between them, and boto3 clients of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from sandbox.calls import CallLog
from sandbox.ec2 import Ec2
from sandbox.faults import Faults
from sandbox.serve import Server

UBUNTU = "ami-0c240000000000002"
UBUNTU_ARM = "ami-0c240000000000003"
AMAZON_LINUX = "ami-0a120000000000002"
DEEP_LEARNING = "ami-0d1a0000000000003"


class Clock:
    """The time of day, and what a test adds to it."""

    def __init__(self) -> None:
        self.added = 0.0

    def __call__(self) -> float:
        return time.time() + self.added


@dataclass
class Cloud:
    """The EC2, where it is served, and what tests do with it."""

    ec2: Ec2
    url: str
    client: Any
    clients: dict[tuple[str, str], Any]
    clock: Clock

    def of(self, service: str, region: str = "us-east-1", **keys: str) -> Any:
        """A client of another service or region, or with other credentials."""
        if keys or (service, region) not in self.clients:
            made = _client(service, region, self.url, **keys)
            self.clients[service, region + keys.get("key", "")] = made
            return made
        return self.clients[service, region]

    def launch(self, count: int = 1, **changes: Any) -> list[Any]:
        """The instances RunInstances answers with."""
        return list(self.run(MinCount=count, MaxCount=count, **changes)["Instances"])

    def run(self, **changes: Any) -> Any:
        asked = {"ImageId": UBUNTU, "InstanceType": "g6.xlarge", "MinCount": 1, "MaxCount": 1}
        return self.client.run_instances(**(asked | changes))

    def boot(self, script: str, **changes: Any) -> str:
        """Launch one instance with a bash script as its user data; its id."""
        user_data = f"#!/bin/bash\n{script}\n"
        [instance] = self.launch(UserData=user_data, **changes)
        return str(instance["InstanceId"])

    def state(self, instance_id: str) -> str:
        [found] = [each for each in self.ec2.instances() if each.id == instance_id]
        return found.state

    def instance(self, instance_id: str) -> Any:
        """As DescribeInstances shows it."""
        reply = self.client.describe_instances(InstanceIds=[instance_id])
        return reply["Reservations"][0]["Instances"][0]

    def until(self, condition: Callable[[], Any], seconds: float = 60) -> None:
        """Wait until something is so, or fail."""
        deadline = time.monotonic() + seconds
        while not condition():
            consoles = [self.ec2.console(each.id) for each in self.ec2.instances()]
            assert time.monotonic() < deadline, "\n".join(["it did not come true", *consoles[:3]])
            time.sleep(0.01)

    def until_finished(self, instance_id: str) -> str:
        """Wait until the instance's user data has ended; its console."""
        self.until(lambda: self.events(instance_id, "boot_finished"))
        return self.ec2.console(instance_id)

    def events(self, instance_id: str, kind: str) -> list[dict[str, str]]:
        return [
            event.fields
            for event in self.ec2.history
            if event.instance_id == instance_id and event.kind == kind
        ]

    def root(self, instance_id: str) -> Path:
        return self.ec2.machines[instance_id].root


@cache
def _session() -> Any:
    """One for all clients: it keeps the services' models, which take long to load."""
    return boto3.Session()


def _client(service: str, region: str, url: str, **keys: str) -> Any:
    config = Config(retries={"total_max_attempts": 1}, connect_timeout=60, read_timeout=60)
    return _session().client(
        service,
        region_name=region,
        endpoint_url=url,
        config=config,
        aws_access_key_id=keys.get("key", "testing"),
        aws_secret_access_key=keys.get("secret", "testing"),
    )


@pytest.fixture(scope="session")
def _cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    clock = Clock()
    ec2 = Ec2(tmp_path_factory.mktemp("ec2"), log=CallLog(clock), faults=Faults())
    server = Server(ec2.wsgi).start()
    client = _client("ec2", "us-east-1", server.url)
    made = Cloud(ec2, server.url, client, {("ec2", "us-east-1"): client}, clock)
    yield made
    for each in made.clients.values():
        each.close()
    ec2.close()
    server.close()


@pytest.fixture
def cloud(_cloud: Cloud) -> Iterator[Cloud]:
    yield _cloud
    _cloud.ec2.reset()
    _cloud.ec2.log.clear()
    _cloud.ec2.faults.clear()
    _cloud.clock.added = 0.0


@pytest.fixture
def refusal(cloud: Cloud) -> Callable[..., tuple[int, str, str]]:
    """Make a call that EC2 refuses; the HTTP status, the code and the message."""

    def refusal(call: Callable[..., Any], **arguments: Any) -> tuple[int, str, str]:
        with pytest.raises(ClientError) as caught:
            call(**arguments)
        reply = caught.value.response
        status = int(reply["ResponseMetadata"]["HTTPStatusCode"])
        return status, str(reply["Error"]["Code"]), str(reply["Error"]["Message"])

    return refusal
