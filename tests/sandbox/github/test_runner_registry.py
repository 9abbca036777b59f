"""The endpoints for runners: list, get, delete, tokens, JIT configuration, downloads."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sandbox.github import Simulator, VirtualClock

if TYPE_CHECKING:
    from tests.sandbox.github.conftest import Api

REPO = "octo-org/gpu-tests"


class TestList:
    def test_a_runner_has_the_shape_that_github_gives_it(self, github: Simulator, api: Api) -> None:
        runner = github.add_runner(REPO, "node", ["gpu"], default_labels=True)
        assert api.get(f"{api.repo}/actions/runners").json == {
            "total_count": 1,
            "runners": [
                {
                    "id": runner.id,
                    "name": "node",
                    "os": "Linux",
                    "status": "online",
                    "busy": False,
                    "ephemeral": False,
                    "labels": [
                        {"id": 0, "name": "self-hosted", "type": "read-only"},
                        {"id": 0, "name": "Linux", "type": "read-only"},
                        {"id": 0, "name": "X64", "type": "read-only"},
                        {"id": 0, "name": "gpu", "type": "custom"},
                    ],
                    "runner_group_id": 1,
                    "version": "2.335.1",
                }
            ],
        }

    def test_a_repository_does_not_list_the_runners_of_its_organization(
        self, github: Simulator, api: Api
    ) -> None:
        github.add_runner("octo-org", "shared", ["gpu"])
        github.add_runner(REPO, "own", ["gpu"])
        in_repo = api.get(f"{api.repo}/actions/runners").json
        in_org = api.get(f"{api.org}/actions/runners").json
        assert [runner["name"] for runner in in_repo["runners"]] == ["own"]
        assert [runner["name"] for runner in in_org["runners"]] == ["shared"]

    @pytest.mark.parametrize(
        ("mode", "asked", "found"),
        [
            ("exact", "node-1", ["node-1"]),
            ("exact", "node", []),
            ("substring", "node-1", ["node-1", "node-10"]),
        ],
    )
    def test_the_name_filter(
        self, github: Simulator, api: Api, mode: str, asked: str, found: list[str]
    ) -> None:
        github.state.knobs.name_filter = mode  # type: ignore[assignment]
        for name in ("node-1", "node-10", "other"):
            github.add_runner(REPO, name)
        body = api.get(f"{api.repo}/actions/runners?name={asked}").json
        assert [runner["name"] for runner in body["runners"]] == found
        assert body["total_count"] == len(found)

    def test_owner_and_repository_are_case_insensitive(self, github: Simulator, api: Api) -> None:
        github.add_runner(REPO, "node")
        assert api.get("/repos/Octo-Org/GPU-Tests/actions/runners").json["total_count"] == 1

    def test_the_api_answers_under_the_enterprise_server_prefix_too(
        self, github: Simulator, api: Api
    ) -> None:
        for number in range(2):
            github.add_runner(REPO, f"node-{number}")
        reply = api.get(f"/api/v3{api.repo}/actions/runners?per_page=1")
        assert reply.json["total_count"] == 2
        assert "/api/v3/repositories/" in reply.headers["Link"]

    def test_enterprise_runners_are_for_classic_tokens_only(
        self, github: Simulator, api: Api
    ) -> None:
        github.add_token("owner", enterprises={"octo-corp": "admin"})
        github.add_token("app", enterprises={"octo-corp": "admin"}, kind="installation")
        path = "/enterprises/octo-corp/actions/runners"
        assert api.post(f"{path}/registration-token", token="owner").status_code == 201
        assert api.get(path, token="owner").json == {"total_count": 0, "runners": []}
        assert api.get(path, token="app").status_code == 404


class TestDelete:
    def test_an_idle_runner_goes_once(self, github: Simulator, api: Api) -> None:
        path = f"{api.repo}/actions/runners/{github.add_runner(REPO, 'node').id}"
        first, second = api.delete(path), api.delete(path)
        assert (first.status_code, first.data) == (204, b"")
        assert (second.status_code, second.json["message"]) == (404, "Not Found")
        assert api.get(path).status_code == 404

    def test_a_busy_runner_stays(self, github: Simulator, api: Api) -> None:
        runner = github.add_runner(REPO, "node", busy=True)
        reply = api.delete(f"{api.repo}/actions/runners/{runner.id}")
        assert reply.status_code == 422
        assert reply.json["message"] == (
            'Runner "node" is currently running a job and cannot be deleted.'
        )
        assert [found.id for found in github.runners()] == [runner.id]

    def test_a_runner_of_another_scope_is_not_found(self, github: Simulator, api: Api) -> None:
        runner = github.add_runner("octo-org", "node")
        assert api.delete(f"{api.repo}/actions/runners/{runner.id}").status_code == 404


class TestTokens:
    def test_a_token_says_when_it_expires_with_milliseconds_and_an_offset(
        self, api: Api, clock: VirtualClock
    ) -> None:
        reply = api.post(f"{api.repo}/actions/runners/registration-token")
        assert reply.status_code == 201
        assert reply.json["expires_at"] == "2026-11-02T02:00:00.000-08:00"
        assert datetime.fromisoformat(reply.json["expires_at"]) - clock() == timedelta(hours=1)

    def test_it_serves_many_runners_for_an_hour(self, api: Api, clock: VirtualClock) -> None:
        token = api.post(f"{api.repo}/actions/runners/registration-token").json["token"]

        def register(name: str) -> int:
            body = {"url": f"http://127.0.0.1/{REPO}", "token": token, "name": name}
            return api.post("/_runner/register", body, token=None).status_code

        assert (register("a"), register("b")) == (201, 201)
        clock.advance(3599)
        assert register("c") == 201
        clock.advance(1)
        assert register("d") == 404

    def test_it_is_of_no_use_elsewhere(self, github: Simulator, api: Api) -> None:
        github.add_repository("octo-org/other")
        issued = {
            scope: api.post(f"{scope}/actions/runners/registration-token").json["token"]
            for scope in (api.repo, api.org)
        }
        remove = api.post(f"{api.repo}/actions/runners/remove-token").json["token"]
        for url, token in (
            ("octo-org/other", issued[api.repo]),
            (REPO, issued[api.org]),
            ("octo-org", issued[api.repo]),
            (REPO, remove),
            (REPO, "invented"),
        ):
            body = {"url": f"http://127.0.0.1/{url}", "token": token, "name": "node"}
            assert api.post("/_runner/register", body, token=None).status_code == 404


class TestJit:
    def test_every_label_is_read_only_and_no_default_is_added(self, api: Api) -> None:
        body = {"name": "jit", "runner_group_id": 1, "labels": ["default"]}
        reply = api.post(f"{api.repo}/actions/runners/generate-jitconfig", body)
        assert reply.status_code == 201
        runner = reply.json["runner"]
        assert runner.pop("id")
        assert runner == {
            "name": "jit",
            "os": "unknown",
            "status": "offline",
            "busy": False,
            "ephemeral": True,
            "labels": [{"id": 0, "name": "default", "type": "read-only"}],
            "runner_group_id": 1,
        }

    def test_its_configuration_lets_the_runner_connect(self, github: Simulator, api: Api) -> None:
        body = {"name": "jit", "runner_group_id": 1, "labels": ["default"]}
        reply = api.post(f"{api.repo}/actions/runners/generate-jitconfig", body)
        files = json.loads(base64.b64decode(reply.json["encoded_jit_config"]))
        assert set(files) == {".runner", ".credentials", ".credentials_rsaparams"}
        credential = json.loads(base64.b64decode(files[".credentials"]))["data"]["credential"]
        about = {"os": "linux", "arch": "arm64", "version": "2.335.1"}
        assert api.post("/_runner/session", about, token=credential).status_code == 200
        (runner,) = github.runners()
        assert (runner.status, runner.os, runner.arch) == ("online", "Linux", "ARM64")

    @pytest.mark.parametrize(
        ("change", "status", "message"),
        [
            ({"labels": []}, 422, "Validation Failed"),
            ({"labels": ["x"] * 101}, 422, "Validation Failed"),
            ({"name": None}, 422, "Invalid request."),
            ({"labels": None}, 422, "Invalid request."),
            ({"runner_group_id": None}, 422, "Invalid request."),
            ({"name": 1}, 422, "Invalid request."),
            ({"labels": "x"}, 422, "Invalid request."),
            ({"runner_group_id": 7}, 404, "Not Found"),
            ({"name": "taken"}, 409, "Already exists - A runner with the name taken"),
        ],
    )
    def test_refusals(
        self, github: Simulator, api: Api, change: dict[str, object], status: int, message: str
    ) -> None:
        github.add_runner(REPO, "taken")
        full = {"name": "jit", "runner_group_id": 1, "labels": ["a"], **change}
        body = {key: value for key, value in full.items() if value is not None}
        reply = api.post(f"{api.repo}/actions/runners/generate-jitconfig", body)
        assert reply.status_code == status
        assert reply.json["message"].startswith(message)
        assert len(github.runners()) == 1

    def test_one_that_never_starts_is_forgotten_after_a_day(
        self, github: Simulator, api: Api, clock: VirtualClock
    ) -> None:
        body = {"name": "jit", "runner_group_id": 1, "labels": ["a"]}
        api.post(f"{api.repo}/actions/runners/generate-jitconfig", body)
        clock.advance(hours=23.9)
        assert len(github.runners()) == 1
        clock.advance(hours=0.2)
        assert github.runners() == []


class TestDownloads:
    def test_an_archive_comes_from_here_with_its_digest(self, github: Simulator, api: Api) -> None:
        github.set_runner_archive("linux", "arm64", "actions-runner-linux-arm64.tar.gz", b"archive")
        listed = api.get(f"{api.repo}/actions/runners/downloads").json
        found = next(d for d in listed if (d["os"], d["architecture"]) == ("linux", "arm64"))
        assert found["filename"] == "actions-runner-linux-arm64.tar.gz"
        path = found["download_url"].removeprefix("http://localhost")
        data = api.get(path, token=None).data
        assert data == b"archive"
        assert hashlib.sha256(data).hexdigest() == found["sha256_checksum"]

    def test_all_platforms_are_listed(self, api: Api) -> None:
        listed = api.get(f"{api.org}/actions/runners/downloads").json
        assert [(found["os"], found["architecture"]) for found in listed] == [
            ("osx", "x64"),
            ("osx", "arm64"),
            ("linux", "x64"),
            ("linux", "arm"),
            ("linux", "arm64"),
            ("win", "x64"),
            ("win", "arm64"),
        ]

    def test_the_latest_release_needs_no_token(self, github: Simulator, api: Api) -> None:
        github.archives.version = "2.400.0"
        release = api.get("/repos/actions/runner/releases/latest", token=None).json
        assert release["tag_name"] == "v2.400.0"
        asset = next(a for a in release["assets"] if "linux-x64" in a["name"])
        moved = api.get(asset["browser_download_url"].removeprefix("http://localhost"), token=None)
        assert moved.status_code == 302
        data = api.get(moved.headers["Location"], token=None).data
        assert f"sha256:{hashlib.sha256(data).hexdigest()}" == asset["digest"]

    def test_an_unknown_file_is_not_found(self, api: Api) -> None:
        assert api.get("/_downloads/other.tar.gz", token=None).status_code == 404
