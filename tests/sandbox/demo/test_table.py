from __future__ import annotations

from sandbox.demo.calls import Count
from sandbox.demo.legs import BY_ITSELF, BY_STOP, Leg
from sandbox.demo.table import WIDTH, table


def leg(title: str = "g4dn.xlarge") -> Leg:
    instance, runner = "i-0123456789abcdef0", "runner-ab12cd34-i-0123456789abcdef0"
    made = Leg("Run Matrix Test-1/Reusable Matrix Test", title, title)
    made.instances[instance] = f"{title}, us-east-1a"
    made.runners.append(runner)
    made.ran_on.append(runner)
    made.results["test"] = "success"
    made.left_by |= {instance: BY_ITSELF, runner: BY_ITSELF}
    made.reached("began", 100.0)
    made.reached("launched", 101.5)
    made.reached("online", 103.75)
    made.reached("stop returned", 110.0)
    return made


def row(text: str, name: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(name)]
    return line.removeprefix(name).strip()


def test_it_says_what_was_launched_where_the_test_ran_and_how_it_ended() -> None:
    text = table([leg()], [], 0, 0)
    assert row(text, "launched") == "i-0123456789abcdef0"
    assert row(text, "  type, zone") == "g4dn.xlarge, us-east-1a"
    assert row(text, "test ran on") == "i-0123456789abcdef0"
    assert row(text, "  its runner") == "runner-ab12cd34"
    assert row(text, "test result") == "success"
    assert row(text, "instance ended") == "by itself, after its one job"
    assert row(text, "  stop-runner") == "found nothing left to end"
    assert row(text, "runner left") == "by itself, after its one job"


def test_it_says_what_stop_runner_had_to_end() -> None:
    made = leg()
    made.left_by["i-0123456789abcdef0"] = BY_STOP
    text = table([made], [], 0, 0)
    assert row(text, "instance ended") == "by stop-runner"
    assert row(text, "  stop-runner") == "ended what was left"


def test_it_says_when_stop_runner_never_ran() -> None:
    made = leg()
    del made.at["stop returned"]
    assert row(table([made], [], 0, 0), "  stop-runner") == "never ran"


def test_a_phase_has_its_own_seconds_and_those_since_the_first_job_began() -> None:
    assert row(table([leg()], [], 0, 0), "  online").split() == ["2.25", "3.75"]


def test_a_phase_that_never_came_is_a_dash() -> None:
    assert row(table([leg()], [], 0, 0), "  terminated") == "-"


def test_calls_are_summed_by_service_and_altogether() -> None:
    counts = [
        Count("ec2", "RunInstances", 2, 0),
        Count("ec2", "TerminateInstances", 0, 2),
        Count("github", "GET /actions/runners", 4, 2),
    ]
    text = table([], counts, 0, 0)
    assert row(text, "ec2, all").split() == ["2", "2", "4"]
    assert row(text, "total").split() == ["6", "4", "10"]


def test_the_last_line_says_what_is_left() -> None:
    last = table([leg()], [], 1, 2).splitlines()[-1]
    assert last == "instances left: 1, registrations left: 2"


def test_it_fits_a_terminal_with_any_number_of_legs() -> None:
    counts = [Count("github", "GET " + "/very-long" * 20, 1000, 1000)]
    legs = [leg(), leg("g4dn.2xlarge"), leg("p5.48xlarge with a long title" * 3)]
    assert WIDTH == 80
    assert max(len(line) for line in table(legs, counts, 0, 0).splitlines()) <= WIDTH


def test_what_is_not_gone_is_said_to_be_there() -> None:
    made = leg()
    made.left_by.clear()
    assert row(table([made], [], 1, 1), "instance ended") == "still there"
