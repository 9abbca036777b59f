"""Everything that can be wrong before money is spent: checked, and made into a launch."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Image, Launch
from runner_fleet.errors import InputError, gathered
from runner_fleet.github import GitHub, RunnerArchive
from runner_fleet.github_groups import group_id
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.image import choose_image
from runner_fleet.provisioning.options.start import StartOptions
from runner_fleet.provisioning.user_data import Boot, user_data


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
            choosing = pool.submit(self._choose_image)
            token, archives = "", list[RunnerArchive]()
            with gathered(problems):
                token = self.github.registration_token()
                self.mask(token)
                archives = self.github.runner_archives()
                if self.options.registration.group:
                    group_id(self.github, self.options.registration.group)
        image, script = None, ""
        with gathered(problems):
            image = choosing.result()
        with gathered(problems):
            script = user_data(self._boot(archives), self.fleet, token)
        if problems or image is None:
            raise InputError(*problems)
        return self._launch(image, script)

    def _choose_image(self) -> Image:
        self.ec2.check_region()
        self.ec2.check_credentials()
        return choose_image(self.ec2, self.options.machine, self.options.placement.instance_type)

    def _boot(self, archives: list[RunnerArchive]) -> Boot:
        access, boot = self.options.github, self.options.boot
        return Boot(
            url=access.runners_url,
            archives=tuple(archives),
            extra_labels=boot.extra_labels,
            runner_group=self.options.registration.group,
            home=boot.home,
            max_lifetime=boot.max_lifetime,
            pre_script=boot.pre_script,
        )

    def _launch(self, image: Image, script: str) -> Launch:
        placement, machine = self.options.placement, self.options.machine
        name = {} if "Name" in machine.tags else {"Name": f"runner-fleet {self.fleet.repository}"}
        return Launch(
            image=image,
            instance_type=placement.instance_type,
            count=placement.count,
            user_data=script,
            client_token=self.fleet.client_token(placement.subnet_id),
            tags=name | machine.tags | self.fleet.tags(),
            subnet_id=placement.subnet_id or None,
            security_group_ids=machine.security_group_ids,
            instance_profile=machine.instance_profile or None,
            root_size=machine.root_size,
        )
