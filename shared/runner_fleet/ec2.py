"""EC2 as this project needs it."""

from __future__ import annotations

import difflib
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from runner_fleet.aws_failures import NO_CREDENTIALS, explained
from runner_fleet.ec2_checks import Checks
from runner_fleet.ec2_ending import Ending
from runner_fleet.ec2_model import Image, Instance, Launch
from runner_fleet.ec2_offers import Offers
from runner_fleet.ec2_template import LaunchTemplate, TemplateName
from runner_fleet.errors import CloudError, InputError

LAUNCH_PAUSES = (1.0, 2.0, 4.0)
"""Seconds between tries of a launch that got no clear answer."""

IDS_A_FILTER = 200
"""Values that one filter of DescribeInstances may have (EC2 API reference, Filter)."""

_NO_LATEST_CONSOLE = ("UnsupportedOperation", "IncorrectInstanceState")


class Ec2(Checks, Ending, Offers):
    """EC2 in one region. Every method raises `CloudError` (or `InputError` where it says so)."""

    def check_region(self) -> None:
        """Raises `InputError` when boto3 knows no such region."""
        known = [
            name
            for partition in self._session.get_available_partitions()
            for name in self._session.get_available_regions("ec2", partition)
        ]
        if self.region not in known:
            nearest = difflib.get_close_matches(self.region, known, n=3, cutoff=0.5)
            hint = f"; did you mean {', '.join(nearest)}?" if nearest else ""
            msg = f"aws_region_name: there is no region {self.region!r}{hint}"
            raise InputError(msg)

    def check_credentials(self) -> None:
        """Raises `InputError` when boto3's chain finds no credentials. No call to AWS."""
        with explained("AWS credentials"):
            found = self._session.get_credentials()
        if found is None:
            raise InputError(NO_CREDENTIALS)

    def image_by_id(self, image_id: str) -> Image:
        with explained(f"aws_image_id {image_id}"):
            found = self._client.describe_images(ImageIds=[image_id])["Images"]
        if not found:
            msg = f"aws_image_id: no image {image_id} that this account may see in {self.region}"
            raise InputError(msg)
        return Image.parse(found[0])

    def images_by_name(self, owner: str, *prefixes: str) -> list[Image]:
        """All available images of `owner` whose name begins with a prefix, in no order."""
        # EC2 reads * and ? in a filter as wildcards, and \ as the escape.
        escape = str.maketrans({char: f"\\{char}" for char in "\\*?"})
        patterns = [f"{prefix.translate(escape)}*" for prefix in dict.fromkeys(prefixes)]
        filters = [
            {"Name": "name", "Values": patterns},
            {"Name": "state", "Values": ["available"]},
        ]
        with explained(f"aws_image_name {prefixes[0]!r} of aws_image_owner {owner}"):
            pages = self._client.get_paginator("describe_images").paginate(
                Owners=[owner],
                Filters=filters,  # type: ignore[arg-type]
                PaginationConfig={"PageSize": 500},
            )
            return [Image.parse(data) for page in pages for data in page["Images"]]

    def parameter(self, name: str) -> str:
        """The value of an SSM parameter: what `resolve:ssm:` in an image id stands for."""
        with explained(f"aws_image_id resolve:ssm:{name}"):
            client = self._session.client("ssm", config=self._config)
            return str(client.get_parameter(Name=name)["Parameter"]["Value"])

    def launch_template(self, name: TemplateName) -> LaunchTemplate:
        with explained(f"aws_launch_template {name}"):
            reply = self._client.describe_launch_template_versions(
                **name.parameters(),  # type: ignore[arg-type]
                Versions=[name.version],
            )
            return LaunchTemplate.parse(reply["LaunchTemplateVersions"][0])

    def launch(
        self,
        launch: Launch,
        sleep: Callable[[float], None] = time.sleep,
        give_up: Callable[[], bool] = lambda: False,
        chance: Callable[[], float] = random.random,
    ) -> list[Instance]:
        """Launch `minimum` to `count` instances, in launch order; or none, with a `CloudError`.

        A call without a clear answer is repeated with the same client token, unless `give_up`
        says otherwise. When the error is `unsure`, look for the instances. `chance` (0 to 1) cuts
        the pauses, so that starts which were throttled together do not come back together.
        """
        unsure = False
        for pause in (*LAUNCH_PAUSES, None):
            try:
                with explained(f"launch of {launch.market} {launch.instance_type}"):
                    reply = self._hasty_client.run_instances(**launch.request())
                    launched = [Instance.parse(data) for data in reply["Instances"]]
                return sorted(launched, key=lambda instance: instance.launch_index)
            except CloudError as error:
                unsure = error.unsure = unsure or error.unsure
                if pause is None or not error.transient or give_up():
                    raise
                sleep(pause * (0.5 + chance() / 2))
                if give_up():  # a signal does not end a sleep that it finds under way
                    raise
        raise AssertionError  # the last try returns or raises

    def instances(self, ids: Iterable[str], *, hasty: bool = False) -> dict[str, Instance]:
        """The instances by id. One that EC2 does not know (yet, or any more) is absent.

        `hasty` is for whoever asks again anyway: EC2 gets one chance for an answer.
        """
        wanted = list(ids)
        found: dict[str, Instance] = {}
        for first in range(0, len(wanted), IDS_A_FILTER):
            # A filter, not InstanceIds: one unknown id there would fail the whole call.
            some = wanted[first : first + IDS_A_FILTER]
            found |= self.instances_where({"instance-id": some}, hasty=hasty)
        return found

    def instances_of(self, tag: str, value: str) -> dict[str, Instance]:
        """The instances that carry a tag, by id; EC2 shows terminated ones for about an hour."""
        return self.instances_where({f"tag:{tag}": [value]})

    def instances_of_launch(self, client_token: str) -> dict[str, Instance]:
        """The instances that a launch with this token made, by id."""
        return self.instances_where({"client-token": [client_token]})

    def instances_where(
        self, filters: Mapping[str, Sequence[str]], *, hasty: bool = False
    ) -> dict[str, Instance]:
        """The instances, by id, that pass all filters of DescribeInstances."""
        client = self._hasty_client if hasty else self._client
        conditions = [{"Name": name, "Values": list(values)} for name, values in filters.items()]
        with explained("instances"):
            pages = client.get_paginator("describe_instances").paginate(
                Filters=conditions,  # type: ignore[arg-type]
                PaginationConfig={"PageSize": 1000},
            )
            found = [
                Instance.parse(data)
                for page in pages
                for reservation in page["Reservations"]
                for data in reservation["Instances"]
            ]
        return {instance.id: instance for instance in found}

    def console(self, instance_id: str) -> str:
        """What the instance wrote on its console, the last 64 KiB; empty when EC2 has it not yet.

        Only Nitro types offer the latest state; of others EC2 has what was there some time after
        boot or end (API reference, GetConsoleOutput).
        """
        try:
            return self._console(instance_id, latest=True)
        except CloudError as error:
            if error.code not in _NO_LATEST_CONSOLE:
                raise
            return self._console(instance_id, latest=False)

    def _console(self, instance_id: str, *, latest: bool) -> str:
        with explained(f"console of {instance_id}"):
            reply = self._client.get_console_output(InstanceId=instance_id, Latest=latest)
            return reply.get("Output", "")
