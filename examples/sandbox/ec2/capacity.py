"""Whether EC2 has room for a launch, as the rules say it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from sandbox.ec2.errors import Ec2Error
from sandbox.ec2.launch import Launch
from sandbox.ec2.rules import Place, Rules


def admit(
    launch: Launch, rules: Rules, living: Callable[[], Collection[Place]]
) -> tuple[int, Place]:
    """How many instances there is capacity for, and where. Raises Ec2Error when for too few."""
    refused: Ec2Error | None = None
    for zone in launch.zones:
        place = replace(launch.place, zone=zone)
        if refusal := rules.refusal(place):
            text = refusal.message or explain(refusal.code, place)
            refused = Ec2Error(refusal.code, text)
            continue
        count = launch.maximum
        for rule in rules.slots(place):
            count = min(count, rule.slots - sum(rule.matches(other) for other in living()))
        if count >= launch.minimum:
            return count, place
        code = "InsufficientInstanceCapacity"
        refused = Ec2Error(code, explain(code, place))
    assert refused is not None
    raise refused


def explain(code: str, place: Place) -> str:
    """EC2's text for a refusal."""
    kind, zone = place.instance_type, place.zone
    texts = {
        "InsufficientInstanceCapacity": (
            f"We currently do not have sufficient {kind} capacity in the Availability Zone you "
            f"requested ({zone}). Our system will be working on provisioning additional capacity."
        ),
        "VcpuLimitExceeded": (
            "You have requested more vCPU capacity than your current vCPU limit of 0 allows for "
            "the instance bucket that the specified instance type belongs to. Please visit "
            "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."
        ),
        "Unsupported": (
            f"Your requested instance type ({kind}) is not supported in your requested "
            f"Availability Zone ({zone})."
        ),
        "MaxSpotInstanceCountExceeded": "Max spot instance count exceeded",
        "RequestLimitExceeded": "Request limit exceeded.",
        "InsufficientFreeAddressesInSubnet": (
            f"The specified subnet '{place.subnet}' does not have enough free addresses to "
            "satisfy the request."
        ),
    }
    return texts.get(code, f"The sandbox refuses {kind} with {code}.")
