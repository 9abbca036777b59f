"""Which of EC2's quotas a launch counts against, by instance type and market.

Names and codes are those of Service Quotas ("Amazon EC2 On-Demand Instances" and "Spot Instance
quotas" in the EC2 user guide). Quotas are counted in vCPUs, for each region.
"""

from __future__ import annotations

import re

_STANDARD = frozenset("acdhimrtz")

_ON_DEMAND = {
    "standard": ("Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "L-1216C47A"),
    "g": ("Running On-Demand G and VT instances", "L-DB2E81BA"),
    "p": ("Running On-Demand P instances", "L-417A185B"),
    "f": ("Running On-Demand F instances", "L-74FC7D96"),
    "x": ("Running On-Demand X instances", "L-7295265B"),
    "inf": ("Running On-Demand Inf instances", "L-1945791B"),
    "trn": ("Running On-Demand Trn instances", "L-2C3B7624"),
    "dl": ("Running On-Demand DL instances", "L-6E869C2A"),
    "hpc": ("Running On-Demand HPC instances", "L-F7808C92"),
    "u": ("Running On-Demand High Memory instances", "L-43DA4232"),
}
_SPOT = {
    "standard": ("All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "L-34B43A08"),
    "g": ("All G and VT Spot Instance Requests", "L-3819A6DF"),
    "p": ("All P4, P3 and P2 Spot Instance Requests", "L-7212CCBC"),
    "p5": ("All P5 Spot Instance Requests", "L-C4BD4855"),
    "f": ("All F Spot Instance Requests", "L-88CF9481"),
    "x": ("All X Spot Instance Requests", "L-E3A00192"),
    "inf": ("All Inf Spot Instance Requests", "L-B5D1601B"),
    "trn": ("All Trn Spot Instance Requests", "L-6B0D517C"),
    "dl": ("All DL Spot Instance Requests", "L-85EED4F7"),
}
_CONSOLES = {"cn": "console.amazonaws.cn", "us-gov": "console.amazonaws-us-gov.com"}


def where_to_raise(instance_type: str, market: str, region: str) -> str:
    """The quota's name and the page on which to raise it."""
    name, code = _quota(instance_type, market)
    prefix = next((prefix for prefix in _CONSOLES if region.startswith(f"{prefix}-")), "")
    console = _CONSOLES.get(prefix, "console.aws.amazon.com")
    page = f"https://{region}.{console}/servicequotas/home/services/ec2/quotas"
    if not name:
        return f"of {instance_type} at {page}"
    return f"'{name}' of {region} at {page}/{code}"


def _quota(instance_type: str, market: str) -> tuple[str, str]:
    quotas = _SPOT if market == "spot" else _ON_DEMAND
    letters = re.match(r"[a-z]*", instance_type)
    family = letters[0] if letters else ""
    if instance_type.startswith("p5") and market == "spot":
        family = "p5"
    elif family in _STANDARD or family in ("im", "is", "mac"):
        family = "standard"
    elif family in ("g", "gr", "vt"):
        family = "g"
    return quotas.get(family, ("", ""))
