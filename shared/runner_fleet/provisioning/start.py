"""Start a fleet: check before paying, launch all, wait for all; on any failure take all back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Image, Instance, Launch
from runner_fleet.errors import CloudError, InputError, gathered
from runner_fleet.github import GitHub, RunnerArchive
from runner_fleet.provisioning.identity import FLEET_TAG, Fleet
from runner_fleet.provisioning.image import choose_image
from runner_fleet.provisioning.options import StartOptions
from runner_fleet.provisioning.report import counted
from runner_fleet.provisioning.take_back import take_back
from runner_fleet.provisioning.user_data import Boot, user_data
from runner_fleet.provisioning.wait import Progress, wait_until_online

PATIENCE_WHEN_UNDOING = 5.0
"""Seconds in which a call to GitHub is repeated: it leaves a cancelled step 10 s."""

SEARCH_PAUSES = (0.0, 1.0, 2.0, 4.0)
"""Seconds between looks for instances whose launch reply was lost: a new instance may take a
moment to be visible (EC2 developer guide, eventual consistency)."""


@dataclass(frozen=True)
class Start:
    """One start: what it works with.

    `say` gets progress lines, `warn` what is left behind, `mask` secrets that must not show in
    the log, `launched` the instances.
    """

    options: StartOptions
    fleet: Fleet
    github: GitHub
    ec2: Ec2
    say: Callable[[str], None]
    warn: Callable[[str], None]
    mask: Callable[[str], None]
    launched: Callable[[dict[str, str]], None]  # instance id to label, as soon as it is known
    cancellation: Cancellation = field(default_factory=Cancellation)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def run(self) -> Progress:
        """All runners online; or everything taken back, and the `FleetError` that says why."""
        launch = self.check()
        instances: list[Instance] = []
        with self._way_back(instances):
            # A reply that comes while we are being cancelled must not be lost.
            with self.cancellation.shield():
                stopping = self.cancellation.is_requested
                instances += self.ec2.launch(launch, self.sleep, give_up=stopping)
                self.launched(self._mapping(instances))
            self.github.patience.ends_in(self.options.timeout)
            return wait_until_online(
                instances,
                self.fleet,
                self.ec2,
                self.github,
                timeout=self.options.timeout,
                say=self.say,
                clock=self.clock,
                sleep=self.sleep,
            )

    def check(self) -> Launch:
        """Everything that can be wrong before money is spent; raises all problems at once."""
        problems: list[str] = []
        # EC2 is asked meanwhile: making its client takes as long as GitHub's replies.
        with ThreadPoolExecutor(1) as pool:
            choosing = pool.submit(self._choose_image)
            token, archives = "", list[RunnerArchive]()
            with gathered(problems):
                token = self.github.registration_token()
                self.mask(token)
                archives = self.github.runner_archives()
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
        return choose_image(self.ec2, self.options)

    def _boot(self, archives: list[RunnerArchive]) -> Boot:
        access = self.options.github
        return Boot(
            url=f"{access.server_url.rstrip('/')}/{access.repository}",
            archives=tuple(archives),
            extra_labels=self.options.extra_labels,
            home=self.options.home,
            max_lifetime=self.options.max_lifetime,
            pre_script=self.options.pre_script,
        )

    def _launch(self, image: Image, script: str) -> Launch:
        options = self.options
        name = {} if "Name" in options.tags else {"Name": f"runner-fleet {self.fleet.repository}"}
        return Launch(
            image=image,
            instance_type=options.instance_type,
            count=options.count,
            user_data=script,
            client_token=self.fleet.client_token,
            tags=name | options.tags | self.fleet.tags(),
            subnet_id=options.subnet_id or None,
            security_group_ids=options.security_group_ids,
            instance_profile=options.instance_profile or None,
            root_size=options.root_size,
        )

    def _mapping(self, instances: list[Instance]) -> dict[str, str]:
        return {instance.id: self.fleet.labels[instance.launch_index] for instance in instances}

    @contextmanager
    def _way_back(self, instances: list[Instance]) -> Iterator[None]:
        """Undo everything when the block fails, however it fails, and let the failure go on."""
        try:
            yield
        except BaseException as failure:
            with self.cancellation.shield():
                self._undo(instances, failure)
            raise

    def _undo(self, instances: list[Instance], failure: BaseException) -> None:
        self.github.patience.ends_in(PATIENCE_WHEN_UNDOING)
        if not instances and isinstance(failure, CloudError) and not failure.unsure:
            return  # EC2 said no, each time it was asked: it launched nothing
        self.say("Taking back what was started ...")
        problems: list[str] = []
        ids = [instance.id for instance in instances]
        with gathered(problems):
            ids = ids or self._search()
        taken = take_back(ids, self.fleet.labels, self.ec2, self.github, self.sleep)
        ended = len(taken.terminated) + len(taken.ended_before)
        self.say(
            f"{ended} of {counted(ids, 'instance')} ended, "
            f"{counted(taken.removed, 'registration')} removed"
        )
        # The start knows that its own instances exist, whatever EC2 says of them so soon.
        left = len(taken.left) + len(taken.unknown)
        for problem in [*problems, *taken.problems]:
            self.warn(problem)
        if problems or left:
            self.warn(
                f"{left or self.options.count} instances may still run: give stop-runner the "
                f"fleet_id {self.fleet.id}. They end themselves after max_lifetime_minutes"
            )

    def _search(self) -> list[str]:
        """Instances of a launch whose reply was lost; raises when EC2 never says."""
        failure: CloudError | None = None
        for pause in SEARCH_PAUSES:
            self.sleep(pause)
            try:
                failure = None
                found = self.ec2.instances_of(FLEET_TAG, self.fleet.id)
            except CloudError as error:
                failure = error
                continue
            if found:
                return list(found)
        if failure is not None:
            raise failure
        return []
