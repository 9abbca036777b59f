"""RunInstances as EC2 does it: what moto accepts or ignores, put right in front of it.

Messages are EC2's own where they are known, since actions and people search for them.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import re
from dataclasses import dataclass
from typing import Any

from sandbox.ec2 import backend
from sandbox.ec2.errors import Ec2Error
from sandbox.ec2.rules import Place
from sandbox.ec2.wire import Request, listed, structures

USER_DATA_LIMIT = 16384  # bytes before base64 (EC2 user guide, "user data")
_IMAGE_ID = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")
_TAGGABLE = {"instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu"}


@dataclass(frozen=True)
class Launch:
    """A request that is in order: what to ask moto for, and what the boot needs."""

    minimum: int
    maximum: int
    image: Any  # moto's image
    place: Place
    zones: tuple[str, ...]  # where EC2 may launch; one when the request says where
    named_zone: bool  # the request says where: a subnet or a zone
    user_data: str
    shutdown_behaviour: str  # "stop" or "terminate"
    parameters: dict[str, str]


def check(request: Request) -> Launch:
    """Check the whole request, without launching anything. Raises Ec2Error."""
    minimum, maximum = _counts(request)
    _tags(request)
    models = backend.models(request.region)
    image = _image(models, request)
    instance_type = _instance_type(request, image)
    subnet = _network(models, request)
    zones = _zones(models, request, instance_type, subnet)
    _profile(request)
    if len(request.text("ClientToken")) > 64:
        msg = "Client token must not be longer than 64 characters"
        raise Ec2Error("InvalidParameterValue", msg)
    behaviour = request.text("InstanceInitiatedShutdownBehavior") or "stop"
    if behaviour not in ("stop", "terminate"):
        raise Ec2Error(
            "InvalidParameterValue",
            f"Value ({behaviour}) for parameter instanceInitiatedShutdownBehavior is invalid.",
        )
    changed = ("BlockDeviceMapping", "MinCount", "MaxCount", "ImageId", "LaunchTemplate")
    parameters = request.without(*changed)
    if request.text("InstanceMarketOptions.MarketType") == "on-demand":  # moto takes any for spot
        parameters = {k: v for k, v in parameters.items() if not k.startswith("InstanceMarket")}
    parameters |= {"ImageId": image.id, "InstanceType": instance_type}
    parameters |= _volumes(request, image)
    return Launch(
        minimum, maximum, image,
        Place(
            instance_type, subnet.id if subnet else "", zones[0] if len(zones) == 1 else "",
            request.text("InstanceMarketOptions.MarketType") or "on-demand",
        ),
        zones, subnet is not None or bool(request.text("Placement.AvailabilityZone")),
        _user_data(request), behaviour, parameters,
    )  # fmt: skip


def _counts(request: Request) -> tuple[int, int]:
    for name in ("MinCount", "MaxCount"):
        if not request.text(name):
            msg = f"The request must contain the parameter {name}"
            raise Ec2Error("MissingParameter", msg)
        if request.number(name, 0) < 1:
            msg = f"Value ({request.text(name)}) for parameter {name} is invalid."
            raise Ec2Error("InvalidParameterValue", msg)
    minimum, maximum = request.number("MinCount", 1), request.number("MaxCount", 1)
    if minimum > maximum:
        msg = f"MinCount ({minimum}) must not be greater than MaxCount ({maximum})"
        raise Ec2Error("InvalidParameterCombination", msg)
    return minimum, maximum


def _tags(request: Request) -> None:
    for specification in request.structures("TagSpecification"):
        kind = specification.get("ResourceType", "")
        if kind not in _TAGGABLE:
            msg = f"'{kind}' is not a valid taggable resource type for this operation."
            raise Ec2Error("InvalidParameterValue", msg)
        tags = structures(specification, "Tag")
        for tag in tags:
            key, value = tag.get("Key", ""), tag.get("Value", "")
            if key.lower().startswith("aws:"):
                msg = "Tag keys starting with 'aws:' are reserved for internal use"
                raise Ec2Error("InvalidParameterValue", msg)
            if not 1 <= len(key) <= 128:
                msg = f"Tag key ('{key}') must be 1 to 128 characters long"
                raise Ec2Error("InvalidParameterValue", msg)
            if len(value) > 256:
                msg = f"Tag value of '{key}' exceeds the maximum length of 256 characters"
                raise Ec2Error("InvalidParameterValue", msg)
        keys = [tag.get("Key", "") for tag in tags]
        if doubled := sorted({key for key in keys if keys.count(key) > 1}):
            msg = f"Duplicate tag key '{doubled[0]}' specified."
            raise Ec2Error("InvalidParameterValue", msg)


def _image(models: Any, request: Request) -> Any:
    image_id = request.text("ImageId")
    if not image_id:
        raise Ec2Error("MissingParameter", "The request must contain the parameter ImageId")
    if image_id.startswith("resolve:ssm:"):
        image_id = _resolved(request, image_id.removeprefix("resolve:ssm:"))
    check_image_ids([image_id])
    image = models.amis.get(image_id)
    if image is None:
        raise Ec2Error("InvalidAMIID.NotFound", f"The image id '[{image_id}]' does not exist")
    return image


def check_image_ids(image_ids: list[str]) -> None:
    for image_id in image_ids:
        if not _IMAGE_ID.fullmatch(image_id):
            msg = f'Invalid id: "{image_id}" (expecting "ami-...")'
            raise Ec2Error("InvalidAMIID.Malformed", msg)


def _resolved(request: Request, name: str) -> str:
    path, _, selector = name.partition(":")
    found = backend.parameters(request.region).get_parameter(name)
    if found is None:
        msg = (
            f"Parameter {path} does not exist or you do not have permission to access it."
            if not selector
            else f"Parameter {path} has no version or label {selector}."
        )
        raise Ec2Error("InvalidParameterValue", msg)
    return str(found.value).strip()


def _instance_type(request: Request, image: Any) -> str:
    instance_type = request.text("InstanceType") or "m1.small"
    known = backend.instance_types().get(instance_type)
    if known is None:
        msg = f"Invalid value '{instance_type}' for InstanceType."
        raise Ec2Error("InvalidParameterValue", msg)
    supported = known["ProcessorInfo"]["SupportedArchitectures"]
    if image.architecture and image.architecture not in supported:
        raise Ec2Error(
            "InvalidParameterValue",
            f"The architecture '{','.join(supported)}' of the specified instance type does not "
            f"match the architecture '{image.architecture}' of the specified AMI. Specify an "
            "instance type and an AMI that have matching architectures, and try again. You can "
            "use 'describe-instance-types' or 'describe-images' to discover the architecture of "
            "the instance type or AMI.",
        )
    return instance_type


def _network(models: Any, request: Request) -> Any:
    """The subnet, when the request names one."""
    interfaces = request.structures("NetworkInterface")
    first = interfaces[0] if interfaces else {}
    for parameter, name in (("SubnetId", "subnet ID"), ("SecurityGroupId.1", "security groups")):
        if interfaces and request.text(parameter):
            msg = (
                f"Network interfaces and an instance-level {name} may not be specified on the same "
                "request"
            )
            raise Ec2Error("InvalidParameterCombination", msg)
    subnet_id = request.text("SubnetId") or first.get("SubnetId", "")
    groups = request.listed("SecurityGroupId") + listed(first, "SecurityGroupId")
    subnet = None
    if subnet_id:
        from moto.ec2.exceptions import InvalidSubnetIdError

        try:
            subnet = models.get_subnet(subnet_id)
        except InvalidSubnetIdError:
            msg = f"The subnet ID '{subnet_id}' does not exist"
            raise Ec2Error("InvalidSubnetID.NotFound", msg) from None
    for group_id in groups:
        group = models.get_security_group_from_id(group_id)
        if group is None:
            msg = f"The security group '{group_id}' does not exist"
            raise Ec2Error("InvalidGroup.NotFound", msg)
        place = subnet.id if subnet else "the default subnet"
        if group.vpc_id != (subnet.vpc_id if subnet else models.default_vpc.id):
            raise Ec2Error(
                "InvalidParameter",
                f"Security group {group_id} and subnet {place} belong to different networks.",
            )
    return subnet


def _zones(models: Any, request: Request, instance_type: str, subnet: Any) -> tuple[str, ...]:
    offered = backend.zones_offering(request.region, instance_type)
    if not offered:
        raise Ec2Error(
            "Unsupported",
            "The requested configuration is currently not supported. Please check the "
            "documentation for supported configurations.",
        )
    zone = subnet.availability_zone if subnet else request.text("Placement.AvailabilityZone")
    if not zone:
        return tuple(sorted(set(models.get_default_subnets()) & offered))
    if zone not in offered:
        others = ", ".join(sorted(offered))
        raise Ec2Error(
            "Unsupported",
            f"Your requested instance type ({instance_type}) is not supported in your requested "
            f"Availability Zone ({zone}). Please retry your request by not specifying an "
            f"Availability Zone or choosing {others}.",
        )
    return (str(zone),)


def _profile(request: Request) -> None:
    for field, text in (("Name", "name"), ("Arn", "ARN")):
        value = request.text(f"IamInstanceProfile.{field}")
        if not value:
            continue
        name, arn = (value, "") if field == "Name" else ("", value)
        if backend.profile(name, arn) is None:
            raise Ec2Error(
                "InvalidParameterValue",
                f"Value ({value}) for parameter iamInstanceProfile.{field.lower()} is invalid. "
                f"Invalid IAM Instance Profile {text}",
            )


def _volumes(request: Request, image: Any) -> dict[str, str]:
    """The block devices in full: moto takes 8 GiB on /dev/sda1 for whatever is not said."""
    [root] = image.block_device_mappings
    devices = {
        root["DeviceName"]: {
            "Ebs.SnapshotId": root["Ebs"]["SnapshotId"],
            "Ebs.VolumeSize": str(root["Ebs"]["VolumeSize"]),
            "Ebs.VolumeType": root["Ebs"]["VolumeType"],
            "Ebs.DeleteOnTermination": "true",
        }
    }
    for asked in request.structures("BlockDeviceMapping"):
        name = asked.get("DeviceName", "")
        if name == root["DeviceName"]:
            size = asked.get("Ebs.VolumeSize", "")
            if size.isdigit() and int(size) < root["Ebs"]["VolumeSize"]:
                raise Ec2Error(
                    "InvalidBlockDeviceMapping",
                    f"Volume of size {size}GB is smaller than snapshot "
                    f"'{root['Ebs']['SnapshotId']}', expect size >= {root['Ebs']['VolumeSize']}GB",
                )
        devices[name] = devices.get(name, {"Ebs.DeleteOnTermination": "true"}) | {
            key: value for key, value in asked.items() if key != "DeviceName"
        }
    flat: dict[str, str] = {}
    for number, (name, device) in enumerate(devices.items(), 1):
        flat[f"BlockDeviceMapping.{number}.DeviceName"] = name
        flat |= {f"BlockDeviceMapping.{number}.{key}": value for key, value in device.items()}
    return flat


def _user_data(request: Request) -> str:
    encoded = request.text("UserData")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        msg = "Invalid BASE64 encoding of user data."
        raise Ec2Error("InvalidUserData.Malformed", msg) from None
    if len(raw) > USER_DATA_LIMIT:
        msg = f"User data is limited to {USER_DATA_LIMIT} bytes"
        raise Ec2Error("InvalidParameterValue", msg)
    if raw.startswith(b"\x1f\x8b"):  # cloud-init takes gzip, too
        raw = gzip.decompress(raw)
    return raw.decode("utf-8", "replace")
