"""Which image to boot: decided from what EC2 lists."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Image
from runner_fleet.errors import InputError, gathered
from runner_fleet.provisioning.options.aws import of_region
from runner_fleet.provisioning.options.machine import Machine

_RESOLVE = "resolve:ssm:"
_RUNNABLE = ("x86_64", "arm64")  # the architectures GitHub builds a runner for


def choose_images(
    ec2: Ec2, options: Machine, supported: Mapping[str, Sequence[str]]
) -> dict[str, Image]:
    """By instance type the image of the options that fits it.

    `supported` are the architectures of each type that the region has; there may be none. Raises
    `InputError` with all that is wrong, and `CloudError` when EC2 refuses to say.
    """
    (image_id,) = of_region(options.image_ids, ec2.region) or ("",)
    if image_id == "latest":
        found = ec2.images_by_name(options.image_owner, options.image_name)
        if not found:
            near = nearest_names(ec2, options)
            hint = f"; nearest: {', '.join(map(repr, near))}" if near else ""
            msg = f"{_no_image(ec2, options)}{hint}"
            raise InputError(msg)
    else:
        if image_id.startswith(_RESOLVE):
            image_id = ec2.parameter(image_id.removeprefix(_RESOLVE))
        found = [ec2.image_by_id(image_id)]
    images: dict[str, Image] = {}
    problems: list[str] = []
    for name, architectures in supported.items():
        with gathered(problems):
            images[name] = _chosen(ec2, options, name, found, architectures, image_id)
    if problems:
        raise InputError(*dict.fromkeys(problems))
    return images


def _chosen(
    ec2: Ec2,
    options: Machine,
    instance_type: str,
    found: Sequence[Image],
    supported: Sequence[str],
    image_id: str,
) -> Image:
    image = newest(found, supported) if image_id == "latest" else found[0]
    if image is None:
        raise InputError(_no_match(ec2, options, instance_type, found, supported))
    return _fit(image, options, instance_type, supported)


def newest(images: Sequence[Image], architectures: Sequence[str]) -> Image | None:
    """The newest image that runs on one of the architectures; the id decides between equals.

    A Windows image is taken only for a name that finds nothing else.
    """
    windows = all(image.windows for image in images)
    fit = [
        image
        for image in images
        if image.architecture in architectures and image.windows == windows
    ]
    return max(fit, key=lambda image: (image.created, image.id), default=None)


def _fit(image: Image, options: Machine, instance_type: str, architectures: Sequence[str]) -> Image:
    """The image; `InputError` with everything that speaks against booting it."""
    reasons = []
    if image.architecture not in architectures:
        reasons.append(
            f"image {image.id} is built for {image.architecture}, and {instance_type} "
            f"runs {' or '.join(architectures)}"
        )
    elif image.architecture not in _RUNNABLE:
        reasons.append(f"GitHub has no runner for {image.architecture} (image {image.id})")
    size = options.volumes.size
    if size is not None and size < image.root_size:
        reasons.append(
            f"aws_root_device_size: {size} GiB is smaller than the root volume of "
            f"{image.id} ({image.root_size} GiB)"
        )
    if reasons:
        raise InputError(*reasons)
    return image


def _no_image(ec2: Ec2, options: Machine) -> str:
    return (
        f"aws_image_name: no available image of {options.image_owner} in {ec2.region} has a name "
        f"that begins with {options.image_name!r}"
    )


def _no_match(
    ec2: Ec2,
    options: Machine,
    instance_type: str,
    found: Sequence[Image],
    supported: Sequence[str],
) -> str:
    architectures = sorted({image.architecture for image in found})
    return (
        f"{_no_image(ec2, options)} and runs on {instance_type} ({' or '.join(supported)}); there "
        f"are {len(found)} for {' and '.join(architectures)}"
    )


def nearest_names(ec2: Ec2, options: Machine) -> list[str]:
    """Three names, at most, of images that the user may have meant, nearest first.

    Those of several dates count once. Looks only among names that begin like the given one,
    whatever the case: that takes a second, where listing all public images takes a minute.
    """
    stem = options.image_name[:4].rstrip()
    found = ec2.images_by_name(options.image_owner, stem, stem.lower(), stem.title(), stem.upper())
    by_age = sorted(found, key=lambda image: (image.created, image.id))
    names = {_without_date(image.name.lower()): image.name for image in by_age}
    wanted = _without_date(options.image_name.lower())
    near = difflib.get_close_matches(wanted, sorted(names), n=3, cutoff=0.3)
    return [names[name] for name in near]


def _without_date(name: str) -> str:
    """An image's name without the date or version at its end."""
    return re.sub(r"(?<=.)[ _-]+v?[0-9][0-9._-]*$", "", name)
