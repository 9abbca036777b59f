"""What it costs to get from the start of a step to the first API call.

Printed by `make bench`; each figure stands beside the plain way to the same point, measured in the
same run, on the same interpreter:

- warm: `start-runner`, until its first request reaches a server, beside `import boto3, github`;
- cold: `launch` on a host with empty caches and no uv, until the set's packages are imported,
  beside `python3 -m venv`, `pip install -r` of boto3 and PyGithub, and importing those.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "shared" / "launch"
PYTHON = os.path.realpath(sys.executable)  # the host's, not the one of this environment
WARM_ROUNDS, COLD_ROUNDS = 9, 3
IMPORTS = {"ec2": "import boto3, github", "github": "import github, yaml"}


def main() -> None:
    print(f"\nStart-up in seconds, the best of {COLD_ROUNDS} cold and {WARM_ROUNDS} warm rounds\n")
    with tempfile.TemporaryDirectory() as directory:
        cold(Path(directory))
        warm(Path(directory))


def cold(directory: Path) -> None:
    plain: list[float] = []
    ours: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for round_ in range(COLD_ROUNDS):
        plain.append(venv_and_pip(directory / f"plain-{round_}"))
        for name, seconds in ours.items():
            seconds.append(launch_cold(name, directory / f"{name}-{round_}"))
    show("cold: venv + pip install of boto3, PyGithub; import", plain)
    show("cold: launch --set ec2; import", ours["ec2"], plain, limit=1 / 2)
    show("cold: launch --set github; import", ours["github"], plain, limit=1 / 4)


def venv_and_pip(directory: Path) -> float:
    directory.mkdir()
    locked = (ROOT / "shared/requirements/ec2.txt").read_text().split()
    wanted = [word for word in locked if word.startswith(("boto3==", "pygithub=="))]
    requirements = directory / "requirements.txt"
    requirements.write_text("\n".join(wanted))
    env = host(directory)
    began = time.monotonic()
    run([PYTHON, "-m", "venv", directory / "venv"], env)
    run([directory / "venv/bin/pip", "install", "-q", "-r", requirements], env)
    run([directory / "venv/bin/python", "-c", IMPORTS["ec2"]], env)
    return time.monotonic() - began


def launch_cold(name: str, directory: Path) -> float:
    directory.mkdir()
    program = directory / "program.py"
    program.write_text(IMPORTS[name])
    env = host(directory)
    began = time.monotonic()
    run([PYTHON, LAUNCH, "--set", name, program], env)
    return time.monotonic() - began


def warm(directory: Path) -> None:
    env = host(directory)
    shown = run([PYTHON, LAUNCH, "--set", "ec2", "--print-env"], env)
    python = Path(shown.strip()) / "bin" / "python"
    bare: list[float] = []
    imports: list[float] = []
    launch: list[float] = []
    action: list[float] = []
    nothing = directory / "nothing.py"
    nothing.write_text("")
    for file in ("output", "summary"):
        (directory / file).touch()
    for _ in range(WARM_ROUNDS + 1):
        bare.append(timed([PYTHON, nothing], env))
        imports.append(timed([python, "-c", IMPORTS["ec2"]], env))
        launch.append(timed([PYTHON, LAUNCH, "--set", "ec2", nothing], env))
        action.append(until_first_call(directory, env))
    # The first round left the bytecode that the others find.
    for figures in (bare, imports, launch, action):
        del figures[0]
    show("warm: python3, nothing done", bare)
    show("warm: launch, nothing done", launch)
    show("warm: import boto3, github", imports)
    show("warm: start-runner, until its first API call", action, imports, limit=2.5)


def until_first_call(directory: Path, env: dict[str, str]) -> float:
    """From the start of the step's shell until somebody listening hears of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        step = env | step_variables(directory, f"http://127.0.0.1:{server.getsockname()[1]}")
        command = f'exec "{PYTHON}" "{LAUNCH}" --set ec2 "{ROOT}/start-runner/main.py"'
        began = time.monotonic()
        with subprocess.Popen(
            ["bash", "-e", "-c", command],
            env=step,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            connection, _ = server.accept()
            seconds = time.monotonic() - began
            process.send_signal(signal.SIGKILL)
            connection.close()
    return seconds


def step_variables(directory: Path, url: str) -> dict[str, str]:
    """What the step of start-runner's `action.yml` has, as far as it takes to get going."""
    return {
        "FLEET_AWS_IMAGE_ID": "ami-0123456789abcdef0",
        "FLEET_AWS_INSTANCE_TYPE": "g4dn.xlarge",
        "FLEET_INSTANCE_COUNT": "1",
        "FLEET_GH_TIMEOUT": "60",
        "FLEET_MAX_LIFETIME_MINUTES": "60",
        "GH_PAT": "not-a-token",
        "GITHUB_API_URL": url,
        "GITHUB_SERVER_URL": url,
        "GITHUB_REPOSITORY": "octo-org/gpu-tests",
        "GITHUB_RUN_ID": "1",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_JOB": "bench",
        "GITHUB_OUTPUT": str(directory / "output"),
        "GITHUB_STEP_SUMMARY": str(directory / "summary"),
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def host(directory: Path) -> dict[str, str]:
    """A host's variables: no uv on PATH, every cache in a directory, the way to the index kept."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.upper().endswith(("_PROXY", "INDEX_URL", "DEFAULT_INDEX", "CERT", "CERT_FILE"))
    }
    return kept | {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(directory),
        "RUNNER_FLEET_CACHE": str(directory / "cache"),
        "TMPDIR": str(directory),
        "PYTHONPYCACHEPREFIX": str(directory / "pycache"),
    }


def run(command: list[str | Path], env: dict[str, str]) -> str:
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"{command[1]}: {result.stdout}{result.stderr}")
    return result.stdout


def timed(command: list[str | Path], env: dict[str, str]) -> float:
    began = time.monotonic()
    run(command, env)
    return time.monotonic() - began


def show(
    what: str, seconds: list[float], beside: list[float] | None = None, limit: float = 0
) -> None:
    line = f"{what:<52} {min(seconds):7.2f}"
    if beside:
        ratio = min(seconds) / min(beside)
        verdict = "ok" if ratio <= limit else "MISSED"
        line += f"   {ratio:4.2f} x   at most {limit:.2f} x: {verdict}"
    print(line, flush=True)


if __name__ == "__main__":
    main()
