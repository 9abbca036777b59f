"""The commands a machine has instead of the real ones."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from sandbox.serve import Server
from werkzeug.wrappers import Request, Response

TOKEN = (
    "curl -fsS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "
    "http://169.254.169.254/latest/api/token"
)


def _output(cloud: Any, script: str, **changes: Any) -> list[str]:
    """What a script writes, in lines."""
    console = cloud.until_finished(cloud.boot(script, **changes))
    return list(console.splitlines()[1:])


def _metadata(path: str) -> str:
    return (
        f'curl -fsS -H "X-aws-ec2-metadata-token: $({TOKEN})" http://169.254.169.254/latest/{path}'
    )


class Site:
    """A web server: /file, /flaky (fails first), /moved, /slow, /broken, /echo."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failures = 2
        self.release = threading.Event()

    def wsgi(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        return self._answer(Request(environ))(environ, start_response)

    def _answer(self, request: Request) -> Response:
        self.asked.append(f"{request.method} {request.path}")
        match request.path:
            case "/file":
                return Response(bytes(range(256)) * 1000)
            case "/flaky":
                self.failures -= 1
                return Response("well", 503 if self.failures >= 0 else 200)
            case "/moved":
                return Response("", 302, {"Location": "/file"})
            case "/slow":
                self.release.wait(60)
                return Response("late")
            case "/echo":
                return Response(request.headers.get("X-Word", "") + request.get_data(as_text=True))
        return Response("nothing here", 404)


@pytest.fixture
def site() -> Iterator[tuple[Site, str]]:
    made = Site()
    with Server(made.wsgi) as server:
        yield made, server.url
        made.release.set()


def test_a_machine_knows_itself(cloud: Any) -> None:
    names = ("instance-id", "ami-launch-index", "instance-type", "placement/region")
    booted = cloud.boot("\n".join(f"{_metadata(f'meta-data/{name}')}; echo" for name in names))

    assert cloud.until_finished(booted).splitlines()[1:] == [booted, "0", "g6.xlarge", "us-east-1"]


def test_metadata_is_for_those_with_a_token(cloud: Any) -> None:
    script = "curl -s -o /dev/null -w '%{http_code}' http://169.254.169.254/latest/meta-data/"

    assert _output(cloud, script) == ["401"]


def test_a_token_needs_a_lifetime(cloud: Any) -> None:
    script = "curl -s -o /dev/null -w '%{http_code}' -X PUT http://169.254.169.254/latest/api/token"

    assert _output(cloud, script) == ["400"]


def test_a_token_of_another_machine_is_none(cloud: Any) -> None:
    cloud.until_finished(other := cloud.boot(TOKEN))
    token = cloud.ec2.console(other).splitlines()[1]
    script = f"curl -fsS -H 'X-aws-ec2-metadata-token: {token}' 169.254.169.254/latest/user-data"

    assert _output(cloud, script) == ["curl: (22) The requested URL returned error: 401"]


def test_there_is_no_spot_notice_unless_there_is_one(cloud: Any) -> None:
    path = "meta-data/spot/instance-action"
    script = f"until [[ -e $RUNNER_FLEET_ROOT/tmp/go ]]; do sleep 0.02; done; {_metadata(path)}"
    first, second = cloud.boot(script), cloud.boot(script)
    cloud.ec2.interrupt(second)
    for booted in (first, second):
        (cloud.root(booted) / "tmp/go").touch()

    assert "error: 404" in cloud.until_finished(first)
    assert "terminate" in cloud.until_finished(second)


def test_curl_downloads_any_bytes(cloud: Any, site: Any) -> None:
    script = f"curl -fsSL -o copy {site[1]}/moved; sha256sum <copy; wc -c <copy"

    assert _output(cloud, script) == [
        "b57b64b198d5d59ce5a22a9b9f25e72a7d081476d432051aa923f3dbebb90934  -",
        "256000",
    ]


def test_curl_repeats_what_may_pass(cloud: Any, site: Any) -> None:
    assert _output(cloud, f"curl -fsS --retry 3 {site[1]}/flaky") == ["well"]
    assert len(site[0].asked) == 3


def test_curl_does_not_repeat_what_will_not_pass(cloud: Any, site: Any) -> None:
    assert _output(cloud, f"curl -fsS --retry 3 {site[1]}/none; echo $?") == [
        "curl: (22) The requested URL returned error: 404",
        "22",
    ]
    assert len(site[0].asked) == 1


def test_curl_without_fail_shows_the_error_page(cloud: Any, site: Any) -> None:
    assert _output(cloud, f"curl -s {site[1]}/none; echo; echo $?") == ["nothing here", "0"]


def test_curl_sends_headers_and_data(cloud: Any, site: Any) -> None:
    assert _output(cloud, f"curl -s -H 'X-Word: a' -d b=c {site[1]}/echo") == ["ab=c"]


def test_curl_has_only_so_much_time(cloud: Any, site: Any) -> None:
    assert _output(cloud, f"curl -s --max-time 0.2 {site[1]}/slow; echo $?") == ["28"]


@pytest.mark.parametrize(
    ("url", "status"), [("http://127.0.0.1:1/", 7), ("https://example.com/x", 6), ("ftp://a", 1)]
)
def test_curl_reaches_this_host_only(cloud: Any, url: str, status: int) -> None:
    assert _output(cloud, f"curl -s {url}; echo $?") == [str(status)]


@pytest.mark.parametrize(
    ("image", "kind", "machine"),
    [
        ("ami-0c240000000000002", "g6.xlarge", "x86_64"),
        ("ami-0c240000000000003", "g5g.xlarge", "aarch64"),
    ],
)
def test_a_machine_has_its_instance_type_s_architecture(
    cloud: Any, image: str, kind: str, machine: str
) -> None:
    assert _output(cloud, "uname -m", ImageId=image, InstanceType=kind) == [machine]


@pytest.mark.parametrize(
    ("image", "user"), [("ami-0c240000000000002", "ubuntu"), ("ami-0a120000000000002", "ec2-user")]
)
def test_the_first_user_is_the_image_s(cloud: Any, image: str, user: str) -> None:
    script = (
        'home=$(getent passwd 1000 | cut -d: -f6); echo "$home"\n'
        'stat -c %U "$RUNNER_FLEET_ROOT$home"'
    )

    assert _output(cloud, script, ImageId=image) == [f"/home/{user}", user]


def test_user_data_is_root_and_runuser_makes_it_another(cloud: Any) -> None:
    script = "id -u; runuser -u ubuntu -- bash -c 'id -u; id -un; cd; pwd; sudo id -u'"
    booted = cloud.boot(script)

    lines = cloud.until_finished(booted).splitlines()[1:]

    assert lines == ["0", "1000", "ubuntu", str(cloud.root(booted) / "home/ubuntu"), "0"]


def test_an_unknown_user_cannot_be_run_as(cloud: Any) -> None:
    assert _output(cloud, "runuser -u nobody-here -- true; echo $?")[-1] == "1"


def test_files_belong_to_whom_chown_gave_them(cloud: Any) -> None:
    script = "mkdir a; touch a/b; stat -c %U a/b; chown -R ubuntu:ubuntu a; stat -c '%U %a' a/b"

    assert _output(cloud, script) == ["root", "ubuntu 644"]


def test_a_user_can_be_added(cloud: Any) -> None:
    script = "useradd --create-home ci; id -u ci; runuser -u ci -- id -un; ls home"

    assert _output(cloud, script) == ["1001", "ci", "ci", "ubuntu"]


def test_a_command_can_be_run_later_by_the_service_manager(cloud: Any) -> None:
    booted = cloud.boot("systemd-run --on-active=1h --unit=x bash -c 'echo later; id -un'")
    cloud.until_finished(booted)
    assert "later" not in cloud.ec2.console(booted)

    cloud.ec2.advance(3600)

    cloud.until(lambda: cloud.ec2.console(booted).endswith("later\nroot\n"))


def test_package_managers_take_note_of_what_was_asked(cloud: Any) -> None:
    booted = cloud.boot("apt-get install -y jq")
    cloud.until_finished(booted)

    log = (cloud.root(booted) / "var/log/packages.log").read_text(encoding="utf-8")
    assert log == "apt-get install -y jq\n"


@pytest.mark.parametrize("command", ["jq", "docker", "git", "systemd-nspawn"])
def test_what_a_bare_server_lacks_is_not_there(cloud: Any, command: str) -> None:
    assert _output(cloud, f"command -v {command} || echo none") == ["none"]
