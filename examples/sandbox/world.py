"""GitHub and EC2 on loopback, side by side: what a test, the demo and `make sandbox` run on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from sandbox import aws_settings, runner
from sandbox.act import rc
from sandbox.calls import CallLog
from sandbox.ec2 import Ec2
from sandbox.ec2.control import Control
from sandbox.faults import Faults
from sandbox.github import Simulator
from sandbox.label_pool import VARIABLE, LabelPool
from sandbox.serve import Server

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

REPOSITORY = "octo-org/gpu-tests"
REGION = "us-east-1"
# The value of tests/fixtures/act/secrets.env; it opens nothing but the simulator.
TOKEN = "sandbox-pat-with-admin-rights"

_LABEL = re.compile(r"runner-[a-z0-9]{8}(?![a-z0-9])")


@lru_cache(maxsize=256)
def _labels_in(user_data: str) -> frozenset[str]:
    return frozenset(_LABEL.findall(user_data))


class World:
    """Both services, sharing one log of calls and one set of faults.

    `directory` is made, and holds everything the world writes: the machines' directories and the
    pool of runner labels. `labels` are those start-runner may draw (default: the ones act knows).
    The servers listen from construction on and answer inside the `with` block.
    """

    def __init__(self, directory: Path, labels: Sequence[str] | None = None) -> None:
        aws_settings.forget()
        self.directory = directory
        self.calls = CallLog()
        self.faults = Faults()
        self._pool = LabelPool(directory / "labels", rc.labels() if labels is None else labels)
        self._github_server = Server()
        self._ec2_server = Server()
        self.github = Simulator(log=self.calls, faults=self.faults)
        self.github.url = self._github_server.url
        (directory / "ec2").mkdir(parents=True, exist_ok=True)
        (directory / "aws-config").write_text("[default]\n", encoding="utf-8")
        self.ec2 = Ec2(
            directory / "ec2", github_url=self.github.url, log=self.calls, faults=self.faults
        )
        self._exit = ExitStack()
        self._furnish()

    @property
    def ec2_url(self) -> str:
        """Where the EC2 API (and whatever else moto serves) is."""
        return self._ec2_server.url

    @property
    def label_pool(self) -> Path:
        """A directory with one empty file a label; whoever unlinks one has drawn it."""
        return self._pool.directory

    def recycle_labels(self) -> None:
        """Put labels that no runner, no living instance and no start needs back into the pool.

        For a world that lives long: call it now and then.
        """
        self._pool.recycle(self._used_labels)

    def _used_labels(self) -> set[str]:
        used = {name for one in self.github.runners() for name in one.label_names}
        return used.union(*map(_labels_in, self.ec2.user_data_of_living()))

    def environment(self) -> dict[str, str]:
        """What a step of a job on octo-org/gpu-tests sees of this world, credentials included."""
        return {
            **self.job_environment(),
            "GH_PAT": TOKEN,
            "AWS_ACCESS_KEY_ID": "SANDBOXACCESSKEYID",
            "AWS_SECRET_ACCESS_KEY": "sandbox-aws-secret-access-key",
            "AWS_SESSION_TOKEN": "sandbox-aws-session-token",
            "AWS_REGION": REGION,
        }

    def job_environment(self) -> dict[str, str]:
        """The same without what a workflow has to ask for: no token, no AWS credentials or region.

        No configuration of the user's own is read: under act by hand, HOME is the user's.
        """
        return {
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REF": "refs/heads/main",
            "AWS_ENDPOINT_URL": self.ec2_url,
            # A profile of the user's own, too, would be looked for.
            "AWS_PROFILE": "default",
            "AWS_CONFIG_FILE": str(self.directory / "aws-config"),
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "AWS_EC2_METADATA_DISABLED": "true",
            VARIABLE: str(self.label_pool),
        }

    def intercept(self, around: Callable[[WSGIApplication], WSGIApplication]) -> None:
        """Put something of a test's own in front of both services, inside the `with` block.

        It stays until another is put there.
        """
        self._github_server.application = around(Control(self.github.wsgi, self.ec2))
        self._ec2_server.application = around(self.ec2.wsgi)

    def reset(self) -> None:
        """As new: no instance, runner, run, fault or call, every label back in the pool, and
        nobody known to GitHub but those it was furnished with."""
        self.ec2.reset()
        self.github.forget()
        # Only now: the calls that a fault delays go on, and have no effect any more.
        self.faults.clear()
        self.calls.clear()
        self._furnish()

    def close(self) -> None:
        """Stop answering and end every machine."""
        self._exit.close()

    def _furnish(self) -> None:
        self.github.add_repository(REPOSITORY)
        self.github.add_token(TOKEN, repos={REPOSITORY: "admin"})
        for archive in runner.archives():
            self.github.set_runner_archive(
                archive.os, archive.architecture, archive.filename, archive.data
            )
        self._pool.fill()

    def __enter__(self) -> World:
        self._github_server.application = Control(self.github.wsgi, self.ec2)
        self._ec2_server.application = self.ec2.wsgi
        # Machines end before the services they talk to.
        self._exit.enter_context(self._github_server)
        self._exit.enter_context(self._ec2_server)
        self._exit.callback(self.ec2.close)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
