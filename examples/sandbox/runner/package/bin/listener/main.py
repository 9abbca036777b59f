"""Where config.sh and run.sh come in."""

from __future__ import annotations

import sys

from .configure import configure
from .serve import Stop, run
from .wire import RunnerError, say


def main() -> int:
    command, *words = sys.argv[1:]
    try:
        return {"configure": configure, "run": run}[command](words)
    except Stop:
        return 0
    except (RunnerError, OSError) as error:
        say(f"An error occurred: {error}")
        return 1
