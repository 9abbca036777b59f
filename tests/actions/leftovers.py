"""What starts may leave behind, made without a start."""

from __future__ import annotations

from sandbox.world import REPOSITORY, World

from tests.actions.harness import aws


def launch(world: World, region: str = "us-east-1", zone: str = "", **tags: str) -> str:
    """An instance with tags of start-runner's, `run_id` for `runner-fleet:run-id`; its id."""
    ec2 = aws(world, "ec2", region)
    image = ec2.describe_images(
        Owners=["amazon"], Filters=[{"Name": "architecture", "Values": ["x86_64"]}]
    )["Images"][0]["ImageId"]
    values = {
        "repository": REPOSITORY,
        "run_repository": REPOSITORY,
        "run_attempt": "1",
        "job": "start-aws-runner",
        "fleet_id": "1-1-start-aws-runner-ab12cd99",
    } | tags
    named = [
        {"Key": f"runner-fleet:{name.replace('_', '-')}", "Value": value}
        for name, value in values.items()
    ]
    reply = ec2.run_instances(
        ImageId=image,
        InstanceType="g4dn.xlarge",
        MinCount=1,
        MaxCount=1,
        Placement={"AvailabilityZone": zone} if zone else {},
        TagSpecifications=[{"ResourceType": "instance", "Tags": named}],  # type: ignore[misc, list-item]
    )
    ec2.close()
    return reply["Instances"][0]["InstanceId"]


def workflow_run(world: World, *jobs: tuple[str, str, str]) -> str:
    """A run whose jobs have these names, runners and statuses; its id."""
    run = world.github.add_run(REPOSITORY, stays_open=True)
    for name, runner, status in jobs:
        job = world.github.queue_job(REPOSITORY, run.id, name, ["ubuntu-latest"], status=status)
        world.github.set_job(job.id, runner_name=runner)
    return str(run.id)


def over(world: World) -> str:
    """The id of a run that is completed."""
    return str(world.github.add_run(REPOSITORY, status="completed", conclusion="success").id)


def under_way(world: World) -> str:
    """The id of a run that is not."""
    return str(world.github.add_run(REPOSITORY, status="in_progress").id)


def token_for_runners_only(world: World) -> str:
    """A token that may manage the repository's runners, and not read its runs."""
    token = "ghs_without_actions"
    world.github.add_token(
        token,
        repos={REPOSITORY: "admin"},
        kind="installation",
        permissions={"administration": "write"},
    )
    return token
