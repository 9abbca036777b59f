"""The boot script on a sandbox instance: what it becomes, and that it always ends."""

from __future__ import annotations

from sandbox.faults import Fault
from sandbox.world import World

from tests.actions.harness import Actions, until
from tests.actions.test_start import INPUTS, assert_nothing_left, live


def booted(actions: Actions, world: World, **inputs: str) -> tuple[int, str]:
    """Start one runner; its exit status and the console of the instance."""
    result = actions.run("start-runner", INPUTS | inputs)
    (instance,) = world.ec2.instances()
    return result.status, world.ec2.console(instance.id)


def test_the_instance_is_gone_when_its_job_is_done(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS)
    assert result.status == 0, result.log
    (instance,) = live(world)
    (runner,) = world.github.runners()
    run = world.github.add_run("octo-org/gpu-tests")
    job = world.github.queue_job(
        "octo-org/gpu-tests", run.id, "test", [label.name for label in runner.labels]
    )
    until(lambda: world.github.runners()[0].busy, "the job is taken")
    world.github.finish_job(job.id, "success")
    until(lambda: live(world) == [], "the instance powers off")
    assert_nothing_left(world)
    (ended,) = world.ec2.instances()
    assert ended.id == instance
    assert ended.state_reason == "Client.InstanceInitiatedShutdown"


def test_the_pre_runner_script_runs_in_the_home_before_the_runner_registers(
    actions: Actions, world: World
) -> None:
    script = 'echo "pre-runner in $PWD, HOME=$HOME" ; echo "it\'s \\"quoted\\" $((40 + 2))"'
    status, console = booted(actions, world, pre_runner_script=script)
    assert status == 0
    before, _, after = console.partition("runner registered")
    assert "/home/ubuntu, HOME=" in before
    assert 'it\'s "quoted" 42' in before
    assert after


def test_a_pre_runner_script_that_fails_takes_the_instance_back(
    actions: Actions, world: World
) -> None:
    status, console = booted(actions, world, pre_runner_script="echo before\n(exit 7)\necho after")
    assert status == 1
    assert "error [pre-script-failed]: pre_runner_script ended with status 7" in console
    assert_nothing_left(world)


def test_a_home_that_is_not_there_takes_the_instance_back(actions: Actions, world: World) -> None:
    status, console = booted(actions, world, aws_home_dir="/home/nobody-here")
    assert status == 1
    assert "home directory /home/nobody-here does not exist on this image" in console
    assert_nothing_left(world)


def test_without_a_home_the_images_first_user_is_taken(actions: Actions, world: World) -> None:
    status, console = booted(actions, world, aws_home_dir="")
    assert status == 0
    assert "runner registered" in console


def test_an_archive_that_came_broken_is_fetched_again(actions: Actions, world: World) -> None:
    world.faults.add(Fault("GET /_downloads/", status=200, body="not what was promised"))
    status, console = booted(actions, world)
    assert status == 0
    assert "trying again in 1 s: download" in console


def test_an_archive_with_another_digest_is_not_run(actions: Actions, world: World) -> None:
    world.faults.add(
        Fault("GET /_downloads/", status=200, body="not what was promised", times=None)
    )
    result = actions.run("start-runner", INPUTS)
    assert result.status == 1
    (error,) = result.errors
    assert "[bad-digest]" in error
    (instance,) = world.ec2.instances()
    (directory,) = world.directory.glob(f"ec2/{instance.id}/home/ubuntu/actions-runner")
    assert [path.name for path in directory.iterdir()] == ["runner.tar.gz"]
    assert_nothing_left(world)


def test_an_arm_instance_gets_the_runner_for_arm(actions: Actions, world: World) -> None:
    name = "Deep Learning ARM64 Base OSS Nvidia Driver GPU AMI"
    status, console = booted(actions, world, aws_instance_type="g5g.xlarge", aws_image_name=name)
    assert status == 0, console
    (runner,) = world.github.runners()
    assert runner.arch.lower() == "arm64"


def test_an_idle_instance_ends_at_its_maximum_lifetime(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS | {"max_lifetime_minutes": "90"})
    assert result.status == 0, result.log
    world.ec2.advance(89 * 60)
    assert len(live(world)) == 1
    world.ec2.advance(2 * 60)
    until(lambda: live(world) == [], "the shutdown")


def test_an_interrupted_spot_instance_fails_its_job_at_once(actions: Actions, world: World) -> None:
    result = actions.run("start-runner", INPUTS | {"market": "spot"})
    assert result.status == 0, result.log
    (instance,) = live(world)
    (runner,) = world.github.runners()
    run = world.github.add_run("octo-org/gpu-tests")
    labels = [label.name for label in runner.labels]
    job = world.github.queue_job("octo-org/gpu-tests", run.id, "test", labels)
    until(lambda: world.github.runners()[0].busy, "the job is taken")
    world.ec2.interrupt(instance)
    until(lambda: live(world) == [], "the instance powers off")
    console = world.ec2.console(instance)
    assert "spot interruption notice: terminate at 2026-10-01T12:02:00Z" in console
    (ended,) = [one for one in world.github.jobs() if one.id == job.id]
    assert ended.status == "completed"
    assert ended.conclusion == "cancelled"


def test_a_spot_instance_taken_back_before_a_job_leaves_no_registration(
    actions: Actions, world: World
) -> None:
    result = actions.run("start-runner", INPUTS | {"market": "spot"})
    assert result.status == 0, result.log
    (instance,) = live(world)
    world.ec2.interrupt(instance)
    until(lambda: live(world) == [], "the instance powers off")
    assert "runner-fleet: registration removed" in world.ec2.console(instance)
    assert_nothing_left(world)
