"""The wait in virtual time: what it says, what it asks, and how late it notices."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

import pytest
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Instance
from runner_fleet.errors import RateLimitError
from runner_fleet.github import Budget, GitHub, Runner
from runner_fleet.provisioning.examine import Examination
from runner_fleet.provisioning.loss import RunnerLostError
from runner_fleet.provisioning.progress import Progress
from runner_fleet.provisioning.wait import wait_until_online
from sandbox.faults import Fault
from sandbox.world import REPOSITORY, TOKEN, World

from tests.actions.harness import aws

NOW = 1_750_000_000.0


@dataclass
class Course:
    """When an instance gets where, in seconds since the launch."""

    running: float = 9.0
    registered: float = 55.0
    online: float = 58.0
    ends: float = 1e9
    gone: float = 1e9  # its registration is


@dataclass
class Scene:
    """EC2 and GitHub as the courses of the instances make them; time passes in sleep alone, and
    while EC2 describes."""

    courses: list[Course]
    budget: Budget | None = None
    limited: RateLimitError | None = None  # what the first listing gets
    describing: float = 0.0  # seconds until EC2 answers
    costs: int = 0  # calls of the budget that a listing takes
    time: float = 0.0
    listings: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def wait(self, timeout: float = 1200.0) -> Progress:
        launched = [self._instance(number, "pending") for number in range(len(self.courses))]
        return wait_until_online(
            launched,
            {item.id: f"runner-{item.launch_index}" for item in launched},
            cast("Ec2", self),
            cast("GitHub", self),
            timeout=timeout,
            say=self.said.append,
            clock=lambda: self.time,
            sleep=self.sleep,
            now=lambda: NOW + self.time,
        )

    def instances(self, ids: list[str], *, hasty: bool) -> dict[str, Instance]:
        assert hasty
        self.looks.append(self.time)
        states = {
            number: "terminated"
            if course.ends <= self.time
            else "running"
            if course.running <= self.time
            else "pending"
            for number, course in enumerate(self.courses)
        }
        found = [self._instance(number, state) for number, state in states.items()]
        assert [item.id for item in found] == ids
        self.time += self.describing
        return {item.id: item for item in found}

    def runners(self) -> list[Runner]:
        self.listings.append(self.time)
        if self.limited:
            error, self.limited = self.limited, None
            raise error
        if self.budget:
            self.budget = replace(self.budget, remaining=self.budget.remaining - self.costs)
        listed = [
            n
            for n, course in enumerate(self.courses)
            if course.registered <= self.time < course.gone
        ]
        online = {n for n in listed if self.courses[n].online <= self.time}
        return [Runner(n, "any", n in online, False, frozenset({f"runner-{n}"})) for n in listed]

    def console(self, _: str) -> str:
        return ""

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.time += seconds

    @staticmethod
    def _instance(number: int, state: str) -> Instance:
        return Instance(f"i-{number}", state, "m7i.large", "us-east-1a", number)


@pytest.mark.parametrize(
    ("course", "listings", "late"),
    [
        (Course(0.0, 0.8, 1.0), 3, 0.5),  # as in the sandbox
        (Course(9.0, 35.0, 38.0), 8, 2.0),  # the runner is in the image
        (Course(9.0, 55.0, 58.0), 11, 1.0),  # five of them after it registered
        (Course(30.0, 200.0, 204.0), 17, 6.0),  # a large image with a pre_runner_script
    ],
)
def test_a_boot_takes_few_listings_and_its_end_is_noticed_soon(
    course: Course, listings: int, late: float
) -> None:
    scene = Scene([course])
    scene.wait()
    assert len(scene.listings) <= listings
    assert scene.time - course.online <= late
    assert scene.listings[0] >= 1.8 * course.running


def test_a_slow_description_puts_no_listing_off() -> None:
    """What runs when EC2 answers has been running for as long as the answer took."""
    scene = Scene([Course(0.0, 0.8, 1.0)], describing=4.0)
    scene.wait()
    assert scene.listings == [4.0]


def test_a_hundred_that_come_one_after_the_other_take_few_listings() -> None:
    courses = [Course(9.0, 40 + number / 5, 43 + number / 5) for number in range(100)]
    scene = Scene(courses)
    scene.wait()
    assert len(scene.listings) <= 20
    assert scene.time - courses[-1].online <= 3.0


def test_once_all_are_registered_the_last_to_connect_is_noticed_at_once() -> None:
    scene = Scene([Course(0.0, 2.0, 3.1), Course(0.0, 2.0, 3.6)])
    scene.wait()
    assert scene.time - 3.6 <= 0.3


def test_each_phase_of_each_instance_is_a_line_and_so_is_a_long_silence() -> None:
    scene = Scene([Course(9.0, 95.0, 98.0)])
    scene.wait()
    words = [line.split()[2] for line in scene.said]
    assert [word for word in words if word != "Still"] == [
        "launched",
        "booting",
        "registered",
        "online",
    ]
    assert words.count("Still") == 2
    quiet = next(line for line in scene.said if "Still" in line)
    assert quiet.endswith(
        "Still waiting for 1 of 1: 1 booting (boot script and registration under way)"
    )


def test_listings_are_spread_over_what_the_token_has_left_and_that_is_said_once() -> None:
    budget = Budget(5000, 560, NOW + 3600)
    scene = Scene([Course(9.0, 400.0, 403.0)], budget=budget, costs=1)
    scene.wait()
    gaps = differences(scene.listings)
    assert min(gaps) > 15
    assert scene.budget is not None
    assert scene.budget.remaining >= 500
    assert sum("GitHub's token has few calls left" in line for line in scene.said) == 1
    assert max(differences(scene.looks)) <= 10  # an instance that ends is noticed all the same


@pytest.mark.parametrize("status", [403, 429])
def test_a_rate_limit_is_respected_while_the_instances_are_still_looked_at(status: int) -> None:
    scene = Scene([Course(1.0, 55.0, 58.0)], limited=RateLimitError("Too fast", status, 70.0))
    scene.wait()
    assert scene.listings == [pytest.approx(2.0, abs=1.0), pytest.approx(72.0, abs=1.0)]
    assert max(differences(scene.looks)) <= 10
    assert sum("in spite of: Too fast" in line for line in scene.said) == 1


def differences(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


def test_a_runner_that_came_meanwhile_counts_at_the_very_end() -> None:
    scene = Scene([Course(1.0, 99.0, 99.5)], budget=Budget(5000, 1, NOW + 3600))
    scene.wait(timeout=100.0)
    assert scene.time == pytest.approx(100.0)


def failure(scene: Scene, timeout: float = 100.0) -> RunnerLostError:
    with pytest.raises(RunnerLostError) as caught:
        scene.wait(timeout)
    return caught.value


def test_an_instance_that_ends_is_noticed_at_the_next_look() -> None:
    scene = Scene([Course(), Course(ends=20.0)])
    error = failure(scene)
    assert scene.time < 25
    assert [(item.instance.id, item.phase) for item in error.lost] == [("i-1", "booting")]
    assert error.late == ""


@pytest.mark.parametrize(
    ("course", "phase", "when"),
    [
        (Course(running=1e9, ends=20.0), "launched", "before its runner came online"),
        (Course(ends=20.0), "booting", "before its runner came online"),
        (Course(registered=15.0, online=1e9, ends=60.0), "registered", "before its runner came"),
        (Course(registered=15.0, online=16.0, ends=60.0), "online", "before the others were onl"),
        # Its job was done, and its registration gone, some time before it ended.
        (Course(registered=15.0, online=16.0, gone=30.0, ends=60.0), "online", "before the others"),
    ],
)
def test_an_end_in_any_phase_is_explained(course: Course, phase: str, when: str) -> None:
    scene = Scene([Course(registered=1e9), course])
    looks = Examination(cast("Ec2", scene), str, lambda *_: None, scene.sleep)
    error = looks.explain(failure(scene))
    assert [(item.instance.id, item.phase) for item in error.lost] == [("i-1", phase)]
    assert f"is terminated {when}" in error.lines[0]


def test_of_many_that_end_ten_are_lines_and_the_others_one() -> None:
    error = failure(Scene([Course(ends=20.0)] * 100))
    assert len(error.lines) == 11
    assert error.lines[-1].startswith("90 more instances ended, too: i-10, i-11, ")


def test_of_many_that_are_late_ten_are_named() -> None:
    error = failure(Scene([Course(running=1.0, registered=1e9)] * 40))
    (line,) = error.lines
    assert line.startswith(
        "gh_timeout: after 100 seconds 40 of 40 runners are not online: runner-0 (i-0) is booting,"
    )
    assert "runner-9 (i-9) is booting, and 30 more. 'booting': " in line


@pytest.mark.parametrize("count", [1, 100])
def test_three_missed_polls_are_four_listings_whatever_the_number(
    inside: World, count: int
) -> None:
    """With the registration token and the downloads: 6 calls of GitHub for the whole start."""
    world = inside
    world.ec2.rules.boot(never=True)
    with closing(aws(world, "ec2")) as client:
        image = client.describe_images()["Images"][0]["ImageId"]
        client.run_instances(ImageId=image, InstanceType="t3.micro", MinCount=count, MaxCount=count)
    ec2, seconds = Ec2("us-east-1"), [0.0]
    launched = list(ec2.instances(item.id for item in world.ec2.instances()).values())
    labels = {item.id: f"runner-{item.launch_index}" for item in launched}
    world.calls.clear()

    def sleep(pause: float) -> None:
        seconds[0] += pause
        if len(world.calls.all("github")) == 3:
            for label in labels.values():
                world.github.add_runner(REPOSITORY, label, [label])

    with closing(GitHub(TOKEN, REPOSITORY, world.github.url)) as github:
        wait_until_online(
            *(launched, labels, ec2, github),
            timeout=600,
            say=print,
            clock=lambda: seconds[0],
            sleep=sleep,
        )
    assert len(world.calls.all("github")) == 4
    assert world.calls.count("DescribeInstances") <= 6


def test_ec2_gets_one_chance_a_look_so_that_the_wait_ends_in_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    world.faults.add(Fault("DescribeInstances", status=500, times=None))
    scene = Scene([Course()])
    monkeypatch.setattr(scene, "instances", Ec2("us-east-1").instances)
    error = failure(scene, timeout=20.0)
    assert "DescribeInstances" in error.trouble
    assert world.calls.count("DescribeInstances") == sum("in spite" in line for line in scene.said)
