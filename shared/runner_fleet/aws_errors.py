"""What an AWS error means for the person who reads it: one line with its remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner_fleet.errors import THROTTLED, CloudError

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

NO_ROOM = frozenset(
    {
        "InsufficientInstanceCapacity",
        "InsufficientHostCapacity",
        "InsufficientCapacity",
        "InsufficientCapacityOnHost",
        "InsufficientReservedInstanceCapacity",
        "InsufficientReservedInstancesCapacity",
        "InsufficientVolumeCapacity",
        "InsufficientAddressCapacity",
        "InsufficientFreeAddressesInSubnet",
        "ReservationCapacityExceeded",
        "SpotMaxPriceTooLow",
        "UnfulfillableCapacity",
    }
)
"""No room here and now; somewhere else, or later, there may be (EC2 API reference, error codes)."""

NEVER_HERE = frozenset({"Unsupported", "InvalidInstanceType"})
"""What was asked for does not exist here; somewhere else it may."""

QUOTAS = frozenset({"VcpuLimitExceeded", "InstanceLimitExceeded", "MaxSpotInstanceCountExceeded"})
"""A quota of the account for instances is used up."""

_REMEDIES = {
    "InsufficientInstanceCapacity": "AWS has no free capacity for this type in this zone: try "
    "later, another subnet (zone) or another aws_instance_type",
    "InsufficientFreeAddressesInSubnet": "the subnet has too few free addresses: name another one "
    "in aws_subnet_id as well",
    "SpotMaxPriceTooLow": "the spot price is above the highest price allowed for it",
    "VcpuLimitExceeded": "a vCPU quota of the account is used up: raise it in Service Quotas, or "
    "end other instances",
    "InstanceLimitExceeded": "a quota of the account is used up: raise it in Service Quotas, or "
    "end other instances",
    "MaxSpotInstanceCountExceeded": "the account's spot quota, which is another one than for "
    "on-demand instances, is used up: raise it in Service Quotas, end other spot instances, or "
    "set market to on-demand",
    "AuthFailure.ServiceLinkedRoleCreationNotPermitted": "the account has never used spot "
    "instances: let an administrator run once 'aws iam create-service-linked-role "
    "--aws-service-name spot.amazonaws.com'",
    "RequestLimitExceeded": "AWS throttles this account's calls: try again in a minute",
    "InvalidAMIID.NotFound": "there is no such image in this region: image ids differ by region",
    "InvalidAMIID.Malformed": "an image id looks like ami-0123456789abcdef0",
    "InvalidAMIID.Unavailable": "the image is not available (any more)",
    "InvalidInstanceType": "there is no such instance type in this region",
    "InvalidSubnetID.NotFound": "aws_subnet_id: there is no such subnet in this region",
    "InvalidGroup.NotFound": "aws_security_group_id: there is no such group in this region",
    "InvalidGroupId.Malformed": "aws_security_group_id: an id looks like sg-0123456789abcdef0",
    "VPCIdNotSpecified": "the account has no default VPC in this region: set aws_subnet_id",
    "MissingInput": "the account has no default VPC in this region: set aws_subnet_id",
    "InvalidLaunchTemplateId.NotFound": "there is no such launch template in this region",
    "InvalidLaunchTemplateId.VersionNotFound": "the launch template has no such version",
    "InvalidLaunchTemplateName.NotFoundException": "there is no such launch template in this "
    "region",
    "InvalidBlockDeviceMapping": "aws_root_device_size must be at least the size of the image's "
    "root volume",
    "NoSuchEntity": "there is no such instance profile in this account",
    "ParameterNotFound": "there is no such SSM parameter in this region",
    "AuthFailure": "AWS does not accept the credentials: they are wrong or of another partition",
    "UnrecognizedClientException": "AWS does not accept the credentials",
    "InvalidClientTokenId": "AWS does not accept the credentials",
    "SignatureDoesNotMatch": "AWS does not accept the credentials: the secret key is wrong",
    "ExpiredToken": "the AWS credentials have expired: configure them anew in this job",
    "ExpiredTokenException": "the AWS credentials have expired: configure them anew in this job",
    "RequestExpired": "the AWS credentials have expired, or this machine's clock is wrong",
    "OperationNotPermitted": "an instance is protected from termination: take the protection away, "
    "and it can be stopped",
    "Unsupported": "this zone does not offer the type: try another subnet",
}

DENIED = frozenset({"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"})
_UNKNOWN_IDS = frozenset({"InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"})


def explain(error: ClientError, what: str) -> CloudError:
    """The error as one line; `what` says what was asked for."""
    details = error.response.get("Error", {})
    code = details.get("Code", "")
    # An encoded authorization message is long, and useless without a permission to decode it.
    message = details.get("Message", "").partition("Encoded authorization failure message")[0]
    message = " ".join(message.split()).rstrip(".")
    operation = error.operation_name
    if code in DENIED:
        denied = re.search(r"perform: ([\w-]+:\w+)", message)
        permission = denied[1] if denied else f"ec2:{operation}"
        remedy = f"the AWS role or user lacks the permission {permission} (see the action's README)"
    elif "belong to different networks" in message:
        remedy = "aws_subnet_id and aws_security_group_id must be of the same VPC"
    elif "Invalid IAM Instance Profile" in message:
        remedy = "aws_iam_role takes the name or ARN of an instance profile, not of a role"
    else:
        remedy = _REMEDIES.get(code, "")
    text = f"{what}: AWS refused {operation} with {code}: {message}"
    unknown = _unknown_ids(error)
    return CloudError(
        f"{text}; {remedy}" if remedy else text,
        code,
        denied=code in DENIED,
        unclear=_failed(error) and code not in NO_ROOM | NEVER_HERE | QUOTAS | THROTTLED,
        unknown_ids=unknown,
        # As a word of its own, or at the end of an ARN.
        named_ids=() if unknown else tuple(re.findall(r"(?<![\w-])i-[0-9a-f]{8,17}\b", message)),
    )


def _failed(error: ClientError) -> bool:
    """Whether AWS itself failed, which it may tell by other codes than those it documents."""
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500


def _unknown_ids(error: ClientError) -> tuple[str, ...]:
    """The instance ids that an error names as unknown or malformed; empty for other errors."""
    details = error.response.get("Error", {})
    if details.get("Code") not in _UNKNOWN_IDS:
        return ()
    # "The instance IDs 'i-1, i-2' do not exist", "Invalid id: "x" (expecting "i-...")"
    quoted = re.findall(r"['\"]([^'\"]+)['\"]", details.get("Message", ""))
    return tuple(name.strip() for group in quoted for name in group.split(","))
