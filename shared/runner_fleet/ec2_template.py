"""A launch template, and what a launch takes from it.

"Any additional parameters that you specify for the new instance overwrite the corresponding
parameters included in the launch template" (EC2 API reference, RunInstances). Where that leaves
open whether a list is replaced or added to, the launch sends it whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner_fleet.errors import InputError


@dataclass(frozen=True)
class TemplateName:
    """How a user names a launch template."""

    name: str  # or its id, lt-…
    version: str = "$Default"  # a number, "$Latest" or "$Default"

    def parameters(self) -> dict[str, str]:
        kind = "Id" if self.name.startswith("lt-") else "Name"
        return {f"LaunchTemplate{kind}": self.name}

    def __str__(self) -> str:
        return f"{self.name}:{self.version}"


@dataclass(frozen=True)
class LaunchTemplate:
    """One version of a launch template."""

    id: str
    version: int
    data: Mapping[str, Any]

    @classmethod
    def parse(cls, found: Mapping[str, Any]) -> LaunchTemplate:
        return cls(
            id=found["LaunchTemplateId"],
            version=int(found["VersionNumber"]),
            data=found.get("LaunchTemplateData", {}),
        )

    @property
    def image_id(self) -> str:
        return str(self.data.get("ImageId", ""))

    @property
    def instance_type(self) -> str:
        return str(self.data.get("InstanceType", ""))

    @property
    def instance_profile(self) -> str:
        profile = self.data.get("IamInstanceProfile", {})
        return str(profile.get("Arn") or profile.get("Name") or "")

    @property
    def subnet_id(self) -> str:
        return next((str(item["SubnetId"]) for item in self._interfaces if "SubnetId" in item), "")

    @property
    def security_group_ids(self) -> tuple[str, ...]:
        of_interfaces = [group for item in self._interfaces for group in item.get("Groups", [])]
        return (*self.data.get("SecurityGroupIds", []), *of_interfaces)

    @property
    def volumes(self) -> Sequence[Mapping[str, Any]]:
        return list(self.data.get("BlockDeviceMappings", []))

    @property
    def _interfaces(self) -> list[dict[str, Any]]:
        return list(self.data.get("NetworkInterfaces", []))

    def tags(self, kind: str) -> dict[str, str]:
        """The tags it gives to resources of a kind."""
        return {
            tag["Key"]: tag["Value"]
            for item in self.data.get("TagSpecifications", [])
            if item.get("ResourceType") == kind
            for tag in item.get("Tags", [])
        }

    def parameters(self) -> dict[str, Any]:
        """Its part of a RunInstances request. What it must not do is taken back here."""
        parameters: dict[str, Any] = {
            "LaunchTemplate": {"LaunchTemplateId": self.id, "Version": str(self.version)}
        }
        # An instance that is protected could not be taken back.
        for name in ("DisableApiTermination", "DisableApiStop"):
            if self.data.get(name):
                parameters[name] = False
        if "InstanceMarketOptions" in self.data:
            parameters["InstanceMarketOptions"] = {"MarketType": "on-demand"}
        return parameters

    def overridden(self) -> list[str]:
        """What it says and no launch does: every launch has its own, or forbids it."""
        kept = any(item.get("Ebs", {}).get("DeleteOnTermination") is False for item in self.volumes)
        said = {
            "user data": "UserData" in self.data,
            "market options": "InstanceMarketOptions" in self.data,
            "DeleteOnTermination false": kept,
            "shutdown behavior stop": self.data.get("InstanceInitiatedShutdownBehavior") == "stop",
            "protection from termination": bool(self.data.get("DisableApiTermination")),
            "protection from stopping": bool(self.data.get("DisableApiStop")),
        }
        return [name for name, is_said in said.items() if is_said]

    def interface(self) -> dict[str, Any] | None:
        """The first network interface it gives; None: it gives none."""
        return next((dict(item) for item in self._interfaces if not item.get("DeviceIndex")), None)

    def other_interfaces(self) -> list[dict[str, Any]]:
        return [dict(item) for item in self._interfaces if item.get("DeviceIndex")]

    def check(self, *, public_ip: bool | None) -> None:
        """Raises `InputError` when the template forbids what is asked for."""
        of_instance = "SecurityGroupIds" in self.data or "SecurityGroups" in self.data
        if public_ip is not None and of_instance:
            msg = (
                f"associate_public_ip: launch template {self.id} names security groups outside of "
                "a network interface, where EC2 takes no word on addresses: move them into a "
                "network interface of the template"
            )
            raise InputError(msg)
