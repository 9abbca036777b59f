"""DescribeInstances' filters: all of EC2's that anybody asks by, moto knows half of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from sandbox.ec2.errors import Ec2Error
from sandbox.ec2.wire import listed, structures

_INSTANCE_ID = re.compile(r"i-([0-9a-f]{8}|[0-9a-f]{17})")

MOST_VALUES = 200
"""Values of a filter (EC2 API reference, Filter)."""


def check_instance_ids(instance_ids: list[str], known: Iterable[str]) -> None:
    """One id that is malformed or unknown fails the whole call."""
    for instance_id in instance_ids:
        if not _INSTANCE_ID.fullmatch(instance_id):
            msg = f'Invalid id: "{instance_id}"'
            raise Ec2Error("InvalidInstanceID.Malformed", msg)
    unknown = sorted(set(instance_ids) - set(known))
    if len(unknown) == 1:
        msg = f"The instance ID '{unknown[0]}' does not exist"
        raise Ec2Error("InvalidInstanceID.NotFound", msg)
    if unknown:
        msg = f"The instance IDs '{', '.join(unknown)}' do not exist"
        raise Ec2Error("InvalidInstanceID.NotFound", msg)


def matching(instances: list[tuple[str, Any]], parameters: dict[str, str]) -> list[str]:
    """The ids of the (reservation id, moto instance) pairs that pass every `Filter.n`."""
    filters = [
        (asked.get("Name", ""), listed(asked, "Value"))
        for asked in structures(parameters, "Filter")
    ]
    if any(len(values) > MOST_VALUES for _, values in filters):
        msg = f"The maximum number of filter values specified on a single call is {MOST_VALUES}"
        raise Ec2Error("FilterLimitExceeded", msg)
    for name, _ in filters:
        if not (name.startswith("tag:") or name in _ATTRIBUTES or name in _OTHERS):
            raise Ec2Error("InvalidParameterValue", f"The filter '{name}' is invalid")
    return [
        instance.id
        for reservation, instance in instances
        if all(_passes(reservation, instance, name, values) for name, values in filters)
    ]


def _passes(reservation: str, instance: Any, name: str, wanted: list[str]) -> bool:
    return any(
        fnmatchcase(value, pattern.replace("[", "[[]"))
        for value in _values(reservation, instance, name)
        for pattern in wanted
    )


def _values(reservation: str, instance: Any, name: str) -> list[str]:
    tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
    if name.startswith("tag:"):
        key = name.removeprefix("tag:")
        return [tags[key]] if key in tags else []
    if name == "tag-key":
        return list(tags)
    if name.endswith("group-id"):
        return [group.id for nic in instance.nics.values() for group in nic.group_set]
    if name == "instance-lifecycle":
        return [instance.lifecycle] if instance.lifecycle else []
    if name == "launch-time":
        at = instance.launch_time
        return [at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"]
    if name == "iam-instance-profile.arn":
        held = instance.ec2_backend.iam_instance_profile_associations.get(instance.id)
        return [held.iam_instance_profile.arn] if held else []
    if name == "reservation-id":
        return [reservation]
    value = instance
    for step in _ATTRIBUTES[name].split("."):
        value = getattr(value, step, None)
    if value is None:
        return []
    return [str(value).lower() if isinstance(value, bool) else str(value)]


_OTHERS = {
    "group-id",
    "iam-instance-profile.arn",
    "instance-lifecycle",
    "instance.group-id",
    "launch-time",
    "network-interface.group-id",
    "reservation-id",
    "tag-key",
}
_ATTRIBUTES = {
    "architecture": "architecture",
    "availability-zone": "placement.zone",
    "client-token": "client_token",
    "dns-name": "public_dns_name",
    "image-id": "image_id",
    "instance-id": "id",
    "instance-state-code": "state_code",
    "instance-state-name": "state",
    "instance-type": "instance_type",
    "ip-address": "public_ip",
    "key-name": "key_name",
    "launch-index": "ami_launch_index",
    "metadata-options.http-tokens": "metadata_options.http_tokens",
    "monitoring-state": "monitoring_state",
    "owner-id": "owner_id",
    "private-dns-name": "private_dns_name",
    "private-ip-address": "private_ip",
    "root-device-name": "root_device_name",
    "root-device-type": "root_device_type",
    "source-dest-check": "source_dest_check",
    "state-reason-code": "state_reason.code",
    "subnet-id": "subnet_id",
    "virtualization-type": "virtualization_type",
    "vpc-id": "vpc_id",
}
