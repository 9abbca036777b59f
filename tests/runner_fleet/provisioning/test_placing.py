"""The walk done: launches in the sandbox's EC2, with a clock and pauses of the test's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import pytest
from runner_fleet.cancel import Cancellation
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Image, Instance
from runner_fleet.errors import CapacityError, CloudError
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.attempts import Trail
from runner_fleet.provisioning.candidates import Candidate
from runner_fleet.provisioning.identity import Caller, Fleet
from runner_fleet.provisioning.options.start import start_options
from runner_fleet.provisioning.placing import Placing
from runner_fleet.provisioning.prepare import Plan, Script, Tokens
from runner_fleet.provisioning.user_data import Boot
from sandbox.faults import Fault
from sandbox.world import World

IMAGE = Image(
    id="ami-0d1a0000000000003",
    name="deep learning",
    architecture="x86_64",
    root_device="/dev/sda1",
    devices=("/dev/sda1",),
    root_size=35,
    created="2025-10-17",
    windows=False,
)
HERE = Candidate("on-demand", "us-east-1", "g4dn.xlarge", usd_per_hour=0.526)
DEARER = Candidate("on-demand", "us-east-1", "g5.xlarge")
THERE = Candidate("on-demand", "us-west-2", "g4dn.xlarge")
FLEET = Fleet.create(Caller("octo-org/gpu-tests", "77", "1", "start"), "octo-org/gpu-tests", 3)


@dataclass
class Time:
    """A clock that only pauses move."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@dataclass
class Stage:
    placing: Placing
    time: Time
    told: list[Instance]


@pytest.fixture
def stage(inside: World) -> Callable[..., Stage]:
    world = inside
    world.ec2.rules.boot(never=True)

    def build(*candidates: Candidate, timeout: float = 300.0) -> Stage:
        environ = {"GITHUB_REPOSITORY": "octo-org/gpu-tests", "GH_PAT": "x", "AWS_REGION": "x"}
        inputs = {"aws_image_id": IMAGE.id, "aws_instance_type": "g4dn.xlarge"}
        machine = start_options(inputs, environ | {"AWS_REGION": "us-east-1"}).machine
        time, told = Time(), list[Instance]()
        plan = Plan(
            candidates=candidates,
            images={(each.region, each.instance_type): IMAGE for each in candidates},
            machine=machine,
            tags=FLEET.tags(),
            script=Script(Boot("u", ()), FLEET, Tokens("t"), Tokens, time.clock),
        )
        placing = Placing(
            fleet=FLEET,
            plan=plan,
            clouds={region: Ec2(region) for region in ("us-east-1", "us-west-2")},
            timeout=timeout,
            trail=Trail(),
            say=lambda _: None,
            launched=told.extend,
            cancellation=Cancellation(),
            clock=time.clock,
            sleep=time.sleep,
            chance=lambda: 1.0,
        )
        return Stage(placing, time, told)

    return build


def script() -> bytes:
    return b"#!/bin/bash\n"


def test_a_launch_that_stays_without_an_answer_is_never_followed_by_another(
    stage: Callable[..., Stage], world: World
) -> None:
    world.faults.add(Fault("RunInstances", status=500, times=None))
    made = stage(HERE, DEARER)
    with pytest.raises(CloudError) as caught:
        made.placing.place(2, 1, script)
    assert caught.value.unsure
    assert {
        call.fields["InstanceType"]
        for call in world.calls.all()
        if call.operation == "RunInstances"
    } == {"g4dn.xlarge"}
    assert made.placing.trail.doubtful
    assert made.placing.trail.region == "us-east-1"


def test_too_few_of_a_launch_without_an_answer_are_left_to_the_way_back(
    stage: Callable[..., Stage], world: World
) -> None:
    world.ec2.rules.capacity(1)
    world.faults.add(Fault("RunInstances", when="drop", times=None))
    made = stage(HERE, DEARER)
    with pytest.raises(CloudError):
        made.placing.place(3, 2, script)
    assert made.placing.trail.doubtful
    assert made.told == []


def test_enough_of_a_launch_without_an_answer_are_used(
    stage: Callable[..., Stage], world: World
) -> None:
    world.ec2.rules.capacity(2)
    world.faults.add(Fault("RunInstances", when="drop", times=None))
    made = stage(HERE, DEARER)
    found = made.placing.place(3, 2, script)
    assert [one.launch_index for one in found] == [0, 1]
    assert made.told == made.placing.trail.instances == found
    assert not made.placing.trail.doubtful


def test_a_refusal_leaves_no_doubt(stage: Callable[..., Stage], world: World) -> None:
    world.ec2.rules.refuse()
    made = stage(HERE, timeout=0.0)
    with pytest.raises(CapacityError):
        made.placing.place(1, 1, script)
    assert not made.placing.trail.doubtful
    assert made.time.pauses == []


def test_instances_placed_one_by_one_are_as_many_and_in_one_region(
    stage: Callable[..., Stage], world: World
) -> None:
    world.ec2.rules.capacity(2, region="us-east-1")
    made = stage(HERE, THERE, timeout=0.0)
    for number in range(2):
        made.placing.place(1, 1, script, {"runner-fleet:label": f"runner-{number}"})
    with pytest.raises(CapacityError):
        made.placing.place(1, 1, script)
    instances = world.ec2.instances()
    assert {one.region for one in instances} == {"us-east-1"}
    assert [one.tags["runner-fleet:label"] for one in instances] == ["runner-0", "runner-1"]
    assert {one.tags["runner-fleet:usd-per-hour"] for one in instances} == {"0.526"}
    assert [one.id for one in made.placing.trail.instances] == [one.id for one in instances]


def test_throttling_is_sat_out_in_the_same_place(stage: Callable[..., Stage], world: World) -> None:
    throttled = Fault("RunInstances", status=503, code="RequestLimitExceeded", times=9)
    world.faults.add(throttled)
    made = stage(HERE, DEARER)
    (instance,) = made.placing.place(1, 1, script)
    assert instance.type == "g4dn.xlarge"
    # Three quick tries of each launch, then pauses that grow.
    assert made.time.pauses == [1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 4.0, 4.0, 1.0]
    assert [each.outcome for each in made.placing.trail.attempts] == [
        "RequestLimitExceeded",
        "RequestLimitExceeded",
        "launched 1",
    ]


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "Throttling", "ThrottlingException"])
def test_a_region_that_throttles_for_ever_is_left_for_another(
    stage: Callable[..., Stage], world: World, code: str
) -> None:
    endless = Fault("RunInstances", status=503, code=code, times=None, region="us-east-1")
    world.faults.add(endless)
    made = stage(HERE, DEARER, THERE)
    (instance,) = made.placing.place(1, 1, script)
    assert instance.zone.startswith("us-west-2")
    assert made.time.pauses == [1.0, 2.0, 4.0]
    assert [str(each).partition(" (")[0] for each in made.placing.trail.attempts] == [
        f"Pass 1: on-demand g4dn.xlarge in us-east-1: {code}",
        "Pass 1: on-demand g4dn.xlarge in us-west-2: launched 1",
    ]
    assert made.placing.trail.region == "us-west-2"


def test_without_another_region_endless_throttling_is_said_when_the_time_is_over(
    stage: Callable[..., Stage], world: World
) -> None:
    world.faults.add(Fault("RunInstances", status=503, code="RequestLimitExceeded", times=None))
    made = stage(HERE, DEARER, timeout=10.0)
    with pytest.raises(CapacityError) as caught:
        made.placing.place(1, 1, script)
    assert str(caught.value).startswith(
        "AWS throttled every launch for 16 seconds and 2 passes: on-demand g4dn.xlarge in "
        "us-east-1: RequestLimitExceeded (2 times). Other work in this account makes too many "
        "calls: try later, give more time in capacity_timeout, or name another aws_region_name"
    )


def test_throttling_beside_a_lack_of_room_is_a_lack_of_room(
    stage: Callable[..., Stage], world: World
) -> None:
    throttled = Fault("RunInstances", status=503, code="Throttling", times=None, region="us-east-1")
    world.faults.add(throttled)
    world.ec2.rules.refuse(instance_type="g4dn.xlarge", region="us-west-2")
    with pytest.raises(CapacityError, match="no room for 1 instance after 7 seconds and 1 pass:"):
        stage(HERE, THERE, timeout=0.0).placing.place(1, 1, script)


def test_places_that_all_lack_the_type_are_no_reason_to_try_later(
    stage: Callable[..., Stage], world: World
) -> None:
    world.ec2.rules.refuse(code="Unsupported")
    with pytest.raises(CapacityError) as caught:
        stage(HERE, THERE).placing.place(1, 1, script)
    assert str(caught.value) == (
        "EC2 offers this in none of the places: on-demand g4dn.xlarge in us-east-1: Unsupported, "
        "on-demand g4dn.xlarge in us-west-2: Unsupported. Name another subnet (zone) in "
        "aws_subnet_id, another aws_instance_type, aws_region_name or market"
    )


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_throttled_launch_that_may_have_been_made_is_followed_by_no_other(
    stage: Callable[..., Stage], world: World, when: Literal["before", "after"]
) -> None:
    """The first answer is unclear, and afterwards nobody can tell what came of it."""
    unclear = Fault("RunInstances", status=500, when=when, region="us-east-1")
    throttled = Fault("RunInstances", status=503, code="RequestLimitExceeded", times=None)
    world.faults.add(unclear)
    world.faults.add(throttled)
    world.faults.add(
        Fault("DescribeInstances", status=403, code="UnauthorizedOperation", times=None)
    )
    made = stage(HERE, DEARER, THERE)
    with pytest.raises(CloudError) as caught:
        made.placing.place(1, 1, script)
    assert caught.value.unsure
    assert made.placing.trail.doubtful
    assert len(world.ec2.instances()) == (1 if when == "after" else 0)
    launches = [call for call in world.calls.all() if call.operation == "RunInstances"]
    assert len({call.fields["ClientToken"] for call in launches}) == 1


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "InternalError"])
def test_a_signal_during_a_pause_of_a_launch_is_followed_by_no_other(
    stage: Callable[..., Stage], world: World, code: str
) -> None:
    world.faults.add(Fault("RunInstances", status=503, code=code, times=None))
    plan, slept = stage(HERE).placing.plan, list[float]()
    launch = plan.launch(HERE, count=1, minimum=1, user_data=b"", tags={}, client_token="a")
    with pytest.raises(CloudError, match=code):
        Ec2("us-east-1").launch(launch, slept.append, give_up=lambda: bool(slept))
    assert len(slept) == 1
    assert world.calls.count("RunInstances") == 1


def test_the_user_data_is_asked_for_once_a_pass(stage: Callable[..., Stage], world: World) -> None:
    world.ec2.rules.refuse(instance_type="g4dn.xlarge")
    world.ec2.rules.refuse(instance_type="g5.xlarge")
    made, asked = stage(HERE, DEARER, timeout=6.0), list[float]()

    def script() -> bytes:
        asked.append(made.time.now)
        return b"#!/bin/bash\n"

    with pytest.raises(CapacityError, match="after 6 seconds and 3 passes"):
        made.placing.place(1, 1, script)
    assert asked == [0.0, 2.0, 6.0]


def test_tokens_are_fetched_anew_after_half_an_hour() -> None:
    time = Time()
    later = iter([Tokens("second", "second-removal"), Tokens("third", "third-removal")])
    archives = (RunnerArchive("x64", "https://example.com/x64.tar.gz", "1" * 64),)
    first = Tokens("first", "first-removal")
    fresh = Script(Boot("u", archives), FLEET, first, lambda: next(later), time.clock)
    seen = []
    for _ in range(4):
        text = fresh().decode()
        seen += re.findall(r"FLEET_(?:REMOVE_)?TOKEN=([\w-]+)", text)
        time.now += 1000.0
    assert seen == [
        *("first", "first-removal", "first", "first-removal"),
        *("second", "second-removal", "second", "second-removal"),
    ]
