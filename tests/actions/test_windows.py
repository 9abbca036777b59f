"""start-runner with a Windows image, as far as a machine without PowerShell can go."""

from __future__ import annotations

from sandbox.world import World

from tests.actions.harness import Actions, until
from tests.powershell import assigned, errors, parse

INPUTS = {
    "aws_image_name": "Windows_Server-2022-English-Full-Base",
    "aws_instance_type": "g4dn.xlarge",
}


def test_a_windows_instance_gets_powershell_and_is_given_up_when_it_does_not_come(
    actions: Actions, world: World
) -> None:
    running = actions.begin("start-runner", INPUTS | {"gh_timeout": "2"})
    until(world.ec2.user_data_of_living, "an instance")
    (data,) = world.ec2.user_data_of_living()
    result = running.result()
    assert result.status == 1
    (line,) = result.errors
    assert line.startswith("gh_timeout: after 2 seconds 1 of 1 runners are not online: ")

    (instance,) = world.ec2.instances()
    assert instance.state == "terminated"
    assert instance.image == "ami-0e5c0000000000002"  # the newer one of that name
    assert "there is no PowerShell in the sandbox" in world.ec2.console(instance.id)
    script, _, rest = data.removeprefix("<powershell>\n").partition("</powershell>")
    assert rest == "\n<persist>false</persist>\n"
    assert errors(parse(script)) == []
    values = assigned(parse(script))
    assert "actions-runner-win-x64-" in values["FLEET_ARCHIVE_X64"]
    assert values["FLEET_TOKEN"] not in result.log.replace(
        f"::add-mask::{values['FLEET_TOKEN']}", ""
    )


def test_a_home_of_linux_is_refused_for_a_windows_image(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS | {"aws_home_dir": "/home/ubuntu"})
    assert result.status == 1
    (line,) = result.errors
    assert line == (
        "aws_home_dir: '/home/ubuntu' is no path of the image's system, Windows: give one like "
        "C:\\runners, or leave it out"
    )
    assert world.ec2.instances() == []


def test_prices_are_those_of_windows(actions: Actions, world: World) -> None:
    inputs = {
        "aws_instance_type": "g4dn.xlarge, g5.xlarge",
        "market": "spot-then-on-demand",
        "placement_strategy": "cheapest-first",
        "aws_home_dir": "/home/ubuntu",  # fails before the launch
    }
    assert actions.run("start-runner", INPUTS | inputs).status == 1
    asked = {call.operation: call.fields for call in actions.calls()}
    assert asked["DescribeSpotPriceHistory"]["ProductDescription.1"] == "Windows"
