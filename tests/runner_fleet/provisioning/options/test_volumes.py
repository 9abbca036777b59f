"""What the root volume is to be like, as the inputs say it."""

from __future__ import annotations

import pytest

from tests.runner_fleet.provisioning.options.given import parsed, problems


def test_a_volume_of_no_size_is_refused_and_told_how_to_keep_the_images() -> None:
    assert problems(aws_root_device_size="0") == [
        "aws_root_device_size: '0' is too small: at least 1 (leave it out for the image's size)"
    ]


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"type": "st1"}, "type: st1 cannot be a root volume: take gp3"),
        ({"type": "ssd"}, "type: 'ssd' is not one of gp3, gp2, io1, io2, standard"),
        ({"type": "io2"}, "iops: is required for a volume of type io2"),
        ({"type": "gp2", "iops": "3000"}, "iops: a volume of type gp2 takes none: choose gp3, io1"),
        ({"iops": "2999"}, "iops: '2999' is too small: at least 3000"),
        ({"iops": "80001"}, "iops: '80001' is too large: at most 80000"),
        ({"type": "io1", "iops": "64001"}, "iops: '64001' is too large: at most 64000"),
        ({"throughput": "2001"}, "throughput: '2001' is too large: at most 2000"),
        ({"throughput": "124"}, "throughput: '124' is too small: at least 125"),
        ({"type": "gp2", "throughput": "125"}, "throughput: a volume of type gp2 takes none: only"),
        ({"kms_key": "my key"}, "kms_key: 'my key' is not a KMS key's id, ARN or alias"),
        ({"encrypted": "yes"}, "encrypted: 'yes' is neither true nor false"),
    ],
)
def test_a_volume_that_ec2_would_not_make_is_refused(inputs: dict[str, str], problem: str) -> None:
    (line,) = problems(**{f"aws_root_device_{name}": text for name, text in inputs.items()})
    assert line.startswith(f"aws_root_device_{problem}")


@pytest.mark.parametrize(
    "key",
    [
        "1234abcd-12ab-34cd-56ef-1234567890ab",
        "mrk-1234abcd12ab34cd56ef1234567890ab",
        "alias/aws/ebs",
        "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "arn:aws:kms:us-east-1:123456789012:alias/runners",
    ],
)
def test_a_key_is_an_id_an_arn_or_an_alias(key: str) -> None:
    assert parsed(aws_root_device_kms_key=key).machine.volumes.kms_key == key
