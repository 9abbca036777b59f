"""What kind of machine an instance is: its image, volumes, network, permissions and tags."""

from __future__ import annotations

from dataclasses import dataclass

from runner_fleet.ec2_template import TemplateName
from runner_fleet.ec2_volumes import Volumes
from runner_fleet.provisioning.inputs import InputReader
from runner_fleet.provisioning.options.volumes import volumes

_OWNER = "amazon"  # of images, without more
_TAG_LIMIT = 50  # tags a resource may have (EC2 user guide, tag restrictions)
_OWN_TAGS = 10  # those of identity.Fleet.tags, and Name


@dataclass(frozen=True)
class Machine:
    template: TemplateName | None
    image_ids: dict[str, tuple[str, ...]]  # by region ("": every one): ami-…, "latest",
    # "resolve:ssm:…"; exactly one each. Empty: the template's
    image_name: str
    image_owner: str
    security_group_ids: dict[str, tuple[str, ...]]  # by region, "" for every one
    instance_profile: str
    volumes: Volumes
    hop_limit: int
    public_ip: bool | None  # None: as the subnet says
    tags: dict[str, str]


def machine(read: InputReader) -> Machine:
    template = _template(read)
    image_ids, image_name = _image(read)
    image_owner = read.matching(
        "aws_image_owner",
        r"[0-9]{12}|self|amazon|aws-marketplace|aws-backup-vault",
        "an account id of 12 digits, or one of self, amazon, aws-marketplace",
        default=_OWNER,
    )
    named = image_name or ("latest",) in image_ids.values()
    if image_owner != _OWNER and not named and (image_ids or template):
        read.problem("aws_image_owner", "has no effect without aws_image_name")
    return Machine(
        template=template,
        image_ids=image_ids,
        image_name=image_name,
        image_owner=image_owner,
        security_group_ids=read.by_region(
            "aws_security_group_id",
            r"sg-[0-9a-f]{8,17}",
            "a security group id (sg-0123456789abcdef0)",
        ),
        instance_profile=_instance_profile(read),
        volumes=volumes(read),
        hop_limit=read.integer("metadata_hop_limit", 1, maximum=64),
        public_ip=(
            read.boolean("associate_public_ip") if read.text("associate_public_ip") else None
        ),
        tags=_tags(read),
    )


def _template(read: InputReader) -> TemplateName | None:
    value = read.matching(
        "aws_launch_template",
        r"[A-Za-z0-9().\-/_]{3,128}(:([0-9]{1,9}|\$Latest|\$Default))?",
        "a launch template's name or id, or that with :version ($Latest, $Default or a number)",
    )
    name, _, version = value.partition(":")
    return TemplateName(name, version or "$Default") if name else None


def _image(read: InputReader) -> tuple[dict[str, tuple[str, ...]], str]:
    """`aws_image_id` and `aws_image_name`: one of them is needed, but for a template with one."""
    before, by_template = len(read.problems), bool(read.text("aws_launch_template"))
    image_ids = read.by_region(
        "aws_image_id",
        r"ami-[0-9a-f]{8,17}|latest|resolve:ssm:[A-Za-z0-9_.:/-]+",
        "an image id (ami-0123456789abcdef0), 'latest' or 'resolve:ssm:/name/of/parameter'",
    )
    if any(len(ids) > 1 for ids in image_ids.values()):
        read.problem("aws_image_id", "takes one image (for each region)")
    image_name = read.text("aws_image_name")
    if image_name and not image_ids:
        image_ids = {"": ("latest",)}
    if ("latest",) in image_ids.values() and not image_name:
        read.problem(
            "aws_image_name", "is required with aws_image_id 'latest': how its name begins"
        )
    elif not image_ids and not by_template and len(read.problems) == before:
        read.problem("aws_image_id", "is required (or aws_image_name, for the newest of that name)")
    return image_ids, image_name


def _tags(read: InputReader) -> dict[str, str]:
    tags = read.tags("aws_tags")
    if len(tags) > _TAG_LIMIT - _OWN_TAGS:
        read.problem("aws_tags", f"{len(tags)} tags; {_TAG_LIMIT - _OWN_TAGS} are allowed")
    return tags


def _instance_profile(read: InputReader) -> str:
    name = "aws_iam_role"
    value = read.text(name)
    if value.startswith("arn:") and ":instance-profile/" not in value:
        read.problem(name, "takes an instance profile's name or ARN; this ARN is of something else")
    return read.matching(
        name, r"arn:[\w-]+:iam::[0-9]{12}:[\w+=,.@/-]+|[\w+=,.@-]{1,128}", "an instance profile"
    )
