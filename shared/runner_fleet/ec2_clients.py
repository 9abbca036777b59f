"""The boto3 clients of one region, each made when first used. A part of `ec2.Ec2`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from runner_fleet import __version__
from runner_fleet.aws_failures import explained

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

CONNECT_TIMEOUT = 5.0  # seconds
READ_TIMEOUT = 30.0  # seconds; RunInstances for many instances takes several


class Clients:
    """Credentials come from boto3's ordinary chain."""

    def __init__(self, region: str, agent: str = "", patience: float = READ_TIMEOUT) -> None:
        """`agent` names the caller in the User-Agent, as CloudTrail shows it; `patience` is what
        one reply may take, in seconds."""
        self.region = region
        self._config = Config(
            connect_timeout=min(CONNECT_TIMEOUT, patience),
            read_timeout=min(READ_TIMEOUT, patience),
            retries={"mode": "standard", "total_max_attempts": 4},
            user_agent_extra=f"runner-fleet/{__version__} {agent}".strip(),
        )

    def connect(self) -> None:
        """Make EC2's clients, which several threads must not do at once."""
        _ = self._client, self._hasty_client

    @cached_property
    def _session(self) -> boto3.Session:
        with explained("AWS configuration"):
            return boto3.Session(region_name=self.region)

    @cached_property
    def _client(self) -> EC2Client:
        return self._session.client("ec2", config=self._config)

    @cached_property
    def _hasty_client(self) -> EC2Client:
        """Without botocore's own tries, after which nobody knows what the earlier ones did."""
        once = Config(retries={"mode": "standard", "total_max_attempts": 1})
        return self._session.client("ec2", config=self._config.merge(once))
