"""The stand-in for GitHub's runner: an archive with config.sh and run.sh, as the real one has.

`package` holds its files. They speak the GitHub simulator's `/_runner` protocol.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VERSION = "2.335.1"
_PACKAGE = Path(__file__).parent / "package"


@dataclass(frozen=True)
class Archive:
    """A runner to download, as GitHub's `actions/runners/downloads` lists it."""

    os: str  # "linux"
    architecture: str  # "x64" or "arm64"
    filename: str
    data: bytes

    @property
    def sha256_checksum(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@cache
def archives() -> tuple[Archive, ...]:
    """The archives for Linux; the same bytes from the same files, whoever packs them."""
    return tuple(
        Archive("linux", each, f"actions-runner-linux-{each}-{VERSION}.tar.gz", _pack(each))
        for each in ("x64", "arm64")
    )


def _pack(architecture: str) -> bytes:
    release = json.dumps({"version": VERSION, "os": "linux", "architecture": architecture})
    contents = {
        path.relative_to(_PACKAGE).as_posix(): path.read_bytes()
        for path in sorted(_PACKAGE.rglob("*"))
        if path.is_file() and path.suffix in (".sh", ".py", ".Listener")
    }
    contents["bin/release.json"] = release.encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(contents):
            entry = tarfile.TarInfo(name)  # owner, group and time are zero
            entry.size = len(contents[name])
            entry.mode = 0o644 if name.endswith((".py", ".json")) else 0o755
            archive.addfile(entry, io.BytesIO(contents[name]))
    return gzip.compress(packed.getvalue(), mtime=0)
