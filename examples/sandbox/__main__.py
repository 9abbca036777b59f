"""`python -m sandbox`: what `make sandbox` runs: the world in the foreground, for act by hand."""

from __future__ import annotations

import fcntl
import gc
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.demo.signals import Interrupted, Signals
from sandbox.plain_path import UnreachableError, plain_root

USAGE = """\
The sandbox is up: GitHub at {github}
                   EC2    at {ec2}
In another terminal, in {root}:

    {act} workflow_dispatch -W .github/workflows/matrix-test.yaml

(.actrc there tells act all the rest; `-W .github/workflows/…` is a file of examples/workflows.)
Workflows of your own, and how to look inside and interfere: examples/sandbox/README.md
    {github}/_sandbox/state    (and …/instances, calls, history, faults, rules)
Ctrl-C ends it and everything in it.
"""


class AlreadyRunning(RuntimeError):  # noqa: N818 - it is what it says
    """There is one sandbox a checkout, since .actrc names one env file."""


@contextmanager
def only_one(place: Path) -> Iterator[None]:
    """Hold the place, as long as this process lives; raises AlreadyRunning."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            msg = f"a sandbox is running in {place} already"
            raise AlreadyRunning(msg) from None
        yield


def serve(place: Path, signals: Signals) -> None:
    """Keep a world for act until a signal comes; raises Interrupted then."""
    from sandbox.act import processes, staging
    from sandbox.act.rc import ROOT
    from sandbox.act.runner import act_binary, step_path, write_env_file
    from sandbox.actions_environment import CACHE, prepare
    from sandbox.world import REPOSITORY, World

    world_directory, actions = place / "world", place / "runner-fleet"
    env_file = place / "act.env"
    prepare("ec2", signals.check)
    try:
        with World(world_directory) as world:
            run = world.github.add_run(REPOSITORY, name="by hand", event="workflow_dispatch")
            staging.link_actions(actions)
            write_env_file(
                env_file,
                {
                    **world.job_environment(),
                    "GITHUB_RUN_ID": str(run.id),
                    "RUNNER_FLEET_CACHE": str(CACHE),
                    "PATH": step_path(),
                },
            )
            usage = USAGE.format(
                github=world.github.url,
                ec2=world.ec2_url,
                root=ROOT.resolve(),
                act=shlex.quote(act_binary()),
            )
            print(usage, flush=True)
            seen = 0
            while True:
                signals.check()
                history = list(world.github.history)
                for happened in history[seen:]:
                    if happened.kind.startswith(("runner_reg", "runner_rem", "job_")):
                        at = f"{happened.at:%H:%M:%S}"
                        print(at, happened.kind, _named(happened.fields), flush=True)
                seen = len(history)
                world.recycle_labels()
                time.sleep(0.2)
    finally:
        env_file.unlink(missing_ok=True)
        processes.end_living_in(world_directory)
        for directory in (world_directory, actions):
            shutil.rmtree(directory, ignore_errors=True)


def _named(fields: object) -> str:
    names = fields if isinstance(fields, dict) else {}
    return str(names.get("runner_name") or names.get("name") or "")


def main() -> int:
    """Exit status: 0 after Ctrl-C, 1 when it cannot start."""
    signals = Signals().install()
    try:
        with plain_root() as root:
            return run(root / ".cache" / "sandbox", signals)
    except UnreachableError as error:
        print(error, file=sys.stderr)
        return 1
    except Interrupted:
        print("The sandbox has ended; nothing is left of it.")
    return 0


def run(place: Path, signals: Signals) -> int:
    from sandbox.actions_environment import BuildError

    try:
        with only_one(place):
            serve(place, signals)
    except (AlreadyRunning, BuildError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    exit_status = main()
    gc.freeze()  # the interpreter would look through all of moto once more before it ends
    sys.exit(exit_status)
