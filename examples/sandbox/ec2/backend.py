"""moto, in this process: its application, its models, and its IAM.

moto is imported late and once: importing it and asking it the first question takes about two
seconds.
"""

from __future__ import annotations

import json
import os
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.ec2.errors import Ec2Error
from sandbox.ec2.wire import Reply, Request, hand_on

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

ACCOUNT = "123456789012"
IMAGES = Path(__file__).with_name("images.json")

_loading = threading.RLock()


def import_shared() -> None:
    """Import what other code may be importing at the same time.

    Two threads that import packages with circular imports can see them half made; so what moto
    shares with others is imported before moto is loaded in a thread of its own.
    """
    import boto3
    import cryptography.x509
    import flask_cors
    import requests
    import responses

    del boto3, cryptography, flask_cors, requests, responses


@cache
def application() -> WSGIApplication:
    """moto's server application, with this sandbox's images instead of moto's 1,300."""
    with _loading:
        os.environ["MOTO_AMIS_PATH"] = str(IMAGES)
        from moto.ec2.models import amis
        from moto.ec2.responses import EC2Response
        from moto.iam.responses import IamResponse
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from moto.ssm.responses import SimpleSystemManagerResponse

        class CatalogueImage(amis.Ami):
            """An image with the root volume of its own size."""

            def __init__(self, *args: Any, volume_size: int = 8, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.volume_size = volume_size
                self.ebs_snapshot.volume.size = volume_size

            @property
            def block_device_mappings(self) -> list[dict[str, Any]]:
                [root] = super().block_device_mappings
                root["Ebs"] |= {
                    "VolumeSize": self.volume_size,
                    "VolumeType": "gp3",
                    "DeleteOnTermination": True,
                }
                return [root]

        # Another test may have imported moto before MOTO_AMIS_PATH was set: set what it read, too.
        amis.AMIS = json.loads(IMAGES.read_text(encoding="utf-8"))
        amis.Ami = CatalogueImage  # type: ignore[misc]
        # The front has asked IAM already, and the request it hands on is not the one signed.
        for responses in (EC2Response, IamResponse, SimpleSystemManagerResponse):
            responses._authenticate_and_authorize_normal_action = (  # type: ignore[method-assign]
                lambda *_arguments: None
            )
        served: WSGIApplication = DomainDispatcherApplication(create_backend_app)
        return served


@cache
def regions() -> frozenset[str]:
    """The regions EC2 has."""
    application()
    from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

    return frozenset(INSTANCE_TYPE_OFFERINGS["region"])


def models(region: str) -> Any:
    """moto's EC2 of one region."""
    application()
    from moto.ec2.models import ec2_backends

    with _loading:  # moto builds a region at the first question, and not under a lock
        return ec2_backends[ACCOUNT][region]


def ask(request: Request, parameters: dict[str, str] | None = None) -> Reply:
    """What moto answers, to the request as it came or with other parameters."""
    models(request.region)
    return hand_on(application(), request, parameters)


def parameters(region: str) -> Any:
    """moto's SSM of one region."""
    from moto.ssm.models import ssm_backends

    return ssm_backends[ACCOUNT][region]


def profile(name: str, arn: str) -> Any:
    """moto's instance profile, or None."""
    from moto.iam.exceptions import NotFoundException
    from moto.iam.models import iam_backends

    backend = iam_backends[ACCOUNT]["aws"]
    try:
        if name:
            return backend.get_instance_profile(name)
        return backend.get_instance_profile_by_arn(arn)
    except NotFoundException:
        return None


@cache
def instance_types() -> dict[str, Any]:
    """EC2's instance types as moto knows them."""
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    return dict(INSTANCE_TYPES)


@cache
def zones_offering(region: str, instance_type: str) -> frozenset[str]:
    """The zones of a region that have an instance type."""
    from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

    offered = INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, [])
    return frozenset(o["Location"] for o in offered if o["InstanceType"] == instance_type)


def reset() -> None:
    """Forget everything but the images."""
    application()
    from moto.moto_api._internal.models import moto_api_backend

    with _loading:
        moto_api_backend.reset()
    enforce_iam(after=float("inf"))


def enforce_iam(after: float = 0) -> None:
    """Check every call after the next `after` against IAM's policies, as EC2 does.

    The same as `POST /moto-api/reset-auth` with that number as its body.
    """
    from moto import settings
    from moto.core.authorization import ActionAuthenticatorMixin

    settings.INITIAL_NO_AUTH_ACTION_COUNT = after
    ActionAuthenticatorMixin.request_count = 0


def iam_is_enforced() -> bool:
    """Whether IAM has to be asked about this call; counts the calls that are free."""
    from moto import settings
    from moto.core.authorization import ActionAuthenticatorMixin

    if ActionAuthenticatorMixin.request_count < settings.INITIAL_NO_AUTH_ACTION_COUNT:
        ActionAuthenticatorMixin.request_count += 1
        return False
    return True


def caller(request: Request) -> tuple[str, list[dict[str, Any]]]:
    """Who signed the call (an ARN), and the policies that apply. Raises Ec2Error."""
    from moto.core.exceptions import ServiceException
    from moto.iam.access_control import IAMPolicy, IAMRequest
    from werkzeug.exceptions import HTTPException
    from werkzeug.wrappers import Request as HttpRequest

    http = HttpRequest({k: v for k, v in request.environ.items() if k != "werkzeug.request"})
    try:
        asked = IAMRequest(
            account_id=ACCOUNT,
            method=http.method,
            path=http.full_path.rstrip("?"),
            data={},
            body=request.body,
            headers=dict(http.headers),
            action=request.operation,
        )
        asked.check_signature()
    except (HTTPException, ServiceException) as refused:
        if request.service == "ssm":
            msg = "The security token included in the request is invalid."
            raise Ec2Error("UnrecognizedClientException", msg) from refused
        if request.service == "iam":
            msg = "The security token included in the request is invalid."
            raise Ec2Error("InvalidClientTokenId", msg, 403) from refused
        msg = "AWS was not able to validate the provided access credentials"
        raise Ec2Error("AuthFailure", msg) from refused
    key = asked._access_key
    return str(key.arn), [IAMPolicy(policy)._policy_json for policy in key.collect_policies()]
