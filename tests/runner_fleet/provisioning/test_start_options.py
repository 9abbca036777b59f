"""What start-runner makes of its inputs."""

from __future__ import annotations

import json

import pytest
import yaml
from runner_fleet.ec2_template import TemplateName
from runner_fleet.ec2_volumes import Volumes
from runner_fleet.errors import InputError
from runner_fleet.provisioning.options.start import StartOptions, start_options

from tests.actions.harness import ROOT

ENVIRON = {
    "GITHUB_REPOSITORY": "octo-org/gpu-tests",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_JOB": "start-aws-runner",
    "GH_PAT": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "AWS_REGION": "us-east-1",
}
GOOD = {"aws_image_id": "ami-0123456789abcdef0", "aws_instance_type": "g4dn.xlarge"}


def parsed(**inputs: str) -> StartOptions:
    return start_options(GOOD | inputs, ENVIRON)


def problems(environ: dict[str, str] | None = None, /, **inputs: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        start_options(GOOD | inputs, ENVIRON if environ is None else environ)
    return list(caught.value.lines)


def test_two_inputs_are_enough() -> None:
    options = parsed()
    assert options.placement.count == 1
    assert options.placement.regions == ("us-east-1",)
    assert options.timeout == 1200
    assert options.boot.max_lifetime == 360
    assert options.machine.volumes == Volumes(size=None, type="", encrypted=True, kms_key="")
    assert options.machine.hop_limit == 1
    assert options.machine.public_ip is None
    assert options.github.repository == "octo-org/gpu-tests"
    assert options.github.api_url == "https://api.github.com"


def test_an_image_name_alone_means_the_newest_of_that_name() -> None:
    options = start_options({"aws_image_name": "Ubuntu", "aws_instance_type": "t3.small"}, ENVIRON)
    assert options.machine.image_ids == {"": ("latest",)}


def test_latest_without_a_name_is_refused() -> None:
    assert problems(aws_image_id="latest") == [
        "aws_image_name: is required with aws_image_id 'latest': how its name begins"
    ]


def test_repo_is_honoured() -> None:
    assert parsed(repo="other/place").github.repository == "other/place"


@pytest.mark.parametrize("repo", ["noslash", "a/b/c", "-a/b", "https://github.com/a/b", "a/b c"])
def test_a_repo_that_is_not_owner_and_name_is_refused(repo: str) -> None:
    assert problems(repo=repo) == [f"repo: {repo!r} is not a repository as owner/name"]


@pytest.mark.parametrize("name", ["instance_count", "gh_timeout", "max_lifetime_minutes"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("three", "'three' is not a whole number"),
        ("1.5", "'1.5' is not a whole number"),
        ("\u0661", "'\u0661' is not a whole number"),
        ("0", "'0' is too small: at least 1"),
        ("-1", "'-1' is too small: at least 1"),
    ],
)
def test_a_number_that_is_none_is_refused(name: str, value: str, text: str) -> None:
    assert problems(**{name: value}) == [f"{name}: {text}"]


def test_a_volume_of_no_size_is_refused_and_told_how_to_keep_the_images() -> None:
    assert problems(aws_root_device_size="0") == [
        "aws_root_device_size: '0' is too small: at least 1 (leave it out for the image's size)"
    ]


@pytest.mark.parametrize(
    "text",
    ['{"team": "gpu", "cost": "42"}', '[{"Key":"team","Value":"gpu"},{"Key":"cost","Value":"42"}]'],
)
def test_tags_come_as_an_object_or_as_a_list(text: str) -> None:
    assert parsed(aws_tags=text).machine.tags == {"team": "gpu", "cost": "42"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{oops", "is not a JSON object"),
        ("7", "is not a JSON object"),
        ('[{"Key": "a"}]', "an item needs exactly Key and Value"),
        ('{"a": 1}', "tag 'a': key and value must be strings"),
        ('{"aws:x": "1"}', "tag 'aws:x': this prefix is reserved"),
        ('{"runner-fleet:fleet-id": "1"}', "tag 'runner-fleet:fleet-id': this prefix is reserved"),
        ('[{"Key":"a","Value":"1"},{"Key":"a","Value":"2"}]', "tag 'a' is given twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": "\\u0000"}', "tag 'a': control characters are not allowed"),
        ('{"a": "\\ud800"}', "tag 'a': control characters are not allowed"),
    ],
)
def test_bad_tags_are_refused(text: str, problem: str) -> None:
    (line,) = problems(aws_tags=text)
    assert line.startswith("aws_tags: ")
    assert problem in line


def test_labels_are_trimmed_and_empty_ones_dropped() -> None:
    assert parsed(extra_gh_labels=" gpu, big box ,,gpu").boot.extra_labels == ("gpu", "big box")


@pytest.mark.parametrize("label", ["a'b", 'a"b', "a\nb", "a$(id)", "x" * 257, "tab\there"])
def test_a_label_that_could_hurt_is_refused(label: str) -> None:
    (line,) = problems(extra_gh_labels=f"good,{label}")
    assert line.startswith("extra_gh_labels: label ")
    assert "\n" not in line


@pytest.mark.parametrize(
    "text", ["sg-11111111,sg-22222222", "sg-11111111 sg-22222222", '["sg-11111111", "sg-22222222"]']
)
def test_security_groups_are_one_or_several(text: str) -> None:
    assert parsed(aws_security_group_id=text).machine.security_group_ids == {
        "": ("sg-11111111", "sg-22222222")
    }


@pytest.mark.parametrize(
    "text", ["g4dn.xlarge, g5.xlarge", "g4dn.xlarge\ng5.xlarge", '["g4dn.xlarge","g5.xlarge"]']
)
def test_instance_types_are_one_or_several_in_order(text: str) -> None:
    assert parsed(aws_instance_type=text).placement.instance_types == ("g4dn.xlarge", "g5.xlarge")


def test_regions_are_one_or_several_in_order() -> None:
    options = start_options(
        {"aws_image_name": "Ubuntu", "aws_instance_type": "t3.small"}
        | {"aws_region_name": "us-west-2, us-east-1"},
        ENVIRON,
    )
    assert options.placement.regions == ("us-west-2", "us-east-1")


def test_ids_may_differ_by_region() -> None:
    text = '{"us-east-1": ["subnet-11111111", "subnet-22222222"], "us-west-2": "subnet-33333333"}'
    options = parsed(
        aws_region_name="us-east-1,us-west-2",
        aws_image_id='{"us-east-1": "ami-11111111", "us-west-2": "resolve:ssm:/image"}',
        aws_subnet_id=text,
    )
    assert options.placement.subnets_of("us-east-1") == ("subnet-11111111", "subnet-22222222")
    assert options.placement.subnets_of("us-west-2") == ("subnet-33333333",)
    assert options.machine.image_ids == {
        "us-east-1": ("ami-11111111",),
        "us-west-2": ("resolve:ssm:/image",),
    }


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "aws_subnet_id",
            "subnet-11111111",
            (
                "ids differ by region: for several regions give a JSON object like "
                '{"us-east-1": "…", "us-west-2": "…"}'
            ),
        ),
        (
            "aws_security_group_id",
            '{"us-east-1": "sg-11111111"}',
            "has no value for us-west-2, which aws_region_name lists",
        ),
        (
            "aws_subnet_id",
            '{"us-east-1": "subnet-11111111", "us-west-2": "nothing"}',
            "'nothing' is not a subnet id (subnet-0123456789abcdef0)",
        ),
        (
            "aws_subnet_id",
            '{"us-east-1": "subnet-11111111", "us-west-2": 7}',
            "us-west-2: needs a string or an array of strings",
        ),
        ("aws_subnet_id", '{"us-east-1": ', 'is not a JSON object like {"us-east-1": "…"}'),
        (
            "aws_image_id",
            '{"us-east-1": ["ami-11111111", "ami-22222222"], "us-west-2": "ami-33333333"}',
            "takes one image (for each region)",
        ),
    ],
)
def test_ids_by_region_that_do_not_fit_are_refused(name: str, text: str, problem: str) -> None:
    regions = {"aws_region_name": "us-east-1,us-west-2", "aws_image_name": "x"}
    inputs = {"aws_image_id": "latest", name: text}
    assert problems(**regions, **inputs)[0].startswith(f"{name}: {problem}")


def test_without_more_a_start_wants_all_instances_on_demand_within_five_minutes() -> None:
    options = parsed(instance_count="3").placement
    assert (options.minimum, options.markets, options.timeout) == (3, ("on-demand",), 300)
    assert not options.cheapest_first


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"instance_count": "3", "min_count": "4"}, "min_count: '4' is too large: at most 3"),
        (
            {"min_count": "0"},
            "min_count: '0' is too small: at least 1 (leave it out for all)",
        ),
        ({"capacity_timeout": "-1"}, "capacity_timeout: '-1' is too small: at least 0"),
        (
            {"market": "cheap"},
            "market: 'cheap' is not one of on-demand, spot, spot-then-on-demand",
        ),
        (
            {"placement_strategy": "random"},
            "placement_strategy: 'random' is not one of in-order, cheapest-first",
        ),
        ({"aws_prices": "0.5"}, "aws_prices: is not a JSON object of numbers"),
        ({"aws_prices": '{"g4dn": 1}'}, "aws_prices: 'g4dn' is not an instance type like g4dn.xla"),
        ({"aws_prices": '{"g5.xlarge": 0}'}, "aws_prices: g5.xlarge: is not a number above 0"),
        ({"aws_prices": '{"g5.xlarge": NaN}'}, "aws_prices: g5.xlarge: is not a number above 0"),
        ({"aws_prices": '{"g5.xlarge": true}'}, "aws_prices: g5.xlarge: is not a number above 0"),
    ],
)
def test_a_wish_for_places_that_cannot_be_is_refused(inputs: dict[str, str], problem: str) -> None:
    (line,) = problems(**inputs)
    assert line.startswith(problem)


def test_an_arn_of_a_role_is_no_instance_profile() -> None:
    (line,) = problems(aws_iam_role="arn:aws:iam::123456789012:role/builder")
    assert (
        line
        == "aws_iam_role: takes an instance profile's name or ARN; this ARN is of something else"
    )


def test_more_instances_than_one_call_can_watch_are_refused() -> None:
    assert problems(instance_count="201") == ["instance_count: '201' is too large: at most 200"]


@pytest.mark.parametrize(
    "home",
    [
        *("home", "/home/../root", "/home/..", "/home/a b", "/home/$USER"),
        *("C:", "C:runners", "C:/runners", r"C:\a\..\b", r"C:\a b", r"C:\%TEMP%", r"\\host\share"),
    ],
)
def test_a_home_must_be_a_plain_absolute_path(home: str) -> None:
    (line,) = problems(aws_home_dir=home)
    assert line == (
        f"aws_home_dir: '{home}' is not an absolute path like /home/ubuntu (or C:\\runners, for a "
        "Windows image)"
    )


@pytest.mark.parametrize("home", ["/home/ubuntu", "C:\\runners", "d:\\", "D:\\a.b\\c-d_e"])
def test_a_home_may_be_one_of_either_system(home: str) -> None:
    assert parsed(aws_home_dir=home).boot.home == home


def test_a_script_typed_on_windows_gets_the_line_ends_of_bash() -> None:
    assert parsed(pre_runner_script="set -e\r\nmake").boot.pre_script == "set -e\nmake"


def test_an_instance_may_wait_for_a_job_for_ever() -> None:
    assert parsed(idle_timeout_minutes="0", instance_count="2").boot.idle_timeout == 0


def test_several_instances_must_not_end_while_they_wait_for_each_other() -> None:
    (line,) = problems(idle_timeout_minutes="10", instance_count="2")
    assert line == (
        "idle_timeout_minutes: 10 minutes are less than gh_timeout (1200 seconds): an instance "
        "that is ready early would end while it waits for the others. Give at least 20 minutes, "
        "0 for no limit, or less time in gh_timeout"
    )
    assert parsed(idle_timeout_minutes="10").boot.idle_timeout == 10
    assert parsed(gh_timeout="2400", instance_count="2").boot.idle_timeout == 40
    assert parsed(gh_timeout="2400").boot.idle_timeout == 30
    assert parsed(idle_timeout_minutes="10", gh_timeout="600", instance_count="2")


def test_nor_while_the_last_of_those_that_are_launched_alone_finds_no_room() -> None:
    given = {"instance_count": "2", "registration": "jit", "capacity_timeout": "700"}
    (line,) = problems(**given, idle_timeout_minutes="31")
    assert line.startswith(
        "idle_timeout_minutes: 31 minutes are less than capacity_timeout and gh_timeout (1900 s"
    )
    assert parsed(**given).boot.idle_timeout == 32
    assert parsed(**given, gh_timeout="1100")
    assert parsed(**given | {"registration": "token"})
    assert parsed(**given | {"instance_count": "1"})


@pytest.mark.parametrize("version", ["2.3", "v2.335.1", "newest", "2.335.1@sha256:12", "2.335.1 "])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    (line,) = problems(runner_version=version)
    assert line.startswith(f"runner_version: {version!r} is not 'latest', or a version like ")


def test_a_proxy_spares_the_metadata_service() -> None:
    proxy = dict(parsed(https_proxy="http://proxy:3128", no_proxy=" a.com, .b.com,").boot.proxy)
    assert proxy == {
        "https_proxy": "http://proxy:3128",
        "HTTPS_PROXY": "http://proxy:3128",
        "no_proxy": "a.com,.b.com,169.254.169.254",
        "NO_PROXY": "a.com,.b.com,169.254.169.254",
    }
    assert dict(parsed(http_proxy="http://[::1]:80").boot.proxy)["no_proxy"] == "169.254.169.254"
    assert parsed().boot.proxy == ()


@pytest.mark.parametrize("name", ["http_proxy", "https_proxy"])
def test_a_password_for_a_proxy_is_refused_and_not_shown(name: str) -> None:
    assert problems(**{name: "http://me:secret@proxy:3128"}) == [
        f"{name}: takes no user and password: whoever is on the instance could read them"
    ]


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"http_proxy": "proxy:3128"}, "http_proxy: 'proxy:3128' is not a URL like http://proxy."),
        (
            {"https_proxy": "http://a b"},
            "https_proxy: 'http://a b' is not a URL like http://proxy.",
        ),
        ({"no_proxy": "a.com"}, "no_proxy: has no effect without http_proxy or https_proxy"),
        (
            {"http_proxy": "http://p", "no_proxy": "$(id)"},
            "no_proxy: is not a list of hosts, separated by commas",
        ),
    ],
)
def test_a_proxy_that_cannot_work_is_refused(inputs: dict[str, str], problem: str) -> None:
    (line,) = problems(**inputs)
    assert line.startswith(problem)


@pytest.mark.parametrize("begin", ["#cloud-config", "#!/bin/sh", "#include", "## template: jinja"])
def test_a_part_for_cloud_init_is_passed_on(begin: str) -> None:
    extra = parsed(aws_user_data_extra=f"{begin}\r\nx: 1\r\n").boot.extra
    assert extra == f"{begin}\nx: 1\n"


@pytest.mark.parametrize("text", ["runcmd: [ls]", "MIME-Version: 1.0", " #cloud-config"])
def test_what_cloud_init_would_not_understand_is_refused(text: str) -> None:
    (line,) = problems(aws_user_data_extra=text)
    assert line == (
        "aws_user_data_extra: begins with none of #!, #cloud-config, #cloud-boothook, #include, "
        "#part-handler, ## template:, as cloud-init needs"
    )


def test_a_place_for_the_runner_must_be_a_plain_absolute_path() -> None:
    assert problems(runner_directory="opt/../runner") == [
        "runner_directory: 'opt/../runner' is not an absolute path like /opt/actions-runner"
    ]


@pytest.mark.parametrize("name", ["GITHUB_API_URL", "GITHUB_SERVER_URL", "AWS_ENDPOINT_URL"])
@pytest.mark.parametrize("url", ["foo", "127.0.0.1:80", "http://", "http://[::1", "ftp://x", "//x"])
def test_a_url_that_is_none_is_refused(name: str, url: str) -> None:
    (line,) = problems(ENVIRON | {name: url})
    assert line == f"{name}: {url!r} is not a URL like https://github.example.com"


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"])
def test_a_credential_with_a_line_end_is_refused_and_not_shown(name: str) -> None:
    (line,) = problems(ENVIRON | {name: "a-secret-value\n"})
    assert line == f"{name}: the value holds white space or control characters: set it anew"


def test_all_problems_come_in_one_report() -> None:
    lines = problems(
        {},
        aws_image_id="ami-xyz",
        aws_instance_type="big",
        aws_subnet_id="subnet",
        instance_count="none",
        aws_tags="[",
        extra_gh_labels='"',
        aws_home_dir="home",
        aws_image_owner="me",
    )
    assert sorted(line.partition(":")[0] for line in lines) == [
        "GH_PAT",
        "aws_home_dir",
        "aws_image_id",
        "aws_image_owner",
        "aws_instance_type",
        "aws_region_name",
        "aws_subnet_id",
        "aws_tags",
        "extra_gh_labels",
        "instance_count",
        "repo",
    ]


def test_more_tags_than_ec2_takes_are_refused() -> None:
    text = "{" + ",".join(f'"k{number}": "v"' for number in range(45)) + "}"
    assert problems(aws_tags=text) == ["aws_tags: 45 tags; 40 are allowed"]


def test_the_token_is_never_part_of_what_options_show() -> None:
    assert ENVIRON["GH_PAT"] not in repr(parsed())


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


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("gpu-runners", TemplateName("gpu-runners", "$Default")),
        ("gpu-runners:7", TemplateName("gpu-runners", "7")),
        ("lt-0123456789abcdef0:$Latest", TemplateName("lt-0123456789abcdef0", "$Latest")),
    ],
)
def test_a_launch_template_may_name_image_and_type(text: str, template: TemplateName) -> None:
    machine = start_options({"aws_launch_template": text}, ENVIRON).machine
    assert (machine.template, machine.image_ids) == (template, {})


@pytest.mark.parametrize("text", ["ab", "gpu:latest", "gpu:", "a template", "gpu:$Newest"])
def test_a_launch_template_that_is_none_is_refused(text: str) -> None:
    (line,) = problems(aws_launch_template=text)
    assert line.startswith(f"aws_launch_template: {text!r} is not a launch template's name or id")


def test_a_template_is_asked_for_by_name_or_by_id() -> None:
    assert TemplateName("gpu").parameters() == {"LaunchTemplateName": "gpu"}
    by_id = TemplateName("lt-0123456789abcdef0").parameters()
    assert by_id == {"LaunchTemplateId": "lt-0123456789abcdef0"}


@pytest.mark.parametrize("hops", ["0", "65"])
def test_a_hop_limit_outside_of_ec2s_is_refused(hops: str) -> None:
    (line,) = problems(metadata_hop_limit=hops)
    assert line.startswith(f"metadata_hop_limit: '{hops}' is too ")


@pytest.mark.parametrize(("text", "asked"), [("", None), ("true", True), ("False", False)])
def test_a_public_address_is_the_subnets_business_unless_asked_for(
    text: str, asked: bool | None
) -> None:
    assert parsed(associate_public_ip=text).machine.public_ip is asked


def test_bytes_that_are_no_text_are_refused_in_every_input() -> None:
    inputs = yaml.safe_load((ROOT / "start-runner" / "action.yml").read_text("utf-8"))["inputs"]
    for name in inputs:
        lines = problems(**{name: "#!/bin/sh\necho \udcff"})
        assert lines.count(f"{name}: is no text: it holds bytes that are not UTF-8") == 1


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (
            {"max_lifetime_minutes": "19"},
            (
                "max_lifetime_minutes: 19 minutes are less than gh_timeout (1200 seconds): an "
                "instance could end while the start still waits for it"
            ),
        ),
        (
            {"aws_root_device_throughput": "751"},
            (
                "aws_root_device_throughput: 751 MiB/s need aws_root_device_iops of at least 3004; "
                "it is 3000"
            ),
        ),
        (
            {"aws_root_device_throughput": "1001", "aws_root_device_iops": "4000"},
            (
                "aws_root_device_throughput: 1001 MiB/s need aws_root_device_iops of at least "
                "4004; it is 4000"
            ),
        ),
        (
            {"aws_launch_template": "nope:latest", "aws_image_id": "", "aws_instance_type": ""},
            "aws_launch_template: 'nope:latest' is not a launch template's name or id",
        ),
    ],
)
def test_inputs_that_contradict_each_other_are_one_line(
    inputs: dict[str, str], expected: str
) -> None:
    (line,) = problems(**inputs)
    assert line[: len(expected)] == expected


@pytest.mark.parametrize(
    "inputs",
    [
        {"max_lifetime_minutes": "20"},
        {"aws_prices": '{"g4dn.xlarge": 0.5}'},
        {"aws_prices": '{"p5.48xlarge": 50}'},
        {"aws_root_device_throughput": "750"},
        {"aws_root_device_throughput": "1000", "aws_root_device_iops": "4000"},
        {"aws_root_device_throughput": "1000", "aws_launch_template": "gpu"},
        {
            "aws_instance_type": "",
            "aws_launch_template": "gpu",
            "aws_prices": '{"g5.xlarge": 1}',
        },
    ],
)
def test_what_just_fits_together_is_taken(inputs: dict[str, str]) -> None:
    options, given = parsed(**inputs), {"aws_prices": "{}", **inputs}
    assert options.boot.max_lifetime == int(inputs.get("max_lifetime_minutes", "360"))
    assert options.placement.prices == json.loads(given["aws_prices"])
