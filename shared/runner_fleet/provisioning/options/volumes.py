"""What the volumes of an instance are to be like."""

from __future__ import annotations

from runner_fleet.ec2_volumes import DEFAULT_TYPE, Volumes
from runner_fleet.provisioning.inputs import InputReader

_IOPS_OF_GP3 = 3000  # without more

# Volume types that can be a root volume, with their IOPS (EC2 API reference, EbsBlockDevice; the
# EBS user guide, "Amazon EBS volume types": st1 and sc1 cannot). None: it has a fixed relation.
_IOPS: dict[str, tuple[int, int] | None] = {
    "gp3": (_IOPS_OF_GP3, 80_000),
    "gp2": None,
    "io1": (100, 64_000),
    "io2": (100, 256_000),
    "standard": None,
}
_THROUGHPUT = (125, 2000)  # MiB/s, of gp3
_IOPS_PER_THROUGHPUT = 4
"""At least, for each MiB/s of a gp3 volume (the EBS user guide, "General Purpose SSD volumes")."""

_KMS_KEY = (
    r"(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|alias/[\w/-]{1,250}"
    r"|arn:[\w-]+:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/[\w/-]{1,250})"
)


def volumes(read: InputReader) -> Volumes:
    kind = _type(read)
    iops, throughput = _iops(read, kind or DEFAULT_TYPE), _throughput(read, kind or DEFAULT_TYPE)
    # A launch template may give more than the least IOPS.
    known = iops or (None if read.text("aws_launch_template") else _IOPS_OF_GP3)
    unknown = read.wrong("aws_root_device_iops")
    if throughput and known and throughput * _IOPS_PER_THROUGHPUT > known and not unknown:
        read.problem(
            "aws_root_device_throughput",
            f"{throughput} MiB/s need aws_root_device_iops of at least "
            f"{throughput * _IOPS_PER_THROUGHPUT}; it is {known}",
        )
    encrypted = read.boolean("aws_root_device_encrypted", default=True)
    key = read.matching(
        "aws_root_device_kms_key", _KMS_KEY, "a KMS key's id, ARN or alias (alias/name)"
    )
    size = read.integer("aws_root_device_size", 0, absent="leave it out for the image's size")
    return Volumes(size or None, kind, iops, throughput, encrypted, key)


def _type(read: InputReader) -> str:
    name = "aws_root_device_type"
    if read.text(name) in ("st1", "sc1"):
        read.problem(name, f"{read.text(name)} cannot be a root volume: take gp3")
        return ""
    return read.matching(name, "|".join(_IOPS), f"one of {', '.join(_IOPS)}")


def _iops(read: InputReader, kind: str) -> int | None:
    name = "aws_root_device_iops"
    limits = _IOPS[kind]
    if read.wrong("aws_root_device_type"):
        return None
    if not read.text(name):
        if kind in ("io1", "io2"):
            read.problem(name, f"is required for a volume of type {kind}")
        return None
    if limits is None:
        read.problem(name, f"a volume of type {kind} takes none: choose gp3, io1 or io2")
        return None
    return read.integer(name, 0, minimum=limits[0], maximum=limits[1]) or None


def _throughput(read: InputReader, kind: str) -> int | None:
    name = "aws_root_device_throughput"
    if read.wrong("aws_root_device_type"):
        return None
    if read.text(name) and kind != "gp3":
        read.problem(name, f"a volume of type {kind} takes none: only gp3 does")
        return None
    return read.integer(name, 0, minimum=_THROUGHPUT[0], maximum=_THROUGHPUT[1]) or None
