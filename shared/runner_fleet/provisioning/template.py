"""What a start takes from a launch template."""

from __future__ import annotations

from dataclasses import replace

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_template import LaunchTemplate
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.start import StartOptions


def with_template(ec2: Ec2, options: StartOptions) -> tuple[StartOptions, LaunchTemplate | None]:
    """The options, completed by the launch template of this region, and the template.

    Raises `CloudError` when there is none, `InputError` when image or type are still missing.
    """
    machine, placement = options.machine, options.placement
    if machine.template is None:
        return options, None
    template = ec2.launch_template(machine.template)
    template.check(public_ip=machine.public_ip)
    images = machine.image_ids or ({"": (template.image_id,)} if template.image_id else {})
    types = placement.instance_types or tuple(filter(None, (template.instance_type,)))
    missing = [
        f"{name}: is required, as launch template {machine.template} names none"
        for name, value in (("aws_image_id", images), ("aws_instance_type", types))
        if not value
    ]
    if missing:
        raise InputError(*missing)
    completed = replace(
        options,
        machine=replace(machine, image_ids=images),
        placement=replace(placement, instance_types=types),
    )
    return completed, template
