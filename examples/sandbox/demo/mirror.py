"""Let the simulated GitHub have the jobs that act runs.

act knows nothing of the simulator: it runs the test job on this machine, whatever its `runs-on`. So
each test job that act starts is queued in the simulator with the labels start-runner gave out, the
simulator dispatches it to the runner on the booted instance, and when act's job ends it ends there,
too. Meanwhile the step in act waits (see act/bin/nvidia-smi) until its twin has been acquired.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sandbox.demo.legs import Leg
from sandbox.github import Job, Simulator

_WAITING = re.compile(r"waiting for the runner \(([0-9-]+)\)")

_GPUS = {"g4dn": "Tesla T4, 15360 MiB", "g5": "A10G, 23028 MiB", "g6": "L4, 23034 MiB"}


@dataclass
class Twin:
    """A job of act's and the simulator's job that goes with it."""

    leg: Leg
    job_id: int
    nonce: str = ""
    answered: bool = False


class Mirror:
    """The twins of one run. `answers` is where the waiting steps look for their answer."""

    def __init__(
        self, github: Simulator, repository: str, run_id: int, answers: Path, *, test_fails: bool
    ) -> None:
        self._github = github
        self._repository = repository
        self._run_id = run_id
        self._answers = answers
        self._test_fails = test_fails
        self._twins: dict[str, Twin] = {}  # by act's full name of the job

    def job_started(self, name: str, leg: Leg) -> None:
        """act has started a job that runs on an instance: queue its twin."""
        job = self._github.queue_job(self._repository, self._run_id, name, leg.labels)
        self._twins[name] = Twin(leg, job.id)

    def line(self, name: str, text: str) -> None:
        """A line that a job printed: perhaps its step's question where it runs."""
        twin, match = self._twins.get(name), _WAITING.search(text)
        if twin is not None and match is not None:
            twin.nonce = match[1]

    def job_ended(self, name: str, result: str) -> None:
        """act's job is over: so is its twin."""
        twin = self._twins.get(name)
        if twin is not None:
            conclusion = "success" if result == "success" else "failure"
            self._github.finish_job(twin.job_id, conclusion)

    def look(self) -> None:
        """Answer the steps whose twin has been acquired meanwhile."""
        waiting = [twin for twin in self._twins.values() if twin.nonce and not twin.answered]
        if not waiting:
            return
        jobs = {job.id: job for job in self._github.jobs(self._repository)}
        for twin in waiting:
            job = jobs[twin.job_id]
            if job.status == "in_progress":
                self._answer(twin, job)
                twin.answered = True

    def _answer(self, twin: Twin, job: Job) -> None:
        runner = job.runner_name or ""
        instance = next((one for one in twin.leg.instances if one in runner), "unknown")
        kind = twin.leg.instances.get(instance, "")
        kind = kind.partition(",")[0]
        gpu = _GPUS.get(kind.partition(".")[0], "unknown GPU")
        text = (
            f"runner    {runner}\n"
            f"instance  {instance} ({kind})\n"
            "+-----------------------------------------------+\n"
            "| NVIDIA-SMI (stand-in)                         |\n"
            f"| GPU 0: {gpu:<38} |\n"
            "+-----------------------------------------------+\n"
        )
        if self._test_fails:
            text += "the test fails, as SCENARIO=failing-test asks\n"
        file = self._answers / twin.nonce
        unfinished = file.with_suffix(".tmp")
        unfinished.write_text(f"{int(self._test_fails)}\n{text}", encoding="utf-8")
        unfinished.replace(file)  # the step never sees half an answer
