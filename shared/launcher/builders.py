"""The ways to build an environment, in the order they are tried."""

from __future__ import annotations

import csv
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from launcher.environment import Environment
from launcher.errors import BuilderFailedError, BuilderMissingError, LaunchError
from launcher.fetch import fetched_uv
from launcher.tools import QUIET_PIP, run, say, variables

# Nothing is resolved (the lock is complete), nothing compiled, nothing taken without its hash.
EXACT = ("--require-hashes", "--no-deps", "--only-binary", ":all:")
SYSTEM_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL, Amazon Linux
    "/etc/ssl/ca-bundle.pem",  # SUSE
)


def install(environment: Environment, stage: Path, root: Path) -> None:
    """Fill an empty directory with the environment, by the first builder that can.

    Raises LaunchError if none could.
    """
    start = time.monotonic()
    say(f"building the environment '{environment.name}', once on this host")
    failures: list[BuilderFailedError] = []
    ladder: tuple[Callable[[Environment, Path, Path], None], ...]
    ladder = (_with_host_uv, _with_fetched_uv, _with_venv, _with_virtualenv)
    for builder in ladder:
        if builder is _with_fetched_uv and any(failure.network for failure in failures):
            continue  # another uv would ask the same index; pip may know of a mirror
        try:
            builder(environment, stage, root)
            _check_files(stage)
        except BuilderMissingError:
            continue
        except BuilderFailedError as failure:
            failures.append(failure)
            _empty(stage)
            if failure.final:
                break
        else:
            say(f"built in {time.monotonic() - start:.1f} s")
            return
    raise LaunchError(_explain(environment, failures))


def _with_host_uv(environment: Environment, stage: Path, _root: Path) -> None:
    uv = shutil.which("uv")
    if uv is None:
        raise BuilderMissingError
    _uv(uv, environment, stage, _uv_variables())


def _with_fetched_uv(environment: Environment, stage: Path, root: Path) -> None:
    uv = fetched_uv(environment.interpreter, root)
    settings = _uv_variables()
    if "UV_CACHE_DIR" in settings:
        _uv(str(uv), environment, stage, settings)
        return
    # Links to a cache that goes afterwards: the files are the environment's own, without copying.
    cache = stage.with_name(f"{stage.name}-cache")
    try:
        settings |= {"UV_CACHE_DIR": str(cache), "UV_LINK_MODE": "hardlink"}
        _uv(str(uv), environment, stage, settings)
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def _uv(uv: str, environment: Environment, stage: Path, settings: dict[str, str]) -> None:
    """Bytecode is left to the first import: compiling what is never imported takes longer."""
    python = stage / "bin" / "python"
    make = (uv, "venv", "--quiet", "--no-project", "--no-python-downloads", "--relocatable")
    # Where it runs is given, since it reads the settings of a project there or above.
    run(
        [*make, "--python", environment.interpreter, stage],
        builder="uv",
        cwd=stage.parent,
        env=settings,
    )
    put = (uv, "pip", "install", "--quiet", "--python", python, *EXACT)
    run(
        [*put, "-r", environment.requirements],
        builder="uv",
        cwd=stage.parent,
        env=settings,
    )


def _uv_variables() -> dict[str, str]:
    """The host's variables for uv, which reads none of pip's: they say which index to use."""
    settings = variables(UV_NO_PROGRESS="1")
    settings.setdefault("UV_HTTP_RETRIES", "2")
    # A link to the host's cache would spread what damages one environment to all, for ever.
    settings.setdefault("UV_LINK_MODE", "copy")
    if any(os.path.exists(path) for path in SYSTEM_CERTIFICATES):
        settings.setdefault("UV_SYSTEM_CERTS", "1")
    if not any("INDEX" in name for name in settings if name.startswith("UV_")):
        index, more = settings.get("PIP_INDEX_URL"), settings.get("PIP_EXTRA_INDEX_URL")
        if index:
            settings["UV_DEFAULT_INDEX"] = index
        if more:
            settings["UV_INDEX"] = more
            # As pip does. What is taken is decided by its hash, not by where it is found.
            settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return settings


def _with_venv(environment: Environment, stage: Path, _root: Path) -> None:
    """With the host's pip if it has one (22.3 or newer): an environment's own takes seconds."""
    python = stage / "bin" / "python"
    try:
        run([environment.interpreter, "-m", "venv", "--without-pip", stage], builder="venv")
        try:
            _pip("venv", environment, environment.interpreter, "--python", python)
        except BuilderFailedError as failure:
            if not re.search(r"No module named pip|no such option", str(failure)):
                raise
            run([python, "-m", "ensurepip", "--default-pip"], builder="venv")
            _pip("venv", environment, python)
    except BuilderFailedError as failure:
        if re.search(
            r"No module named '?(venv|ensurepip)|ensurepip is (not|disabled)", str(failure)
        ):
            raise BuilderMissingError from None
        raise


def _with_virtualenv(environment: Environment, stage: Path, _root: Path) -> None:
    virtualenv = shutil.which("virtualenv")
    if virtualenv is None:
        raise BuilderMissingError
    run([virtualenv, "--quiet", "-p", environment.interpreter, stage], builder="virtualenv")
    _pip("virtualenv", environment, stage / "bin" / "python")


def _pip(builder: str, environment: Environment, python: str | Path, *options: str | Path) -> None:
    pip = (python, "-m", "pip", *options, "install", *QUIET_PIP, "--no-compile", *EXACT)
    run([*pip, "-r", environment.requirements], builder=builder)


def _check_files(stage: Path) -> None:
    """See that each file has the size that its package says: a builder's cache may be damaged."""
    for record in stage.glob("lib/python*/site-packages/*.dist-info/RECORD"):
        packages = record.parent.parent
        with record.open(encoding="utf-8", newline="") as file:
            for name, _, size in csv.reader(file):
                # What is outside, such as commands, is written by the builder.
                if size and not name.startswith(("..", "/")):
                    _check_size(packages / name, int(size))


def _check_size(path: Path, size: int) -> None:
    try:
        found = path.stat().st_size
    except OSError:
        found = None
    if found != size:
        what = "is missing" if found is None else f"has {found} bytes instead of {size}"
        builder = "the new environment"
        raise BuilderFailedError(builder, f"{path.name} {what}: is the builder's cache damaged?")


def _empty(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(exist_ok=True)


def _explain(environment: Environment, failures: list[BuilderFailedError]) -> str:
    if not failures:
        return (
            f"the Python environment '{environment.name}' cannot be built: this host has neither "
            "uv, pip, venv nor virtualenv. Install one of them: 'apt-get install python3-venv' "
            "(Debian, Ubuntu) or 'dnf install python3-pip' (Fedora, RHEL, Amazon Linux)."
        )
    what = f"could not build the Python environment '{environment.name}'"
    if any(failure.network for failure in failures):
        what += ", since the package index does not answer as it should"
    return f"{what}. {'; '.join(dict.fromkeys(map(str, failures)))}"
