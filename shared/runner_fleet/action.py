"""The edge to GitHub Actions: inputs, outputs, annotations, the job summary, exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType

from runner_fleet.cancel import ignore
from runner_fleet.errors import Cancelled, FleetError, internal_error
from runner_fleet.markdown import bullets, paragraphs
from runner_fleet.masking import SECRET_VARIABLES, hidden

INPUT_PREFIX = "FLEET_"
"""`action.yml` maps each input to `FLEET_<NAME>`.

Composite actions get no `INPUT_*` from the runner; act sets them all the same, so with a prefix
of our own a missing mapping fails under act as it would on GitHub.
"""


SHORTEST_MASK = 20  # characters; GitHub's tokens have 29 and more


def inputs(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """All inputs that have a value, by their `action.yml` name, without surrounding white space."""
    return {
        key[len(INPUT_PREFIX) :].lower(): value.strip()
        for key, value in environ.items()
        if key.startswith(INPUT_PREFIX) and value.strip()
    }


class Reporter:
    """Says what happens: log lines, annotations, outputs, the job summary.

    What only tells never raises: a log that cannot be written must not keep machines alive.
    """

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._errors: set[str] = set()
        self._details: list[str] = []

    def say(self, line: str) -> None:
        """One line of log, which GitHub must not take for a command."""
        harmless = " ".join(line.splitlines()).replace("##[", "## [")
        if harmless.lstrip().startswith("::"):
            harmless = f"> {harmless}"
        with _unless_closed():
            print(harmless, flush=True)

    def notice(self, message: str) -> None:
        self._command("notice", message)

    def warning(self, message: str) -> None:
        self._command("warning", message)

    def error(self, message: str) -> None:
        """Once: what fails twice, for one reason, is still one thing to mend."""
        if message not in self._errors:
            self._errors.add(message)
            self._command("error", message)

    def mask(self, secret: str) -> None:
        """Ask the runner to replace `secret` by *** in all later log lines.

        A short text is left alone: masking it would blank innocent text, and GitHub drops job
        outputs that contain a mask (actions/runner, src/Runner.Worker/JobExtension.cs).
        """
        self._secrets.add(secret)
        if len(secret) >= SHORTEST_MASK:
            self._command("set_secret", secret)

    def hide(self, text: str) -> str:
        """A text of others without secrets: those of this process, and what looks like one."""
        known = {os.environ.get(name, "") for name in SECRET_VARIABLES}
        return hidden(text, self._secrets | known)

    def group(self, title: str, lines: Sequence[str]) -> None:
        """Lines of log that are folded away under a title."""
        self._command("start_group", title)
        for line in lines:
            self.say(line)
        with _unless_closed():
            _core().end_group()
            sys.stdout.flush()

    def output(self, name: str, value: str) -> None:
        """Set an output now; a later value of the same name replaces it.

        Raises `FleetError`: what the next job does not hear of is lost.
        """
        try:
            _core().set_output(name, value)
        except Exception as error:
            msg = f"GITHUB_OUTPUT: the output {name} cannot be written: {error}"
            raise FleetError(msg) from None

    def summary(self, markdown: str) -> None:
        """Add to the job summary (GitHub shows 1 MiB a step); nothing without one."""
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if not path or not markdown:
            return
        try:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(markdown.rstrip() + "\n\n")
        except OSError as error:
            self.warning(f"GITHUB_STEP_SUMMARY: the job summary cannot be written: {error}")

    def detail(self, markdown: str) -> None:
        """What the summary shows below the failure, if the action fails."""
        self._details.append(markdown)

    def failure(self, heading: str, lines: Sequence[str] = ()) -> None:
        """Put a failure into the summary, with its details."""
        self.summary(paragraphs(f"### {heading}", bullets(lines), *self._details))

    def _command(self, name: str, message: str) -> None:
        with _unless_closed():
            getattr(_core(), name)(message)
            sys.stdout.flush()


def _damaged(error: ImportError) -> str:
    """Without its marker `launch` takes an environment for unfinished, and builds it anew."""
    with suppress(OSError):
        Path(sys.prefix, ".complete").unlink(missing_ok=True)
    return (
        f"the Python environment {sys.prefix} is damaged ({error.name or 'a package'} cannot be "
        "loaded): run this again, and it is built anew"
    )


@contextmanager
def _unless_closed() -> Iterator[None]:
    """Go on without a log when nobody reads it any more."""
    try:
        yield
    except (OSError, ValueError, AttributeError):
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 (until the process ends)


def _core() -> ModuleType:
    """Loaded when first used: it imports requests."""
    return import_module("actions_toolkit.core")


def run(main: Callable[[Reporter], None], name: str) -> None:
    """Run an entrypoint, called `name` in the summary, and leave the process with its exit status.

    A `FleetError` becomes one `::error::` for each of its lines. Anything else that escapes is a
    bug of ours: it is named as that, with the place, but without a traceback that could show
    values of the user's.
    """
    if isinstance(sys.stdout, TextIOWrapper):  # None when the step has no log
        sys.stdout.reconfigure(errors="backslashreplace")
    reporter = Reporter()
    try:
        main(reporter)
        ignore()
    except FleetError as error:
        for line in error.lines:
            reporter.error(line)
        if error.lines:  # otherwise the entrypoint has told
            reporter.failure(f"{name} failed", error.lines)
        sys.exit(error.exit_code)
    except Cancelled as cancelled:
        reporter.say("Cancelled")
        reporter.failure(f"{name} cancelled")
        sys.exit(cancelled.exit_code)
    except ImportError as error:
        reporter.error(_damaged(error))
        reporter.failure(f"{name} failed", [_damaged(error)])
        sys.exit(1)
    except Exception as error:
        if os.environ.get("RUNNER_DEBUG") == "1":
            raise
        reporter.error(internal_error(error))
        reporter.failure(f"{name} failed", [internal_error(error)])
        sys.exit(1)
