"""Everything that can be wrong before money is spent: checked, and made into a plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial

from runner_fleet.at_once import begun
from runner_fleet.ec2_model import Image, Launch
from runner_fleet.ec2_template import LaunchTemplate
from runner_fleet.errors import InputError
from runner_fleet.github import DEFAULT_GROUP, RunnerArchive
from runner_fleet.github_groups import group_id
from runner_fleet.provisioning.candidates import SPOT, Candidate
from runner_fleet.provisioning.context import StartContext
from runner_fleet.provisioning.identity import PRICE_TAG, Fleet
from runner_fleet.provisioning.offers import Survey, survey, to_try
from runner_fleet.provisioning.options.aws import of_region
from runner_fleet.provisioning.options.machine import Machine
from runner_fleet.provisioning.prices import unpriced
from runner_fleet.provisioning.problems import Problem, UnpreparedError, noted, problem
from runner_fleet.provisioning.script_syntax import check_syntax
from runner_fleet.provisioning.user_data import Boot, user_data

TOKEN_AGE = 1800.0
"""Seconds after which tokens are fetched anew for the next launch. They are valid for one hour,
and the instance has yet to boot (GitHub REST API, self-hosted runners)."""


@dataclass(frozen=True)
class Tokens:
    """What an instance may do at GitHub, for one hour."""

    registration: str = field(default="", repr=False)  # empty: its runner is registered already
    removal: str = field(default="", repr=False)  # empty: it need not deregister itself


@dataclass
class Script:
    """The user data; always with tokens that are young enough."""

    boot: Boot
    fleet: Fleet
    tokens: Tokens
    fetch: Callable[[], Tokens]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        """Raises `InputError` when the user data is larger than EC2 takes."""
        self._made = self.clock()
        self.boot = replace(self.boot, remove_token=self.tokens.removal)
        self._data = user_data(self.boot, self.fleet, self.tokens.registration)

    def alone(self, label: str, jit_config: str) -> bytes:
        """For an instance that is launched alone, for a runner that is registered already."""
        fleet = replace(self.fleet, labels=(label,))
        return user_data(replace(self.boot, jit_config=jit_config), fleet, "")

    def __call__(self) -> bytes:
        if self.clock() - self._made > TOKEN_AGE:
            self.tokens = self.fetch()
            self.__post_init__()
        return self._data


@dataclass(frozen=True)
class Plan:
    """What to launch, and where it may be tried, in order."""

    candidates: tuple[Candidate, ...]
    images: Mapping[tuple[str, str], Image]  # by region and instance type
    machine: Machine
    tags: Mapping[str, str]
    script: Script
    group_id: int = DEFAULT_GROUP  # of the runners
    skipped: tuple[str, ...] = ()  # places that cannot be, one line each
    templates: Mapping[str, LaunchTemplate] = field(default_factory=dict)  # by region

    def launch(
        self,
        candidate: Candidate,
        *,
        count: int,
        minimum: int,
        user_data: bytes,
        tags: Mapping[str, str],
        client_token: str,
    ) -> Launch:
        price = candidate.usd_per_hour
        priced = {} if price is None else {PRICE_TAG: f"{price:.6g}"}
        return Launch(
            image=self.images[candidate.region, candidate.instance_type],
            instance_type=candidate.instance_type,
            count=count,
            minimum=minimum,
            market=candidate.market,
            user_data=user_data,
            client_token=client_token,
            tags={**self.tags, **priced, **tags},
            subnet_id=candidate.subnet_id or None,
            security_group_ids=of_region(self.machine.security_group_ids, candidate.region) or (),
            instance_profile=self.machine.instance_profile or None,
            volumes=self.machine.volumes,
            hop_limit=self.machine.hop_limit,
            public_ip=self.machine.public_ip,
            template=self.templates.get(candidate.region),
        )


@dataclass(frozen=True)
class Preparation:
    """How a launch is prepared. `caution` gets what may fail one day."""

    context: StartContext
    caution: Callable[[str], None]

    def plan(self) -> Plan:
        """The plan; raises `UnpreparedError` with all problems at once."""
        options, github = self.context.options, self.context.github
        fleet, log = self.context.fleet, self.context.log
        problems: list[Problem] = []
        regions = options.placement.regions
        # EC2 is asked meanwhile: making its client takes as long as GitHub's replies.
        asked = {
            name: begun(partial(survey, self.context.clouds[name], options)) for name in regions
        }
        tokens, archives, group = Tokens(), list[RunnerArchive](), DEFAULT_GROUP
        with noted(problems, f"GitHub, {options.github.place}"):
            tokens = self._tokens()
            archives = github.runner_archives()
            if options.registration.group:
                group = group_id(github, options.registration.group)
        surveys = _answers(asked, problems)
        candidates: list[Candidate] = []
        skipped: list[str] = []
        if len(surveys) == len(regions):
            with noted(problems, "places"):
                candidates = to_try(options.placement, surveys, log.say, skipped.append)
        if other := unpriced(options.placement.prices, candidates):
            self.caution(other)
        for line in skipped:
            log.say(line)
        with noted(problems, "user data"):
            self._check_script(surveys)
        script = None
        with noted(problems, "user data"):
            boot = self._boot(archives, self._on_windows(surveys))
            script = Script(boot, fleet, tokens, self._tokens, time.monotonic)
        if problems or script is None:
            raise UnpreparedError(problems, several=len(regions) > 1)
        machine = options.machine
        name = {} if "Name" in machine.tags else {"Name": f"runner-fleet {fleet.repository}"}
        return Plan(
            candidates=tuple(candidates),
            images={
                (region, instance_type): image
                for region, found in surveys.items()
                for instance_type, image in found.images.items()
            },
            templates={name: one.template for name, one in surveys.items() if one.template},
            machine=machine,
            tags=name | machine.tags | fleet.tags(),
            script=script,
            skipped=tuple(skipped),
            group_id=group,
        )

    def _check_script(self, surveys: Mapping[str, Survey]) -> None:
        images = [image for one in surveys.values() for image in one.images.values()]
        if images and not any(image.windows for image in images):
            check_syntax("pre_runner_script", self.context.options.boot.pre_script)

    def _tokens(self) -> Tokens:
        """Only those that are needed; a spot instance deregisters itself when EC2 takes it back."""
        options, github = self.context.options, self.context.github
        spot = SPOT in options.placement.markets
        tokens = Tokens(
            "" if options.registration.jit else github.registration_token(),
            github.remove_token() if spot else "",
        )
        self.context.log.mask(tokens.registration)
        self.context.log.mask(tokens.removal)
        return tokens

    def _boot(self, archives: list[RunnerArchive], windows: bool) -> Boot:
        options = self.context.options
        boot = options.boot
        if stale := boot.runner_version.warning(archives):
            self.caution(stale)
        return Boot(
            url=options.github.runners_url,
            archives=boot.runner_version.archives(archives),
            extra_labels=boot.extra_labels,
            runner_group=options.registration.group,
            home=boot.home,
            run_as_root=boot.run_as_root,
            runner_directory=boot.runner_directory,
            proxy=boot.proxy,
            idle_timeout=boot.idle_timeout,
            max_lifetime=boot.max_lifetime,
            pre_script=boot.pre_script,
            extra=boot.extra,
            market=options.placement.markets[0],  # spot comes first
            windows=windows,
        )

    def _on_windows(self, surveys: Mapping[str, Survey]) -> bool:
        """Whether the images are Windows; `InputError` when only some are: all boot one script."""
        found = {image.windows for one in surveys.values() for image in one.images.values()}
        if len(found) > 1:
            msg = "aws_image_id: some of the images are Windows and some are not: choose one system"
            raise InputError(msg)
        # Without an image, as the inputs have it: the rest can still be checked.
        return found.pop() if found else self.context.options.boot.home[1:2] == ":"


def _answers(asked: Mapping[str, Future[Survey]], problems: list[Problem]) -> dict[str, Survey]:
    """What the regions answered, and what is wrong there."""
    surveys: dict[str, Survey] = {}
    for region, answer in asked.items():
        with noted(problems, "AWS", region):
            surveys[region] = answer.result()
            problems += (problem("image", line, region) for line in surveys[region].problems)
    return surveys
