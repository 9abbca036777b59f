"""Launch templates: a RunInstances request with what its template adds.

"Any additional parameters that you specify for the new instance overwrite the corresponding
parameters included in the launch template" (EC2 API reference, RunInstances): whole parameters,
a list as a whole.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from sandbox.ec2 import backend
from sandbox.ec2.errors import Ec2Error
from sandbox.ec2.wire import Request


def applied(request: Request) -> Request:
    """The request with its template's parameters beside its own, the template named by its id.

    Raises Ec2Error when there is no such template or version.
    """
    asked = {
        key.removeprefix("LaunchTemplate."): value
        for key, value in request.parameters.items()
        if key.startswith("LaunchTemplate.")
    }
    if not asked:
        return request
    template = _template(backend.models(request.region), asked)
    version = _version(template, asked.get("Version") or "$Default")
    own = request.without("LaunchTemplate")
    given = {key.partition(".")[0] for key in own}
    added = {
        key: value
        for key, value in _flat(version.data).items()
        if key.partition(".")[0] not in given
    }
    named = {
        "LaunchTemplate.LaunchTemplateId": template.id,
        "LaunchTemplate.Version": str(version.number),
    }
    return replace(request, parameters=own | added | named)


def _template(models: Any, asked: dict[str, str]) -> Any:
    name, template_id = asked.get("LaunchTemplateName", ""), asked.get("LaunchTemplateId", "")
    if bool(name) == bool(template_id):
        msg = (
            "The request must contain exactly one of the parameters launch template ID or launch "
            "template name"
        )
        raise Ec2Error("InvalidParameterCombination" if name else "MissingParameter", msg)
    if name and name not in models.launch_template_name_to_ids:
        msg = f"The specified launch template, with template name {name}, does not exist."
        raise Ec2Error("InvalidLaunchTemplateName.NotFoundException", msg)
    template_id = template_id or models.launch_template_name_to_ids[name]
    if template_id not in models.launch_templates:
        msg = f"The specified launch template, with template ID {template_id}, does not exist."
        raise Ec2Error("InvalidLaunchTemplateId.NotFound", msg)
    return models.launch_templates[template_id]


def _version(template: Any, version: str) -> Any:
    fixed = {"$Latest": len(template.versions), "$Default": template.default_version_number}
    number = fixed.get(version) or (int(version) if version.isdigit() else 0)
    if not 1 <= number <= len(template.versions):
        msg = f"Could not find launch template version {version} for {template.id}."
        raise Ec2Error("InvalidLaunchTemplateId.VersionNotFound", msg)
    return template.versions[number - 1]


def _flat(data: dict[str, Any]) -> dict[str, str]:
    """A template's data as the query protocol writes it: its members are RunInstances'."""
    serializer, operation = _serializer()
    members = operation.input_shape.members
    known = {key: value for key, value in data.items() if key in members and value is not None}
    body: dict[str, Any] = serializer.serialize_to_request(known, operation)["body"]
    return {key: str(value) for key, value in body.items() if key not in ("Action", "Version")}


@cache
def _serializer() -> tuple[Any, Any]:
    import botocore.session
    from botocore.serialize import create_serializer

    model = botocore.session.Session().get_service_model("ec2")
    serializer = create_serializer("ec2", include_validation=False)
    return serializer, model.operation_model("RunInstances")
