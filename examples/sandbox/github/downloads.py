"""Runner archives: what there is to download, from here, and what its digest is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from flask import Response

from sandbox.github import render_repositories as repositories
from sandbox.github.bodies import reply
from sandbox.github.errors import not_found
from sandbox.github.web import Routes, Web

PLATFORMS = (
    ("osx", "x64", "tar.gz"),
    ("osx", "arm64", "tar.gz"),
    ("linux", "x64", "tar.gz"),
    ("linux", "arm", "tar.gz"),
    ("linux", "arm64", "tar.gz"),
    ("win", "x64", "zip"),
    ("win", "arm64", "zip"),
)
RELEASED = "2026-10-01T12:00:00Z"


@dataclass(frozen=True)
class Archive:
    filename: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Archives:
    """By (os, architecture). What nobody set is a small file that is no archive."""

    def __init__(self, version: str = "2.335.1") -> None:
        self.version = version
        self._set: dict[tuple[str, str], Archive] = {}

    def set(self, os: str, arch: str, filename: str, data: bytes) -> None:
        self._set[os, arch] = Archive(filename, data)

    def all(self) -> dict[tuple[str, str], Archive]:
        found = {}
        for os, arch, ending in PLATFORMS:
            filename = f"actions-runner-{os}-{arch}-{self.version}.{ending}"
            nothing = Archive(filename, f"{filename}: no archive was set\n".encode())
            found[os, arch] = self._set.get((os, arch), nothing)
        return found


class DownloadRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        web.route_scopes("GET", "/actions/runners/downloads", self._list, "read")
        web.route("GET", "/repos/actions/runner/releases/latest", self._latest)
        web.route_unlocked("GET", "/_downloads/<filename>", self._file)
        web.route_unlocked(
            "GET", "/actions/runner/releases/download/<tag>/<filename>", self._released
        )

    @property
    def _archives(self) -> Archives:
        return self._web.simulator.archives

    def _url(self, archive: Archive) -> str:
        return f"{repositories.site(self._web.base)}/_downloads/{archive.filename}"

    def _list(self, scope: str) -> Response:
        del scope  # the same everywhere
        return reply(
            [
                {
                    "os": os,
                    "architecture": arch,
                    "download_url": self._url(archive),
                    "filename": archive.filename,
                    "sha256_checksum": archive.sha256,
                }
                for (os, arch), archive in self._archives.all().items()
            ]
        )

    def _file(self, filename: str) -> Response:
        for archive in self._archives.all().values():
            if archive.filename == filename:
                return Response(archive.data, content_type="application/octet-stream")
        raise not_found()

    def _released(self, tag: str, filename: str) -> Response:
        """Where the release page has it: a redirect, as on GitHub."""
        if tag != f"v{self._archives.version}":
            raise not_found()
        target = f"{repositories.site(self._web.base)}/_downloads/{filename}"
        return Response(status=302, headers={"Location": target})

    def _latest(self) -> Response:
        tag = f"v{self._archives.version}"
        base = self._web.base
        url = f"{base}/repos/actions/runner/releases"
        page = f"{repositories.site(base)}/actions/runner/releases"
        author = repositories.user("github-actions[bot]", base, "Bot")
        archives = self._archives.all()
        shas = "".join(
            f"- {archive.filename} <!-- BEGIN SHA {os}-{arch} -->{archive.sha256}"
            f"<!-- END SHA {os}-{arch} -->\n"
            for (os, arch), archive in archives.items()
        )
        assets = [
            {
                "url": f"{url}/assets/{number}",
                "id": number,
                "node_id": repositories.node_id("RA", number),
                "name": archive.filename,
                "label": "",
                "uploader": author,
                "content_type": "application/octet-stream",
                "state": "uploaded",
                "size": len(archive.data),
                "digest": f"sha256:{archive.sha256}",
                "download_count": 0,
                "created_at": RELEASED,
                "updated_at": RELEASED,
                "browser_download_url": f"{page}/download/{tag}/{archive.filename}",
            }
            for number, archive in enumerate(archives.values(), start=1)
        ]
        release = {
            "url": f"{url}/1",
            "html_url": f"{page}/tag/{tag}",
            "assets_url": f"{url}/1/assets",
            "upload_url": f"{url}/1/assets{{?name,label}}",
            "tarball_url": f"{base}/repos/actions/runner/tarball/{tag}",
            "zipball_url": f"{base}/repos/actions/runner/zipball/{tag}",
            "id": 1,
            "node_id": repositories.node_id("RE", 1),
            "tag_name": tag,
            "target_commitish": "main",
            "name": tag,
            "body": f"## SHA-256 Checksums\n\n{shas}",
            "draft": False,
            "prerelease": False,
            "immutable": False,
            "created_at": RELEASED,
            "published_at": RELEASED,
            "updated_at": RELEASED,
            "author": author,
            "assets": assets,
        }
        return reply(release)
