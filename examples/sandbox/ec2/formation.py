"""CloudFormation: moto's, corrected where it differs."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from sandbox.ec2 import backend


@cache
def prepare() -> None:
    """Correct moto's CloudFormation, which takes some seconds to import."""
    backend.application()
    from moto.cloudformation import parsing

    with_gaps = parsing.clean_json

    def without_gaps(resource_json: Any, resources_map: Any) -> Any:
        """A list without what is AWS::NoValue, as CloudFormation makes it."""
        cleaned = with_gaps(resource_json, resources_map)
        if isinstance(cleaned, list):
            return [item for item in cleaned if item is not None]
        return cleaned

    parsing.clean_json = without_gaps  # it calls itself by this name
    _write_policies_as_text()
    _teach_oidc_provider()


def _write_policies_as_text() -> None:
    """moto keeps the policies of a role of CloudFormation as objects, which its IAM cannot read."""
    from moto.iam.models import Role

    made = Role.create_from_cloudformation_json.__func__  # type: ignore[attr-defined]

    def create(cls: Any, *arguments: Any, **more: Any) -> Any:
        role = made(cls, *arguments, **more)
        for name, policy in role.policies.items():
            if not isinstance(policy, str):
                role.policies[name] = json.dumps(policy)
        return role

    Role.create_from_cloudformation_json = classmethod(create)  # type: ignore[assignment]


def _teach_oidc_provider() -> None:
    """The resource AWS::IAM::OIDCProvider, whose `Ref` is its ARN; moto finds it by its base."""
    from moto.core.common_models import CloudFormationModel
    from moto.iam.models import iam_backends

    class Provider(CloudFormationModel):
        def __init__(self, arn: str) -> None:
            self.arn = arn

        @property
        def physical_resource_id(self) -> str:
            return self.arn

        @staticmethod
        def cloudformation_name_type() -> str:
            return ""

        @staticmethod
        def cloudformation_type() -> str:
            return "AWS::IAM::OIDCProvider"

        @classmethod
        def create_from_cloudformation_json(
            cls,
            resource_name: str,
            cloudformation_json: Any,
            account_id: str,
            region_name: str,
            **kwargs: Any,
        ) -> Provider:
            del resource_name, region_name, kwargs  # moto's signature
            wanted = cloudformation_json["Properties"]
            made = iam_backends[account_id]["aws"].create_open_id_connect_provider(
                url=wanted["Url"],
                thumbprint_list=wanted.get("ThumbprintList", []),
                client_id_list=wanted.get("ClientIdList", []),
                tags=[],
            )
            return cls(made.arn)
