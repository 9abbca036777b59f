"""`python -m sandbox.demo`: what `make demo` runs. It reads SCENARIO and VERBOSE."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from sandbox.demo.signals import Interrupted, Signals
from sandbox.plain_path import UnreachableError, plain_root

SCENARIOS = {"": False, "passing-test": False, "failing-test": True}


def main() -> int:
    """Exit status: 0 all well, 1 something failed, 2 unknown scenario, 128 + n on signal n."""
    signals = Signals().install()
    scenario = os.environ.get("SCENARIO", "")
    if scenario not in SCENARIOS:
        known = ", ".join(name for name in SCENARIOS if name)
        print(f"SCENARIO={scenario} is unknown; there are: {known}", file=sys.stderr)
        return 2
    try:
        with plain_root():
            return run(signals, test_fails=SCENARIOS[scenario])
    except UnreachableError as error:
        print(error, file=sys.stderr)
        return 1
    except Interrupted as interrupted:
        print(f"{interrupted}: ended; no process and no file is left", file=sys.stderr)
        return 128 + interrupted.number


def run(signals: Signals, *, test_fails: bool) -> int:
    # Late: a signal during these seconds must find its handler, and the checkout has its path now.
    from sandbox.actions_environment import BuildError
    from sandbox.demo.session import Options, run

    options = Options(test_fails, verbose=os.environ.get("VERBOSE") == "1")
    if place := os.environ.get("RUNNER_FLEET_SANDBOX_PLACE"):
        options = Options(options.test_fails, options.verbose, Path(place))
    try:
        return run(options, signals)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    exit_status = main()
    gc.freeze()  # the interpreter would look through all of moto once more before it ends
    sys.exit(exit_status)
