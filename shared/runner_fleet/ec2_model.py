"""What EC2 knows, as far as this project needs it: instances, images, launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from runner_fleet.ec2_template import LaunchTemplate
from runner_fleet.ec2_volumes import Volumes
from runner_fleet.errors import CloudError

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import InstanceTypeDef, RunInstancesRequestTypeDef

ENDED_STATES = frozenset({"shutting-down", "terminated"})
"""States in which an instance costs nothing more and cannot come back."""

LIVING_STATES = ("pending", "running", "stopping", "stopped")
"""All other states: the instance, or at least its volumes, cost money."""

GONE_STATES = ENDED_STATES | {"stopping", "stopped"}
"""States from which no runner of ours comes online any more."""


@dataclass(frozen=True)
class Instance:
    """One instance as DescribeInstances shows it."""

    id: str
    state: str  # pending, running, shutting-down, terminated, stopping, stopped
    type: str
    zone: str
    launch_index: int
    market: str = "on-demand"  # or spot
    state_reason: str = ""  # e.g. "Server.InsufficientInstanceCapacity: ..."; empty while it runs
    launched_at: float = 0.0  # seconds since the epoch; 0: EC2 does not say
    tags: Mapping[str, str] = field(default_factory=dict)  # EC2 drops them a while after the end

    @property
    def ended(self) -> bool:
        return self.state in ENDED_STATES

    @property
    def gone(self) -> bool:
        return self.state in GONE_STATES

    @classmethod
    def parse(cls, data: InstanceTypeDef) -> Instance:
        reason = data.get("StateReason", {})
        return cls(
            id=data["InstanceId"],
            state=data["State"]["Name"],
            type=str(data["InstanceType"]),
            zone=data.get("Placement", {}).get("AvailabilityZone", ""),
            launch_index=data.get("AmiLaunchIndex", 0),
            market="spot" if data.get("InstanceLifecycle") == "spot" else "on-demand",
            state_reason=reason.get("Message", "") or reason.get("Code", ""),
            launched_at=_seconds(data.get("LaunchTime")),
            tags={tag["Key"]: tag["Value"] for tag in data.get("Tags", [])},
        )


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0


@dataclass(frozen=True)
class Image:
    """One machine image (AMI)."""

    id: str
    name: str
    architecture: str  # EC2's name: x86_64, arm64
    root_device: str  # e.g. /dev/sda1
    devices: tuple[str, ...]  # all that become volumes, the root device among them
    root_size: int  # GiB; 0 when the image does not say
    created: str  # ISO 8601, sorts as text
    windows: bool

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Image:
        root = data.get("RootDeviceName", "")
        volumes = {
            mapping["DeviceName"]: mapping["Ebs"].get("VolumeSize", 0)
            for mapping in data.get("BlockDeviceMappings", [])
            if mapping.get("Ebs")
        }
        return cls(
            id=data["ImageId"],
            name=data.get("Name", ""),
            architecture=data.get("Architecture", ""),
            root_device=root,
            devices=tuple(volumes),
            root_size=volumes.get(root, 0),
            created=data.get("CreationDate", ""),
            windows=data.get("Platform", "").lower() == "windows",
        )


@dataclass(frozen=True)
class Launch:
    """What to launch: at least `minimum` (0: all) of `count` equal instances, or none."""

    image: Image
    instance_type: str
    count: int
    user_data: str | bytes = field(repr=False)  # holds the registration token
    client_token: str  # repeating a launch with it never launches twice
    tags: Mapping[str, str]
    subnet_id: str | None = None
    security_group_ids: Sequence[str] = ()
    instance_profile: str | None = None  # a name, or an ARN
    volumes: Volumes = field(default_factory=Volumes)
    hop_limit: int = 1  # of answers of the metadata service; a container's network is one more hop
    public_ip: bool | None = None  # None: as the subnet says
    template: LaunchTemplate | None = None
    minimum: int = 0
    market: str = "on-demand"  # or spot: EC2 may take the instances back, two minutes after notice

    def request(self) -> RunInstancesRequestTypeDef:
        """The parameters of RunInstances."""
        parameters: dict[str, Any] = self.template.parameters() if self.template else {}
        parameters |= {
            "ImageId": self.image.id,
            "InstanceType": self.instance_type,
            "MinCount": self.minimum or self.count,
            "MaxCount": self.count,
            "UserData": self.user_data,
            "ClientToken": self.client_token,
            "InstanceInitiatedShutdownBehavior": "terminate",
            "MetadataOptions": {
                "HttpTokens": "required",
                "HttpEndpoint": "enabled",
                "HttpPutResponseHopLimit": self.hop_limit,
            },
            "TagSpecifications": [self._tags(kind) for kind in ("instance", "volume")],
        }
        if self.market == "spot":
            parameters["InstanceMarketOptions"] = {
                "MarketType": "spot",
                "SpotOptions": {
                    "SpotInstanceType": "one-time",
                    "InstanceInterruptionBehavior": "terminate",
                },
            }
        given = self.template.volumes if self.template else ()
        if mappings := self.volumes.mappings(self.image, given):
            parameters["BlockDeviceMappings"] = mappings
        parameters |= self._network()
        if self.instance_profile:
            kind = "Arn" if self.instance_profile.startswith("arn:") else "Name"
            parameters["IamInstanceProfile"] = {kind: self.instance_profile}
        return parameters  # type: ignore[return-value]

    def _tags(self, kind: str) -> dict[str, Any]:
        """Ours, and those of the template that we do not set."""
        tags = (self.template.tags(kind) if self.template else {}) | dict(self.tags)
        pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
        return {"ResourceType": kind, "Tags": pairs}

    def _network(self) -> dict[str, Any]:
        """Subnet and groups: of the instance, or of its network interface when there is one.

        EC2 takes them in one of the two places only, and an address only with an interface.
        """
        interface = self.template.interface() if self.template else None
        groups = list(self.security_group_ids)
        if interface is None and self.public_ip is None:
            subnet = {"SubnetId": self.subnet_id} if self.subnet_id else {}
            return subnet | ({"SecurityGroupIds": groups} if groups else {})
        if interface is not None and not (self.subnet_id or groups or self.public_ip is not None):
            return {}  # the template's interfaces as they are
        asked: dict[str, Any] = {"DeviceIndex": 0, "DeleteOnTermination": True}
        if self.public_ip is not None:
            asked["AssociatePublicIpAddress"] = self.public_ip
        if self.subnet_id:
            asked["SubnetId"] = self.subnet_id
        if groups:
            asked["Groups"] = groups
        others = self.template.other_interfaces() if self.template else []
        return {"NetworkInterfaces": [(interface or {}) | asked, *others]}


@dataclass(frozen=True)
class Termination:
    """What TerminateInstances did."""

    before: dict[str, str]  # instance id to the state it was in
    unknown: list[str]  # ids that EC2 does not know (yet, or any more)
    refused: list[CloudError]  # why others were not terminated
