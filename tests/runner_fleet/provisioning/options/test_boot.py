"""What is to happen on an instance, as the inputs say it."""

from __future__ import annotations

import pytest

from tests.runner_fleet.provisioning.options.given import parsed, problems


def test_labels_are_trimmed_and_empty_ones_dropped() -> None:
    assert parsed(extra_gh_labels=" gpu, big box ,,gpu").boot.extra_labels == ("gpu", "big box")


@pytest.mark.parametrize("label", ["a'b", 'a"b', "a\nb", "a$(id)", "x" * 257, "tab\there"])
def test_a_label_that_could_hurt_is_refused(label: str) -> None:
    (line,) = problems(extra_gh_labels=f"good,{label}")
    assert line.startswith("extra_gh_labels: label ")
    assert "\n" not in line


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
    proxy = dict(parsed(https_proxy="http://proxy:3128", no_proxy="a.com\nb.com c.com").boot.proxy)
    assert proxy["no_proxy"] == "a.com,b.com,c.com,169.254.169.254"
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
        (
            {"http_proxy": "http://proxy:99999"},
            "http_proxy: 'http://proxy:99999' is not a URL like http://proxy.",
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
