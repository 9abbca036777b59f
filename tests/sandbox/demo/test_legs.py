from __future__ import annotations

import pytest
from sandbox.demo.legs import Leg, Legs

ONE, OTHER = "Run Matrix Test-1/Reusable Matrix Test", "Run Matrix Test-2/Reusable Matrix Test"


@pytest.fixture
def legs() -> Legs:
    return Legs({ONE: {"instance_type": "g4dn.xlarge"}, OTHER: {"instance_type": "g4dn.2xlarge"}})


def test_a_leg_is_titled_by_its_matrix_values(legs: Legs) -> None:
    assert [leg.title for leg in legs.all] == ["g4dn.xlarge", "g4dn.2xlarge"]


def test_an_instance_belongs_to_the_leg_that_asked_for_its_type(legs: Legs) -> None:
    assert legs.of_instance("i-0123456789abcdef0", "g4dn.2xlarge") is legs.all[1]


def test_what_start_runner_said_counts_more_than_the_type(legs: Legs) -> None:
    legs.all[0].learn_output("mapping", '{"i-0123456789abcdef0": "runner-ab12cd34"}')
    assert legs.of_instance("i-0123456789abcdef0", "g4dn.2xlarge") is legs.all[0]


def test_a_type_that_two_legs_ask_for_says_nothing() -> None:
    legs = Legs({ONE: {"instance_type": "t3.large"}, OTHER: {"instance_type": "t3.large"}})
    assert legs.of_instance("i-0123456789abcdef0", "t3.large") is None


def test_a_runner_belongs_to_the_leg_of_the_instance_in_its_name(legs: Legs) -> None:
    legs.all[1].instances["i-0123456789abcdef0"] = "g4dn.2xlarge, us-east-1a"
    assert legs.of_runner("runner-ab12cd34-i-0123456789abcdef0") is legs.all[1]


def test_a_runner_without_an_instance_belongs_to_none(legs: Legs) -> None:
    assert legs.of_runner("somebody-elses") is None


def test_labels_are_those_start_runner_gave_out(legs: Legs) -> None:
    legs.all[0].learn_output("instances", '["runner-ab12cd34"]')
    assert legs.all[0].labels == ["runner-ab12cd34"]


def test_the_empty_outputs_of_a_failed_start_change_nothing(legs: Legs) -> None:
    legs.all[0].learn_output("mapping", '{"i-0123456789abcdef0": "runner-ab12cd34"}')
    legs.all[0].learn_output("mapping", "")
    assert legs.all[0].mapping == {"i-0123456789abcdef0": "runner-ab12cd34"}


def test_the_first_time_of_a_phase_stays() -> None:
    leg = Leg(ONE, "g4dn.xlarge", "g4dn.xlarge")
    assert leg.reached("online", 5.0)
    assert not leg.reached("online", 7.0)
    assert leg.at == {"online": 5.0}
