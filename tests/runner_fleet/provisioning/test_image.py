"""Which image is the newest that fits."""

from __future__ import annotations

from runner_fleet.ec2_model import Image
from runner_fleet.provisioning.image import newest


def image(name: str, created: str, architecture: str = "x86_64", windows: bool = False) -> Image:
    return Image(
        f"ami-{name}", name, architecture, "/dev/sda1", ("/dev/sda1",), 8, created, windows
    )


def test_the_newest_is_taken_whatever_the_order() -> None:
    images = [image("b", "2026-02-01"), image("c", "2026-03-01"), image("a", "2026-01-01")]
    assert newest(images, ["x86_64"]) == images[1]


def test_an_image_of_another_architecture_is_passed_over() -> None:
    images = [image("a", "2026-01-01"), image("b", "2026-02-01", "arm64")]
    assert newest(images, ["x86_64"]) == images[0]


def test_a_windows_image_is_passed_over_where_there_is_another() -> None:
    images = [image("a", "2026-01-01"), image("b", "2026-02-01", windows=True)]
    assert newest(images, ["i386", "x86_64"]) == images[0]


def test_a_name_that_finds_only_windows_images_means_them() -> None:
    images = [image(name, f"2026-0{name}-01", windows=True) for name in "123"]
    assert newest(images, ["i386", "x86_64"]) == images[2]


def test_a_windows_image_is_no_substitute_for_one_of_another_architecture() -> None:
    images = [image("a", "2026-01-01", "arm64"), image("b", "2026-02-01", windows=True)]
    assert newest(images, ["x86_64"]) is None


def test_the_same_image_is_taken_every_time_among_equals() -> None:
    images = [image("a", "2026-01-01"), image("b", "2026-01-01")]
    assert newest(images, ["x86_64"]) == newest(images[::-1], ["x86_64"]) == images[1]


def test_there_may_be_none() -> None:
    assert newest([], ["x86_64"]) is None
