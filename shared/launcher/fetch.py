"""A uv for hosts that have none: one wheel, known by its hash, fetched with what the host has."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from launcher.environment import libc, requirements_of
from launcher.errors import BuilderFailedError, BuilderMissingError, LaunchError
from launcher.tools import QUIET_PIP, redact, run

_INDEX_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
# What pip and uv use where nobody has said otherwise.
_PUBLIC_INDEX = "https://pypi.org/simple"
_TIMEOUT_SECONDS = 10
_STEP = "fetching uv"
_SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"


def fetched_uv(interpreter: str, root: Path) -> Path:
    """The path of a uv that answers, from the cache or fetched now.

    Raises BuilderMissingError if this host has no means to fetch it, BuilderFailedError if they
    fail, LaunchError if what came is not what the lock says.
    """
    from launcher.build import make_once  # `build` builds with us

    lock = Path(requirements_of("uv"))
    digest = hashlib.sha256(lock.read_bytes() + _platform().encode()).hexdigest()[:16]

    def fill(stage: Path) -> None:
        wheel = _fetch(interpreter, lock, stage)
        _unpack(wheel, stage)
        wheel.unlink()

    return make_once(root / f"uv-tool-{digest}", _answers, fill) / "uv"


def _fetch(interpreter: str, lock: Path, stage: Path) -> Path:
    """The wheel, straight from the index if we know it: pip takes a second longer.

    pip is asked where it may know of another index, or of another way to it, than we do.
    """
    refusal: BuilderFailedError | None = None
    index = index_to_ask()
    if index is not None:
        try:
            return _with_urllib(index, lock.read_text(), stage)
        except BuilderFailedError as failure:
            refusal = failure
    wheel = _with_pip(interpreter, lock, stage)
    if wheel is None:
        raise refusal or BuilderMissingError
    return wheel


def index_to_ask() -> str | None:
    """The package index that we may ask ourselves; None where only pip knows.

    That is where this host's pip is configured to use another index than the public one, or none.
    """
    named = next((os.environ[name] for name in _INDEX_VARIABLES if os.environ.get(name)), None)
    if named or os.environ.get("PIP_NO_INDEX") or os.environ.get("UV_NO_INDEX"):
        return named
    return None if any(map(_names_an_index, _pip_configurations())) else _PUBLIC_INDEX


def _pip_configurations() -> list[Path]:
    """Where pip reads its settings (pip user guide, configuration)."""
    home = Path(os.path.expanduser("~"))
    personal = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    shared = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    return [
        Path(os.environ.get("PIP_CONFIG_FILE") or "/etc/pip.conf"),
        *(Path(directory) / "pip" / "pip.conf" for directory in shared.split(os.pathsep)),
        personal / "pip" / "pip.conf",
        home / ".pip" / "pip.conf",
    ]


def _names_an_index(configuration: Path) -> bool:
    try:
        lines = configuration.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return False
    names = (line.partition("=")[0].strip().replace("_", "-") for line in lines)
    return any(name in ("index-url", "no-index") for name in names)


def _answers(directory: str) -> bool:
    command = [os.path.join(directory, "uv"), "--version"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _with_pip(interpreter: str, lock: Path, stage: Path) -> Path | None:
    """None if there is no pip."""
    pip = (interpreter, "-m", "pip", "download", *QUIET_PIP, "--no-deps", "--require-hashes")
    # A program's wheel fits any Python. To say so spares pip to compare each of the thousands of
    # files that the index has of uv with a thousand tags: a fifth of a small set's cold start.
    fitting = ("--implementation", "py", "--abi", "none", "--no-cache-dir")
    try:
        run(
            [*pip, "--only-binary", ":all:", *fitting, *_platforms(), "--dest", stage, "-r", lock],
            builder=f"{_STEP} with pip",
        )
    except BuilderFailedError as failure:
        if "No module named" in str(failure):
            return None
        failure.final = failure.network
        raise
    return next(stage.glob("*.whl"))


def _with_urllib(index: str, lock: str, stage: Path) -> Path:
    """Fetch the wheel as pip would."""
    import http.client
    import urllib.parse

    try:
        for file in _files(index):
            known = file.get("hashes", {}).get("sha256", "")
            if f"--hash=sha256:{known}" in lock and _fits(file["filename"]):
                url = urllib.parse.urljoin(index.rstrip("/") + "/uv/", file["url"])
                return _download(url, known, stage / Path(file["filename"]).name)
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        # URLError and a time-out are OSErrors; the rest is an answer that is not an index's.
        reason = redact(f"{index}: {error or type(error).__name__}")
        raise BuilderFailedError(_STEP, reason, network=True) from error
    reason = redact(f"{index} has no wheel of the locked uv for {_platform()}")
    raise BuilderFailedError(_STEP, reason)


def _files(index: str) -> list[dict[str, Any]]:
    """The index's files of uv (PEP 691)."""
    with _open(index.rstrip("/") + "/uv/", _SIMPLE_JSON) as answer:
        return list(json.load(answer)["files"])


def _download(url: str, sha256: str, path: Path) -> Path:
    with _open(url, "*/*") as answer, path.open("wb") as file:
        shutil.copyfileobj(answer, file, 1 << 20)
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        msg = f"refused: {path.name} does not have the hash in the lock file"
        raise LaunchError(msg)
    return path


def _open(url: str, accept: str) -> Any:
    import urllib.parse
    import urllib.request

    if urllib.parse.urlsplit(url).scheme not in ("https", "http"):
        msg = "not an http address"
        raise ValueError(msg)
    bare, authorization = _credentials(url)
    headers = {"Accept": accept, **authorization}
    request = urllib.request.Request(bare, headers=headers)  # noqa: S310 - as checked
    return urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)  # noqa: S310


def _credentials(url: str) -> tuple[str, dict[str, str]]:
    """The address without the user and password in it, and the header that says them."""
    import urllib.parse

    parts = urllib.parse.urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    token = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
    return parts._replace(netloc=host).geturl(), {"Authorization": f"Basic {token}"}


def _fits(wheel: str) -> bool:
    """Whether a wheel of a program is for this machine."""
    tags = wheel.removesuffix(".whl").rpartition("-")[2].split(".")
    return not _platform_tags().isdisjoint(tags)


def _platforms() -> list[str]:
    return [option for tag in sorted(_platform_tags()) for option in ("--platform", tag)]


def _platform_tags() -> set[str]:
    """The tags of wheels for this architecture and a C library that is not newer (PEP 600, 656)."""
    family, _, version = libc().partition(" ")
    machine = os.uname().machine
    if family != "glibc":
        return {f"musllinux_1_{minor}_{machine}" for minor in range(3)}
    newest = int(version.split(".")[1])
    tags = {f"manylinux_2_{minor}_{machine}" for minor in range(17, newest + 1)}
    return {f"manylinux2014_{machine}", *tags}


def _platform() -> str:
    return f"{os.uname().machine} {libc() or 'musl'}"


def _unpack(wheel: Path, stage: Path) -> None:
    """Take the program alone out of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        member = next((name for name in archive.namelist() if name.endswith("/scripts/uv")), None)
        if member is None:
            raise BuilderFailedError(_STEP, f"{wheel.name} holds no uv")
        with archive.open(member) as source, (stage / "uv").open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    (stage / "uv").chmod(0o755)
