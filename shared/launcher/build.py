"""Build an environment beside its final place and move it there in one step."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from launcher.builders import install
from launcher.environment import MARKER, Environment, is_usable
from launcher.errors import LaunchError
from launcher.tools import DISK_FULL, leave_by_exception, run, say, shared_with_children

# Between the key and the random part of a directory that is being built.
STAGE = ".build-"


def build(environment: Environment) -> str:
    """The directory of the environment, built by this process or by another one meanwhile.

    Raises LaunchError if it cannot be.
    """
    leave_by_exception()
    root = _writable(environment.roots)
    final = Path(environment.directory(str(root)))

    def fill(stage: Path) -> None:
        install(environment, stage, root)
        _finish(stage)

    with _disk_errors(root):
        return str(make_once(final, is_usable, fill))


def make_once(final: Path, usable: Callable[[str], bool], fill: Callable[[Path], None]) -> Path:
    """Make a directory that is either whole or not there; of several callers at once, one does.

    `fill` gets an empty directory on the same file system. What killed makers left is removed.
    """
    with _lock(final):
        if usable(str(final)):
            return final
        _remove_abandoned(final)
        shutil.rmtree(final, ignore_errors=True)
        stage = Path(tempfile.mkdtemp(prefix=final.name + STAGE, dir=final.parent))
        try:
            stage.chmod(0o755)
            fill(stage)
            stage.rename(final)
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
    return final


def _writable(roots: list[str]) -> Path:
    reasons = []
    for root in map(Path, roots):
        try:
            root.mkdir(parents=True, exist_ok=True)
            # os.access does not know of read-only mounts in every case; a file does.
            with tempfile.TemporaryFile(dir=root):
                return root
        except OSError as error:
            reasons.append(f"{root}: {error.strerror}")
    msg = (
        f"no place to keep environments ({'; '.join(reasons) or 'no home directory'}). "
        "Set RUNNER_FLEET_CACHE to a directory that this user may write to."
    )
    raise LaunchError(msg)


@contextlib.contextmanager
def _disk_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise LaunchError(DISK_FULL) from error
        msg = f"cannot write to {root}: {error.strerror}"
        raise LaunchError(msg) from error


@contextlib.contextmanager
def _lock(final: Path) -> Iterator[None]:
    """Hold the lock of a directory. It ends with this process, however that ends, and its children.

    When this process is killed, a child may go on writing. The lock's file is never removed:
    somebody may hold or wait for it, and a new one would not stop them.
    """
    with final.with_name(f"{final.name}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another start is building {final.name}: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        with shared_with_children(file.fileno()):
            yield


def _remove_abandoned(final: Path) -> None:
    """Remove what killed builds left, of this directory (the caller holds its lock) and of others.

    Another's is abandoned if nobody holds its lock.
    """
    for stage in final.parent.glob(f"*{STAGE}*"):
        owner = stage.name.split(STAGE)[0]
        if owner == final.name:
            shutil.rmtree(stage, ignore_errors=True)
            continue
        with contextlib.suppress(OSError), final.with_name(f"{owner}.lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(stage, ignore_errors=True)


def _finish(stage: Path) -> None:
    """See that the interpreter answers, then write the marker that `is_usable` reads."""
    run([stage / "bin" / "python", "-I", "-c", "pass"], builder="the new environment")
    installed = sorted(stage.glob("lib/python*/site-packages/*")) + sorted(stage.glob("bin/*"))
    # Python makes and renews these as it likes.
    names = [str(path.relative_to(stage)) for path in installed if path.name != "__pycache__"]
    lines = [os.path.realpath(stage / "bin" / "python"), *names]
    (stage / MARKER).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
