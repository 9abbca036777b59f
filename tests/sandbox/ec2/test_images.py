"""The images there are to choose from."""

from __future__ import annotations

from typing import Any

PREFIX = "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)"


def _named(cloud: Any, name: str, owner: str = "amazon") -> list[Any]:
    filters = [{"Name": "name", "Values": [name]}]
    return list(cloud.client.describe_images(Owners=[owner], Filters=filters)["Images"])


def test_images_of_one_name_have_different_dates(cloud: Any) -> None:
    dates = [image["CreationDate"] for image in _named(cloud, f"{PREFIX}*")]

    assert len(set(dates)) == 4
    assert dates != sorted(dates)
    assert max(dates) == "2025-10-17T08:55:30.000Z"


def test_canonical_s_images_are_found_by_their_owner(cloud: Any) -> None:
    images = _named(cloud, "ubuntu/images/*24.04*", "099720109477")

    assert {image["Architecture"] for image in images} == {"x86_64", "arm64"}


def test_images_are_found_by_architecture(cloud: Any) -> None:
    filters = [{"Name": "architecture", "Values": ["arm64"]}]
    images = cloud.client.describe_images(Owners=["amazon"], Filters=filters)["Images"]

    assert {image["Architecture"] for image in images} == {"arm64"}


def test_an_image_tells_its_root_device_and_its_size(cloud: Any) -> None:
    [image] = cloud.client.describe_images(ImageIds=["ami-0d1a0000000000003"])["Images"]
    [device] = image["BlockDeviceMappings"]

    assert (image["RootDeviceName"], device["DeviceName"]) == ("/dev/sda1", "/dev/sda1")
    assert device["Ebs"]["VolumeSize"] == 65


def test_an_unknown_image_fails_the_question(cloud: Any, refusal: Any) -> None:
    asked = ["ami-0d1a0000000000003", "ami-0123456789abcdef0"]

    refused = refusal(cloud.client.describe_images, ImageIds=asked)

    assert refused[1:] == (
        "InvalidAMIID.NotFound",
        "The image id '[ami-0123456789abcdef0]' does not exist",
    )


def test_an_image_id_can_be_a_parameter_s_name(cloud: Any) -> None:
    cloud.of("ssm").put_parameter(Name="/ci/image", Value="ami-0c240000000000001", Type="String")

    [instance] = cloud.launch(ImageId="resolve:ssm:/ci/image")

    assert instance["ImageId"] == "ami-0c240000000000001"


def test_a_parameter_that_does_not_exist_launches_nothing(cloud: Any, refusal: Any) -> None:
    refused = refusal(cloud.run, ImageId="resolve:ssm:/ci/image")

    assert refused[:2] == (400, "InvalidParameterValue")
    assert "/ci/image" in refused[2]
