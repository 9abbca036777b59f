"""The stand-in runner, on machines, against the GitHub simulator."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from sandbox import runner
from sandbox.github import Simulator
from sandbox.serve import Server
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

REPOSITORY = "octo-org/gpu-tests"


@dataclass
class Scene:
    """A GitHub with a repository, and machines that may become its runners."""

    cloud: Any
    github: Simulator
    url: str
    scripted: Scripted

    def token(self, kind: str = "registration") -> str:
        reply = self.api("POST", f"/repos/{REPOSITORY}/actions/runners/{kind}-token")
        return str(reply["token"])

    def api(self, method: str, path: str, body: object = None) -> Any:
        headers = {"Authorization": "Bearer admin", "User-Agent": "test"}
        with requests.request(
            method, self.url + path, headers=headers, json=body, timeout=60
        ) as reply:
            assert reply.ok, reply.text
            return reply.json()

    def boot(self, script: str, **changes: Any) -> str:
        """Boot a machine that has unpacked the runner as its ordinary user."""
        archive = self.api("GET", f"/repos/{REPOSITORY}/actions/runners/downloads")
        [url] = [
            each["download_url"]
            for each in archive
            if (each["os"], each["architecture"]) == ("linux", "x64")
        ]
        head = (
            'cd home/ubuntu; mkdir r; cd r; as_user() { runuser -u ubuntu -- "$@"; }\n'
            f"curl -fsSL {url} | tar -xz\n"
            f"url={self.url}/{REPOSITORY} token={self.token()}\n"
        )
        return str(self.cloud.boot(head + script, **changes))

    def run(self, script: str) -> str:
        """The console of a machine whose script has ended."""
        return str(self.cloud.until_finished(self.boot(script)))

    def online(self) -> bool:
        return [each.status for each in self.github.runners()] == ["online"]

    def queue(self, label: str = "gpu") -> Any:
        return self.github.queue_job(
            REPOSITORY, self.github.add_run(REPOSITORY).id, "test", [label]
        )


class Scripted:
    """The simulator, whose jobs have a script when they are acquired."""

    def __init__(self, github: Simulator) -> None:
        self._wsgi = github.wsgi
        self.script = ""

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        if not (self.script and environ["PATH_INFO"].endswith("/acquire")):
            return self._wsgi(environ, start_response)
        chunks, _, _ = run_wsgi_app(self._wsgi, environ, buffered=True)
        body = json.loads(b"".join(chunks))
        body["job"] |= {"script": self.script, "env": {"GITHUB_JOB": "test"}}
        return Response(json.dumps(body), 200)(environ, start_response)


@pytest.fixture
def scene(cloud: Any) -> Iterator[Scene]:
    github = Simulator()
    scripted = Scripted(github)
    with Server(scripted) as server:
        github.url = server.url
        github.add_repository(REPOSITORY)
        github.add_token("admin", repos={REPOSITORY: "admin"})
        for archive in runner.archives():
            github.set_runner_archive(
                archive.os, archive.architecture, archive.filename, archive.data
            )
        yield Scene(cloud, github, server.url, scripted)
        cloud.ec2.reset()


CONFIGURE = "as_user ./config.sh --unattended --url $url --token $token "
EPHEMERAL = (
    CONFIGURE + "--ephemeral --no-default-labels --labels gpu --name one && as_user ./run.sh"
)


def test_the_archive_s_bytes_do_not_change(scene: Scene) -> None:
    runner.archives.cache_clear()
    first = runner.archives()
    runner.archives.cache_clear()

    assert [each.data for each in runner.archives()] == [each.data for each in first]


def test_there_is_an_archive_for_each_architecture() -> None:
    found = {}
    for archive in runner.archives():
        with tarfile.open(fileobj=io.BytesIO(archive.data)) as packed:
            release = packed.extractfile("bin/release.json")
            assert release is not None
            found[archive.filename] = json.load(release)["architecture"]
            assert packed.getmember("config.sh").mode == 0o755

    assert found == {
        "actions-runner-linux-x64-2.335.1.tar.gz": "x64",
        "actions-runner-linux-arm64-2.335.1.tar.gz": "arm64",
    }


def test_a_runner_registers_with_its_labels(scene: Scene) -> None:
    console = scene.run(CONFIGURE + "--name one --labels ' a, B,,b ' --ephemeral")

    [found] = scene.github.runners()
    assert "\u221a Connected to GitHub" in console
    assert (found.name, found.ephemeral, found.status) == ("one", True, "offline")
    assert [(label.name, label.type) for label in found.labels] == [
        ("self-hosted", "read-only"),
        ("Linux", "read-only"),
        ("X64", "read-only"),
        ("a", "custom"),
        ("B", "custom"),
    ]


def test_a_runner_may_go_without_the_default_labels(scene: Scene) -> None:
    scene.run(CONFIGURE + "--name one --labels a --no-default-labels")

    [found] = scene.github.runners()
    assert [label.name for label in found.labels] == ["a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--token wrong --name one", "404 (NotFound)"),
        (f"--name one --labels {'x' * 257}", "longer than 256 characters"),
        ("--name one --colour red", "Unrecognized command-line input arguments: '--colour'"),
        ("--name one; as_user ./config.sh --url $url --token $token", "already configured"),
        ("--name one; ./config.sh --url $url --token $token", "Must not run with sudo"),
    ],
)
def test_what_is_wrong_with_a_registration_is_said(
    scene: Scene, arguments: str, message: str
) -> None:
    console = scene.run(f"{CONFIGURE}{arguments}; echo status $?")

    assert message in console
    assert console.endswith("status 1\n")


def test_a_taken_name_is_refused_unless_it_is_to_be_replaced(scene: Scene) -> None:
    scene.run(CONFIGURE + "--name one --labels a")

    refused = scene.run(CONFIGURE + "--name one --labels b")
    scene.run(CONFIGURE + "--name one --labels c --replace --no-default-labels")

    assert "A runner exists with the same name one." in refused
    [found] = scene.github.runners()
    assert [label.name for label in found.labels] == ["c"]


def test_a_registration_can_be_removed(scene: Scene) -> None:
    token = scene.token("remove")

    console = scene.run(
        f"{CONFIGURE} --name one; as_user ./config.sh remove --token {token}; ls -A"
    )

    assert scene.github.runners() == []
    assert ".credentials" not in console.split("Removed .runner")[1]


def test_an_ephemeral_runner_leaves_after_its_job(scene: Scene) -> None:
    booted = scene.boot(f"{EPHEMERAL}; echo status $?")
    scene.cloud.until(scene.online)
    job = scene.queue()
    scene.cloud.until(lambda: scene.github.jobs()[0].status == "in_progress")

    scene.github.finish_job(job.id, "success")

    console = scene.cloud.until_finished(booted)
    for text in ("Listening for Jobs", "Running job: test", "completed with result: Succeeded"):
        assert text in console
    assert console.endswith("status 0\n")
    assert scene.github.runners() == []


def test_a_persistent_runner_takes_the_next_job(scene: Scene) -> None:
    booted = scene.boot(CONFIGURE + "--labels gpu --name one && as_user ./run.sh")
    for number in range(2):
        job = scene.queue()
        scene.cloud.until(lambda n=number: scene.github.jobs()[n].status == "in_progress")
        scene.github.finish_job(job.id, "failure")

    scene.cloud.until(lambda: "Failed" in scene.cloud.ec2.console(booted))
    assert [each.conclusion for each in scene.github.jobs()] == ["failure", "failure"]
    assert scene.online()


def test_a_just_in_time_runner_needs_no_registration(scene: Scene) -> None:
    body = {"name": "jit", "runner_group_id": 1, "labels": ["gpu"]}
    config = scene.api("POST", f"/repos/{REPOSITORY}/actions/runners/generate-jitconfig", body)
    booted = scene.boot(f"as_user ./run.sh --jitconfig {config['encoded_jit_config']}")
    scene.cloud.until(scene.online)
    job = scene.queue()
    scene.cloud.until(lambda: scene.github.jobs()[0].status == "in_progress")
    scene.github.finish_job(job.id, "success")

    assert "Succeeded" in scene.cloud.until_finished(booted)


def test_a_runner_that_is_told_to_stop_goes_offline(scene: Scene) -> None:
    booted = scene.boot(EPHEMERAL)
    scene.cloud.until(scene.online)

    scene.cloud.client.terminate_instances(InstanceIds=[booted])
    scene.cloud.ec2.settle()

    assert [each.status for each in scene.github.runners()] == ["offline"]


@pytest.mark.parametrize(("status", "conclusion"), [(0, "success"), (3, "failure")])
def test_a_job_s_script_is_run_in_the_work_folder(
    scene: Scene, status: int, conclusion: str
) -> None:
    scene.scripted.script = f'echo "$GITHUB_JOB of $GITHUB_REPOSITORY in $PWD"; exit {status}'
    scene.queue()

    console = scene.run(EPHEMERAL)

    assert [each.conclusion for each in scene.github.jobs()] == [conclusion]
    assert f"test of {REPOSITORY} in " in console
    assert "/home/ubuntu/r/_work/gpu-tests/gpu-tests\n" in console


def test_a_job_s_script_ends_when_the_job_is_over(scene: Scene) -> None:
    scene.scripted.script = "echo working; exec sleep 1000"
    job = scene.queue()
    booted = scene.boot(EPHEMERAL)
    scene.cloud.until(lambda: "working" in scene.cloud.ec2.console(booted))

    scene.github.finish_job(job.id, "cancelled")

    assert "completed with result: Canceled" in scene.cloud.until_finished(booted)


def test_a_deleted_runner_ends(scene: Scene) -> None:
    booted = scene.boot(f"{EPHEMERAL}; echo status $?")
    scene.cloud.until(scene.online)

    scene.github.remove_runner(scene.github.runners()[0].id)

    console = scene.cloud.until_finished(booted)
    assert "registration has been deleted" in console
    assert console.endswith("status 1\n")


def test_only_an_ordinary_user_runs_jobs(scene: Scene) -> None:
    assert "Must not run interactively with sudo" in scene.run("./run.sh")
