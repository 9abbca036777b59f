"""What act says with `--json`, as typed events.

One JSON object a line. A job inside a reusable workflow is called
`<caller's job name>-<leg>/<called workflow's name>/<job>`, padded with blanks; its `matrix` is
empty, so the name is what tells the legs of a matrix apart.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something act said; `job` is the job's full name, empty when it is about no job."""

    job: str
    job_id: str  # the job's key in its workflow file

    @property
    def leg(self) -> str:
        """The full name without the job itself: equal for the jobs of one matrix leg."""
        return self.job.rpartition("/")[0]


@dataclass(frozen=True)
class JobStarted(Event):
    """The job's first step begins."""


@dataclass(frozen=True)
class JobEnded(Event):
    """The job is over; `result` is `success` or `failure` (act's word for cancelled, too)."""

    result: str


@dataclass(frozen=True)
class JobSkipped(Event):
    """act leaves the job out, which does not make it fail: its label has no -P mapping."""

    why: str


@dataclass(frozen=True)
class StepStarted(Event):
    """A step of the job itself begins (not one inside a composite action)."""

    step: str


@dataclass(frozen=True)
class StepEnded(Event):
    """A step of the job itself is over."""

    step: str
    result: str


@dataclass(frozen=True)
class Output(Event):
    """A step set an output. act repeats it for every level of composite actions."""

    name: str
    value: str


@dataclass(frozen=True)
class Summary(Event):
    """A step wrote a job summary (Markdown)."""

    text: str


@dataclass(frozen=True)
class Line(Event):
    """A line that a step's script printed; masked values are `***`."""

    text: str


@dataclass(frozen=True)
class Annotation(Event):
    """A step said `::error::` or the like; `level` is `error`, `warning` or `notice`."""

    level: str
    text: str


@dataclass(frozen=True)
class Note(Event):
    """act's own word; `level` is `info`, `warning` or `error`."""

    level: str
    text: str


def parse(line: str) -> Event:
    """The event of one line of act's output; what is not JSON becomes a Note (an `Error: …`)."""
    try:
        said = json.loads(line)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        text = line.strip()
        return Note("", "", "error" if text.startswith("Error") else "info", text)
    return _event(said)


def _event(said: dict[str, Any]) -> Event:
    job = str(said.get("job", "")).strip()
    job_id = str(said.get("jobID", ""))
    text = str(said.get("msg", "")).strip("\r\n")
    if said.get("raw_output"):
        return Line(job, job_id, text)
    if "jobResult" in said:
        return JobEnded(job, job_id, str(said["jobResult"]))
    if "Skipping unsupported platform" in text:
        return JobSkipped(job, job_id, text.lstrip("🚧 "))
    if said.get("stepid") == ["--setup-job"] and "stepResult" not in said:
        return JobStarted(job, job_id)
    command = said.get("command")
    if command == "set-output":
        return Output(job, job_id, str(said.get("name", "")), str(said.get("arg", "")))
    if command == "summary":
        return Summary(job, job_id, str(said.get("content", "")))
    if command in ("error", "warning", "notice"):
        return Annotation(job, job_id, str(command), text.partition(f"::{command}::")[2])
    if said.get("stage") == "Main" and len(said.get("stepID", ())) == 1:
        step = str(said.get("step", ""))
        if "stepResult" in said:
            return StepEnded(job, job_id, step, str(said["stepResult"]))
        if text.startswith("⭐ Run Main"):
            return StepStarted(job, job_id, step)
    return Note(job, job_id, str(said.get("level", "info")), text)
