"""A way to the checkout that act can go, wherever the checkout is.

act starts each step's script through a command line that it splits at blanks, and hands paths on
in files where quotes have a meaning. So a checkout whose path has more than plain characters is
reached through a link in a directory of this process's own, removed at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Read by sandbox.act.rc; the module must not be imported before it is set.
ROOT_VARIABLE = "RUNNER_FLEET_SANDBOX_ROOT"

_PLAIN = re.compile(r"[A-Za-z0-9/._+@-]+")
# Paths below the checkout that the Makefile hands on.
_PATHS = ("RUNNER_FLEET_CACHE",)


class UnreachableError(RuntimeError):
    """The checkout has no plain path, and no directory for a link to it has one."""


@contextmanager
def plain_root(real: Path | None = None) -> Iterator[Path]:
    """The checkout (or `real`) by a path of plain characters, which `sandbox.act.rc` uses, too.

    Raises UnreachableError.
    """
    real = real or Path(__file__).resolve().parents[2]
    if _PLAIN.fullmatch(str(real)):
        yield real
        return
    place = Path(tempfile.gettempdir()).resolve()
    if not _PLAIN.fullmatch(str(place)):
        msg = (
            f"act cannot work in {str(real)!r}, nor through a link in {str(place)!r}: "
            "move the checkout, or set TMPDIR, to a path of ASCII letters, digits and ._+@-"
        )
        raise UnreachableError(msg)
    directory = Path(tempfile.mkdtemp(prefix="runner-fleet-", dir=place))
    link = directory / "checkout"
    before = dict(os.environ)
    try:
        link.symlink_to(real)
        os.environ[ROOT_VARIABLE] = str(link)
        for name in _PATHS:
            if os.environ.get(name, "").startswith(f"{real}/"):
                os.environ[name] = str(link / Path(os.environ[name]).relative_to(real))
        yield link
    finally:
        for name in (ROOT_VARIABLE, *_PATHS):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]
        shutil.rmtree(directory)
