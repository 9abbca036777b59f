"""Who runs the job, with which environment, and with whose runner."""

from __future__ import annotations

import shutil

from runner_fleet.github import RunnerArchive

from tests.actions.boot_host import URL, Host

SHA256SUM = shutil.which("sha256sum")
SHOW = "env | sort >environment; pwd >>environment; touch .runner"


def environment(host: Host) -> dict[str, str]:
    """What config.sh was run with."""
    (file,) = host.root.rglob("environment")
    return dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)


def test_the_job_has_the_environment_of_a_login(host: Host) -> None:
    host.runner(config=SHOW)
    host.run()

    found = environment(host)
    assert found["HOME"] == f"{host.root}/home/ubuntu"
    assert (found["USER"], found["LOGNAME"], found["SHELL"]) == ("ubuntu", "ubuntu", "/bin/bash")
    assert found["LANG"] == "C.UTF-8"
    assert found["PATH"].endswith("/usr/bin")
    assert "RUNNER_ALLOW_RUNASROOT" not in found


def test_root_runs_the_job_if_that_is_asked_for(host: Host) -> None:
    host.runner(config=SHOW)
    host.command("runuser", "exit 1")
    host.run(run_as_root=True, home="")

    found = environment(host)
    assert found["HOME"] == f"{host.root}/root"
    assert (found["USER"], found["RUNNER_ALLOW_RUNASROOT"]) == ("root", "1")
    assert host.errors() == []


def test_root_may_run_the_job_in_another_s_home(host: Host) -> None:
    host.runner(config=SHOW)
    host.run(run_as_root=True)

    assert environment(host)["HOME"] == f"{host.root}/home/ubuntu"
    assert environment(host)["USER"] == "root"


def test_a_proxy_is_for_everything_but_the_metadata_service(host: Host) -> None:
    host.runner(config=SHOW)
    host.command("sha256sum", f'echo "download by $https_proxy" >&2; exec {SHA256SUM}')
    console = host.run(
        proxy=(("https_proxy", "http://proxy:3128"), ("no_proxy", "example.com,169.254.169.254")),
        pre_script='echo "pre script by $https_proxy"',
    )

    assert "download by http://proxy:3128" in console
    assert "pre script by http://proxy:3128" in console
    found = environment(host)
    assert found["https_proxy"] == "http://proxy:3128"
    assert found["no_proxy"] == "example.com,169.254.169.254"
    (dotenv,) = host.root.rglob(".env")
    assert dotenv.read_text() == (
        "https_proxy=http://proxy:3128\nno_proxy=example.com,169.254.169.254\n"
    )


def baked(host: Host, version: str) -> str:
    """Start with a runner of this version in the image; the console."""
    host.runner(config=SHOW, files={"bin/Runner.Listener": version})
    directory = host.unpack("opt/actions-runner")
    for name in (".runner", ".credentials"):
        (directory / name).touch()
    (directory / "_diag").mkdir()
    (directory / "_diag/Worker_20200101-000000-utc.log").touch()
    return host.run(runner_directory="/opt/actions-runner")


def test_the_runner_of_the_image_is_used_and_none_downloaded(host: Host) -> None:
    console = baked(host, "echo 2.335.1")

    assert len(host.calls("curl")) == 3
    assert "runner registered" in console
    assert "warning" not in console
    assert (host.root / "opt/actions-runner/environment").exists()


def test_an_old_runner_of_the_image_is_warned_about(host: Host) -> None:
    console = baked(host, "echo 2.99.0")

    assert (
        "runner-fleet: warning: the runner in /opt/actions-runner is 2.99.0 and GitHub offers "
        "2.335.1"
    ) in console
    assert "runner registered" in console


def test_a_runner_that_does_not_say_its_version_is_used_all_the_same(host: Host) -> None:
    console = baked(host, "exit 1")

    assert "cannot tell the version of the runner in /opt/actions-runner" in console
    assert "runner registered" in console


def test_what_an_earlier_machine_left_in_the_image_is_no_job(host: Host) -> None:
    baked(host, "echo 2.335.1")

    assert list((host.root / "opt/actions-runner").glob("_diag/Worker_2020*")) == []


def test_an_archive_without_a_known_digest_is_taken_as_it_is(host: Host) -> None:
    console = host.run(archives=(RunnerArchive("x64", URL, ""),))

    assert "runner registered" in console


def test_docker_is_waited_for_before_the_runner_registers(host: Host) -> None:
    up = host.root / "docker-is-up"
    host.command("systemctl", "case $1 in is-enabled) exit 0 ;; *) echo running ;; esac")
    host.command("docker", f'[[ -e "{up}" ]] || {{ touch "{up}"; exit 1; }}')

    console = host.run()

    before, _, after = console.partition("trying again in 1 s: docker_answers")
    assert "runner registered" in after
    assert host.calls("docker") == ["docker info", "docker info"]
    assert "runner registered" not in before


def test_without_docker_nothing_is_waited_for(host: Host) -> None:
    host.command("docker", "exit 1")

    assert "runner registered" in host.run()
    assert host.calls("docker") == []
