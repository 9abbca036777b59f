"""What an EC2, IAM or SSM call needs to be allowed, and whether it is.

The resources and condition keys are those of the service authorization reference ("Actions,
resources, and condition keys for Amazon EC2"), as far as policies for launching and ending
instances use them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sandbox.ec2 import backend
from sandbox.ec2.errors import Ec2Error
from sandbox.ec2.policies import Ask, allowed
from sandbox.ec2.records import Record
from sandbox.ec2.wire import Request, listed, structures

_ON_INSTANCES = {
    *("TerminateInstances", "StopInstances", "StartInstances", "RebootInstances"),
    "GetConsoleOutput",
}


def authorize(request: Request, records: dict[str, Record]) -> None:
    """Refuse a call that IAM does not allow, in the service's words. Raises Ec2Error.

    RunInstances needs more than its own name: `ec2:CreateTags` for tags, `iam:PassRole` for the
    role of an instance profile, `ssm:GetParameters` for an image named by a parameter.
    """
    if not backend.iam_is_enforced():
        return
    arn, policies = backend.caller(request)
    for ask in _needed(request, records):
        if not allowed(policies, ask):
            raise _refusal(request.service, arn, ask)


def _refusal(service: str, arn: str, ask: Ask) -> Ec2Error:
    text = f"User: {arn} is not authorized to perform: {ask.action}"
    if ask.resource != "*":
        text += f" on resource: {ask.resource}"
    text += f" because no identity-based policy allows the {ask.action} action"
    if service in ("ssm", "pricing"):
        return Ec2Error("AccessDeniedException", text, 400)
    if service == "iam":
        return Ec2Error("AccessDenied", text, 403)
    return Ec2Error(
        "UnauthorizedOperation", f"You are not authorized to perform this operation. {text}"
    )


def _needed(request: Request, records: dict[str, Record]) -> Iterator[Ask]:
    action = f"{request.service}:{request.operation}"
    if request.service == "ssm":
        yield from (Ask(action, arn) for arn in _parameters(request))
    elif request.operation == "GetInstanceProfile":
        name = request.text("InstanceProfileName")
        yield Ask(action, f"arn:aws:iam::{backend.ACCOUNT}:instance-profile/{name}")
    elif request.operation == "RunInstances":
        yield from _launch(request)
    elif request.operation in _ON_INSTANCES:
        yield from _on_instances(request, action, records)
    else:
        yield Ask(action, "*", _common(request))


def _common(request: Request) -> dict[str, list[str]]:
    return {"aws:RequestedRegion": [request.region], "ec2:Region": [request.region]}


def _arn(request: Request, resource: str, account: str = backend.ACCOUNT) -> str:
    return f"arn:aws:ec2:{request.region}:{account}:{resource}"


def _parameters(request: Request) -> list[str]:
    try:
        body = json.loads(request.body or b"{}")
    except ValueError:
        body = {}
    names = [str(name) for name in [body.get("Name"), *body.get("Names", [])] if name]
    return [_parameter(request, name) for name in names] or ["*"]


def _parameter(request: Request, name: str) -> str:
    path = name.split(":", maxsplit=1)[0].lstrip("/")
    account = "" if path.startswith("aws/") else backend.ACCOUNT
    return f"arn:aws:ssm:{request.region}:{account}:parameter/{path}"


def _tags(request: Request, kind: str) -> dict[str, str]:
    return {
        tag.get("Key", ""): tag.get("Value", "")
        for specification in request.structures("TagSpecification")
        if specification.get("ResourceType") == kind
        for tag in structures(specification, "Tag")
    }


def _requested(tags: dict[str, str]) -> dict[str, list[str]]:
    keys = {"aws:TagKeys": list(tags)} if tags else {}
    return keys | {f"aws:RequestTag/{key}": [value] for key, value in tags.items()}


def _launch(request: Request) -> Iterator[Ask]:
    run, common = "ec2:RunInstances", _common(request)
    image, instance_type = request.text("ImageId"), request.text("InstanceType")
    if image.startswith("resolve:ssm:"):
        parameter = _parameter(request, image.removeprefix("resolve:ssm:"))
        yield Ask("ssm:GetParameters", parameter, common)
        image = "*"
    yield Ask(run, _arn(request, f"image/{image}", ""), common)
    for kind in ("instance", "volume", "network-interface"):
        context = common | _requested(_tags(request, kind))
        if kind == "instance":
            context["ec2:InstanceType"] = [instance_type]
        yield Ask(run, _arn(request, f"{kind}/*"), context)
    if template := request.text("LaunchTemplate.LaunchTemplateId"):
        yield Ask(run, _arn(request, f"launch-template/{template}"), common)
    if key := request.text("KeyName"):
        yield Ask(run, _arn(request, f"key-pair/{key}"), common)
    interfaces = request.structures("NetworkInterface")
    subnets = [request.text("SubnetId"), *(item.get("SubnetId", "") for item in interfaces)]
    for subnet in [name for name in subnets if name] or ["*"]:
        yield Ask(run, _arn(request, f"subnet/{subnet}"), common)
    if request.text("InstanceMarketOptions.MarketType") == "spot":
        yield Ask(run, _arn(request, "spot-instances-request/*"), common)
    groups = [group for item in interfaces for group in listed(item, "SecurityGroupId")]
    for group in request.listed("SecurityGroupId") + groups or ["*"]:
        yield Ask(run, _arn(request, f"security-group/{group}"), common)
    for kind in ("instance", "volume", "network-interface", "spot-instances-request"):
        if tags := _tags(request, kind):
            context = common | _requested(tags) | {"ec2:CreateAction": ["RunInstances"]}
            yield Ask("ec2:CreateTags", _arn(request, f"{kind}/*"), context)
    yield from _pass_role(request)


def _pass_role(request: Request) -> Iterator[Ask]:
    name, arn = request.text("IamInstanceProfile.Name"), request.text("IamInstanceProfile.Arn")
    profile: Any = backend.profile(name, arn) if name or arn else None
    for role in profile.roles if profile else ():
        yield Ask("iam:PassRole", role.arn, {"iam:PassedToService": ["ec2.amazonaws.com"]})


def _on_instances(request: Request, action: str, records: dict[str, Record]) -> Iterator[Ask]:
    """One question an instance; that an id is unknown is found out later, by those who may."""
    for instance_id in request.listed("InstanceId") or [request.text("InstanceId")]:
        record = records.get(instance_id)
        context = _common(request)
        for tag in record.model.get_tags() if record else ():
            context[f"aws:ResourceTag/{tag['key']}"] = [tag["value"]]
            context[f"ec2:ResourceTag/{tag['key']}"] = [tag["value"]]
        yield Ask(action, _arn(request, f"instance/{instance_id}"), context)
