"""The volumes of an instance: what differs from its image and its launch template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner_fleet.ec2_model import Image

DEFAULT_TYPE = "gp3"


@dataclass(frozen=True)
class Volumes:
    """What is asked of the volumes. Size, type, IOPS and throughput are the root volume's."""

    size: int | None = None  # GiB
    type: str = ""  # as the launch template says, else DEFAULT_TYPE
    iops: int | None = None
    throughput: int | None = None  # MiB/s
    encrypted: bool = True  # False: as image and account say, but for a key
    kms_key: str = ""  # id, ARN or alias; empty: the account's default key for EBS

    def mappings(
        self, image: Image, template: Sequence[Mapping[str, Any]] = ()
    ) -> list[dict[str, Any]]:
        """The block device mappings in full, those of the launch template included.

        In full, because the API reference does not say whether EC2 puts a request's mappings
        beside the template's or in their place: so both come to the same.
        """
        given = {item["DeviceName"]: item for item in template}
        found = []
        for device in dict.fromkeys((*image.devices, *given)):
            item = dict(given.get(device, {"DeviceName": device}))
            if "NoDevice" not in item and "VirtualName" not in item:
                root = device == image.root_device
                item["Ebs"] = {**(self._root(item) if root else item.get("Ebs", {})), **self._all()}
            found.append(item)
        return found

    def _all(self) -> dict[str, Any]:
        """A volume goes with its instance, whatever image and template say."""
        settings: dict[str, Any] = {"DeleteOnTermination": True}
        if self.encrypted or self.kms_key:
            settings["Encrypted"] = True
        if self.kms_key:
            settings["KmsKeyId"] = self.kms_key
        return settings

    def _root(self, item: Mapping[str, Any]) -> dict[str, Any]:
        settings: dict[str, Any] = dict(item.get("Ebs", {}))
        before = settings.get("VolumeType", DEFAULT_TYPE)
        settings["VolumeType"] = self.type or before
        if settings["VolumeType"] != before:  # what the template says of another type
            settings.pop("Iops", None)
            settings.pop("Throughput", None)
        asked = {"VolumeSize": self.size, "Iops": self.iops, "Throughput": self.throughput}
        return settings | {key: value for key, value in asked.items() if value is not None}
