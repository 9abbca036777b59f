"""Which candidate is next, and when the walk is over."""

from __future__ import annotations

from runner_fleet.provisioning.candidates import Candidate
from runner_fleet.provisioning.walk import Pause, Walk

A = Candidate("spot", "us-east-1", "g4dn.xlarge", "subnet-a")
B = Candidate("spot", "us-east-1", "g5.xlarge", "subnet-a")
C = Candidate("spot", "us-west-2", "g4dn.xlarge", "subnet-c")


def walk(*candidates: Candidate, timeout: float = 300.0, chance: float = 1.0) -> Walk:
    return Walk(candidates, timeout, lambda: chance)


def test_all_are_tried_in_order_and_then_again_after_a_pause() -> None:
    steps = walk(A, B)
    found = [steps.next(0.0) for _ in range(7)]
    assert found == [A, B, Pause(2.0), A, B, Pause(4.0), A]
    assert steps.passes == 3


def test_without_time_each_is_tried_once() -> None:
    steps = walk(A, B, timeout=0.0)
    assert [steps.next(elapsed) for elapsed in (0.0, 0.4, 0.8)] == [A, B, None]


def test_pauses_grow_to_a_minute() -> None:
    steps = walk(A, timeout=10_000.0)
    pauses = [step.seconds for step in (steps.next(0.0) for _ in range(16)) if step != A and step]  # type: ignore[union-attr]
    assert pauses == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_pauses_differ_by_chance_between_half_and_all() -> None:
    steps = walk(A, chance=0.0)
    assert [steps.next(0.0), steps.next(0.0)] == [A, Pause(1.0)]


def test_the_last_pass_begins_when_the_time_is_over() -> None:
    steps = walk(A, B, timeout=10.0)
    elapsed = [0.0, 1.0, 9.0, 10.0, 11.0, 12.0]
    assert [steps.next(now) for now in elapsed] == [A, B, Pause(1.0), A, B, None]


def test_a_pass_that_was_begun_is_finished() -> None:
    steps = walk(A, B, timeout=1.0)
    assert [steps.next(0.0), steps.next(5.0), steps.next(6.0)] == [A, B, None]


def test_what_is_ruled_out_is_not_tried_again() -> None:
    steps = walk(A, B)
    assert steps.next(0.0) == A
    steps.rule_out(A)
    assert [steps.next(0.0) for _ in range(3)] == [B, Pause(2.0), B]


def test_it_is_over_at_once_when_everything_is_ruled_out() -> None:
    steps = walk(A)
    steps.next(0.0)
    steps.rule_out(A)
    assert steps.next(0.0) is None


def test_a_throttled_region_is_tried_again_after_growing_pauses() -> None:
    steps = walk(A, B)
    assert steps.next(0.0) == A
    steps.throttled(A)
    assert [steps.next(0.0), steps.next(0.0)] == [Pause(2.0, throttled=True), A]
    steps.throttled(A)
    assert [steps.next(0.0), steps.next(0.0)] == [Pause(4.0, throttled=True), A]
    assert steps.next(0.0) == B
    assert steps.next(0.0) == Pause(8.0)


def test_the_other_regions_are_tried_while_one_is_throttled() -> None:
    steps = walk(A, B, C)
    assert steps.next(0.0) == A
    steps.throttled(A)
    assert [steps.next(0.0), steps.next(0.0), steps.next(0.0)] == [C, Pause(2.0), A]


def test_the_other_regions_are_tried_even_when_the_time_is_over() -> None:
    steps = walk(A, B, C, timeout=0.0)
    steps.next(0.0)
    steps.throttled(A)
    assert [steps.next(7.0), steps.next(8.0)] == [C, None]


def test_regions_that_are_all_throttled_rest_together() -> None:
    steps = walk(A, B, C)
    for candidate in (A, C):
        assert steps.next(0.0) == candidate
        steps.throttled(candidate)
    assert [steps.next(0.0), steps.next(0.0)] == [Pause(2.0, throttled=True), A]


def test_throttling_beyond_the_time_ends_the_walk() -> None:
    steps = walk(A, B, timeout=5.0)
    steps.next(0.0)
    steps.throttled(A)
    assert steps.next(6.0) is None


def test_a_fleet_stays_in_its_region() -> None:
    steps = walk(A, B, C)
    steps.next(0.0)
    steps.stay_in("us-east-1")
    assert steps.candidates == [A, B]
