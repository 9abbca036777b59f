"""Find what the start of this run left, when neither its mapping nor its fleet id is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runner_fleet import github_runs
from runner_fleet.at_once import Answers, at_once
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import LIVING_STATES, Instance
from runner_fleet.errors import GitHubError
from runner_fleet.github import GitHub
from runner_fleet.provisioning.identity import (
    ATTEMPT_TAG,
    JOB_TAG,
    RUN_REPOSITORY_TAG,
    RUN_TAG,
    STARTER_TAG,
)
from runner_fleet.provisioning.legs import Starter, Verdict, whose
from runner_fleet.provisioning.options.stop import StopOptions
from runner_fleet.provisioning.take_back import own_label

LAUNCH_PAUSES = (0.0, 3.0)
"""Seconds before each look for instances. Mostly there are none, as their start failed before it
launched; one that was killed in the midst of it was so seconds before this job began."""

VERDICT_PAUSES = (0.0, 5.0, 5.0)
"""Seconds before each look at the run's jobs. GitHub's list lags behind, and the jobs that follow a
start are queued a moment after it is over: two looks in a row must come to the same."""


@dataclass
class Own:
    """What the run has, and whose it is."""

    ours: dict[str, dict[str, Instance]] = field(default_factory=dict)  # by region, by id
    theirs: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    why: str = ""  # the doubt
    problems: list[str] = field(default_factory=list)  # with regions, one line each

    @property
    def said(self) -> list[str]:
        return [f"{key}: of another job of this run; left alone" for key in self.theirs]

    @property
    def warnings(self) -> list[str]:
        if not self.doubtful:
            return []
        line = (
            f"{', '.join(self.doubtful)}: of this run, but maybe not of this job; left alone, as "
            f"{self.why}. Pass start-runner's output fleet_id to stop-runner"
        )
        return [line]


@dataclass(frozen=True)
class OwnSearch:
    """One search: what it works with. Without `github` nobody can tell siblings apart."""

    options: StopOptions
    github: GitHub | None
    ec2: Mapping[str, Ec2]  # by region
    hurried: Callable[[], bool] = lambda: False
    sleep: Callable[[float], None] = time.sleep

    def find(self) -> Own:
        """The living instances of this attempt of this run, told apart by who started them."""
        answers = self._instances()
        own = Own(problems=answers.problems)
        found = {key: one for here in answers.found.values() for key, one in here.items()}
        if not found:
            return own
        started_by = {
            key: Starter(one.tags.get(STARTER_TAG, ""), one.tags.get(JOB_TAG, ""))
            for key, one in found.items()
        }
        labels = {key: own_label(one) for key, one in found.items()}
        verdict = self._verdict(started_by, labels)
        for region, here in answers.found.items():
            ours = {key: one for key, one in here.items() if key in verdict.ours}
            if ours:
                own.ours[region] = ours
        own.theirs, own.doubtful, own.why = verdict.theirs, verdict.doubtful, verdict.why
        return own

    def _instances(self) -> Answers[dict[str, Instance]]:
        caller = self.options.caller
        filters = {
            f"tag:{RUN_REPOSITORY_TAG}": [caller.repository],
            f"tag:{RUN_TAG}": [caller.run_id],
            f"tag:{ATTEMPT_TAG}": [caller.run_attempt],
            "instance-state-name": LIVING_STATES,
        }
        answers: Answers[dict[str, Instance]] = Answers()
        for pause in LAUNCH_PAUSES:
            if pause and self.hurried():
                break
            self.sleep(pause)
            answers = at_once(
                self.ec2,
                lambda region: self.ec2[region].instances_where(filters),
                self.options.region_timeout,
            )
            if answers.failed or any(answers.found.values()):
                break
        return answers

    def _verdict(self, started_by: Mapping[str, Starter], labels: Mapping[str, str]) -> Verdict:
        """Ours only what is so at two looks in a row; on any doubt nothing is."""
        caller = self.options.caller
        me = Starter(caller.runner, caller.job)
        last: Verdict | None = None
        for pause in VERDICT_PAUSES:
            self.sleep(pause)
            try:
                now = whose(started_by, labels, self._jobs(), me)
            except GitHubError as error:
                return Verdict(doubtful=tuple(started_by), why=str(error))
            if not now.passing and (now == last or not now.ours):
                return now
            last = now
        why = (last.why if last else "") or "GitHub's list of the run's jobs keeps changing"
        return Verdict(doubtful=tuple(started_by), why=why)

    def _jobs(self) -> list[github_runs.Job]:
        if self.github is None:
            msg = "the token in GH_PAT cannot be used"
            raise GitHubError(msg)
        caller = self.options.caller
        return github_runs.jobs(self.github, caller.repository, caller.run_id, caller.run_attempt)
