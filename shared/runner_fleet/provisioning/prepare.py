"""Everything that can be wrong before money is spent: checked, and made into a launch."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Image, Launch
from runner_fleet.ec2_template import LaunchTemplate
from runner_fleet.errors import InputError, gathered
from runner_fleet.github import GitHub, RunnerArchive
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.image import choose_image
from runner_fleet.provisioning.options.machine import Machine
from runner_fleet.provisioning.options.start import StartOptions
from runner_fleet.provisioning.user_data import Boot, user_data


@dataclass(frozen=True)
class Choice:
    """What is launched, as inputs and launch template have it together."""

    image: Image
    instance_type: str
    template: LaunchTemplate | None


@dataclass(frozen=True)
class Preparation:
    """What a launch is prepared from. `mask` gets secrets that must not show in the log."""

    options: StartOptions
    fleet: Fleet
    github: GitHub
    ec2: Ec2
    mask: Callable[[str], None]

    def launch(self) -> Launch:
        """The launch; raises all problems at once."""
        problems: list[str] = []
        # EC2 is asked meanwhile: making its client takes as long as GitHub's replies.
        with ThreadPoolExecutor(1) as pool:
            choosing = pool.submit(self._choose)
            token, archives = "", list[RunnerArchive]()
            with gathered(problems):
                token = self.github.registration_token()
                self.mask(token)
                archives = self.github.runner_archives()
        choice, script = None, ""
        with gathered(problems):
            choice = choosing.result()
        with gathered(problems):
            script = user_data(self._boot(archives), self.fleet, token)
        if problems or choice is None:
            raise InputError(*problems)
        return self._launch(choice, script)

    def _choose(self) -> Choice:
        """Image, type and template; what is not asked for is the template's."""
        self.ec2.check_region()
        self.ec2.check_credentials()
        machine, template = self.options.machine, None
        instance_type = self.options.placement.instance_type
        if machine.template:
            template = self.ec2.launch_template(machine.template)
            template.check(public_ip=machine.public_ip)
            instance_type = instance_type or template.instance_type
            machine = replace(machine, image_id=machine.image_id or template.image_id)
            check_complete(machine, instance_type)
        return Choice(choose_image(self.ec2, machine, instance_type), instance_type, template)

    def _boot(self, archives: list[RunnerArchive]) -> Boot:
        access, boot = self.options.github, self.options.boot
        return Boot(
            url=f"{access.server_url.rstrip('/')}/{access.repository}",
            archives=tuple(archives),
            extra_labels=boot.extra_labels,
            home=boot.home,
            max_lifetime=boot.max_lifetime,
            pre_script=boot.pre_script,
        )

    def _launch(self, choice: Choice, script: str) -> Launch:
        placement, machine = self.options.placement, self.options.machine
        name = {} if "Name" in machine.tags else {"Name": f"runner-fleet {self.fleet.repository}"}
        return Launch(
            image=choice.image,
            instance_type=choice.instance_type,
            template=choice.template,
            count=placement.count,
            user_data=script,
            client_token=self.fleet.client_token(placement.subnet_id),
            tags=name | machine.tags | self.fleet.tags(),
            subnet_id=placement.subnet_id or None,
            security_group_ids=machine.security_group_ids,
            instance_profile=machine.instance_profile or None,
            volumes=machine.volumes,
            hop_limit=machine.hop_limit,
            public_ip=machine.public_ip,
        )


def check_complete(machine: Machine, instance_type: str) -> None:
    """Raises `InputError` for what neither the inputs nor the launch template name."""
    missing = [
        f"{name}: is required, as launch template {machine.template} names none"
        for name, value in (
            ("aws_image_id", machine.image_id),
            ("aws_instance_type", instance_type),
        )
        if not value
    ]
    if missing:
        raise InputError(*missing)
