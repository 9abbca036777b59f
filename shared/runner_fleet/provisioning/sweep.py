"""Sweep: end what no run of a repository needs any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from runner_fleet import github_runs
from runner_fleet.at_once import Join, at_once
from runner_fleet.ec2 import Ec2
from runner_fleet.ec2_model import Instance
from runner_fleet.errors import gathered
from runner_fleet.github import GitHub, Runner
from runner_fleet.provisioning import sweeping
from runner_fleet.provisioning.identity import (
    ATTEMPT_TAG,
    REPOSITORY_TAG,
    instance_of,
    is_runner_of,
    jit_run_of,
    own_instance_of,
)
from runner_fleet.provisioning.sweeping import Known, RunKey
from runner_fleet.provisioning.swept import Row, Swept, registration
from runner_fleet.provisioning.take_back import (
    Taken,
    delete_runners,
    end_instances,
    own_label,
    remove_runners,
)

SECOND_SIGHT = 5.0
"""Seconds after which a registration must still be offline, and a run still be gone: GitHub shows a
runner offline for a moment when it reconnects, and one 404 may be a bad moment of GitHub's own."""


@dataclass(frozen=True)
class Sweeper:
    """One sweep of `repository`: what it works with.

    `run_repositories` are those whose runs may have started something, `exclusive` says that only
    the repository's own runners are registered where we look.
    """

    repository: str
    run_repositories: tuple[str, ...]
    exclusive: bool
    github: GitHub
    ec2: Mapping[str, Ec2]  # by region
    min_age: float  # seconds
    dry_run: bool
    region_timeout: float  # seconds for one region, for looking and again for ending
    partial: bool = False  # not all regions that were asked for can be looked at
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    join: Join = threading.Thread.join

    def run(self) -> Swept:
        """Look in all places, judge, and unless it is a dry run, end what is an orphan."""
        swept = Swept()
        listed = self._listed(swept)
        runners = listed or []
        regions, known = self._look(runners, swept)
        runs = self._runs(known, runners, swept)
        orphans = self._judge_instances(regions, runs, listed, swept)
        suspects = self._suspects(runners, known, runs, swept)
        if self.dry_run:
            self._tell(orphans, runners, swept)
        elif orphans:
            # Reading the runs took its time: a runner may have a job by now.
            listed = self._listed(swept)
            self._end(self._judge_instances(_by_region(orphans), runs, listed, swept), swept)
        with gathered(swept.problems):
            self._remove(suspects, swept)
        return swept

    def _listed(self, swept: Swept) -> list[Runner] | None:
        """All runners; None when GitHub does not tell."""
        with gathered(swept.problems):
            return self.github.runners()
        return None

    def _look(
        self, runners: list[Runner], swept: Swept
    ) -> tuple[dict[str, dict[str, Instance]], Known]:
        """The repository's instances by region, and all that belong to a registration."""
        names = {own_instance_of(one.name) for one in runners if sweeping.may_be_orphan(one)}
        ids = sorted(name for name in names if name)

        def look(region: str) -> tuple[dict[str, Instance], dict[str, Instance]]:
            ec2 = self.ec2[region]
            tagged = ec2.instances_of(REPOSITORY_TAG, self.repository)
            others = [key for key in ids if key not in tagged]
            return tagged, ec2.instances(others)

        answers = at_once(self.ec2, look, self.region_timeout, self.join)
        swept.problems += answers.problems
        everything: dict[str, Instance] = {}
        for tagged, named in answers.found.values():
            everything |= tagged | named
        complete = not answers.failed and not self.partial
        known = Known(everything, complete=complete, exclusive=self.exclusive)
        return {region: tagged for region, (tagged, _) in answers.found.items()}, known

    def _runs(self, known: Known, runners: list[Runner], swept: Swept) -> sweeping.Runs:
        """What GitHub says of each run that matters; one call for each."""
        wanted = {
            sweeping.run_of(one)
            for one in known.instances.values()
            if not one.ended
            and one.tags.get(REPOSITORY_TAG) == self.repository
            and sweeping.is_tagged(one)
            and self._old(one)
        }
        for runner in runners:
            run = jit_run_of(runner.name)
            if run is not None and sweeping.may_be_orphan(runner):
                wanted |= {RunKey(repository, run[1]) for repository in self.run_repositories}
        runs: dict[RunKey, github_runs.WorkflowRun | None] = {}
        for repository in sorted({key.repository for key in wanted if key.repository}):
            keys = sorted(key for key in wanted if key.repository == repository and key.id != "0")
            with gathered(swept.problems):
                self._read_runs(keys, runs)
        return runs

    def _read_runs(
        self, keys: Iterable[RunKey], runs: dict[RunKey, github_runs.WorkflowRun | None]
    ) -> None:
        """Raises `GitHubError` at the first that cannot be read: the rest could not be, either.

        A run that is gone must be so twice.
        """
        readable, gone = False, []
        for key in keys:
            run = github_runs.run(self.github, *key)
            readable = readable or run is not None
            if run is None and not readable:
                github_runs.check_readable(self.github, key.repository)
                readable = True
            if run is None:
                gone.append(key)
            else:
                runs[key] = run
        if gone:
            self.sleep(SECOND_SIGHT)
        for key in gone:
            runs[key] = github_runs.run(self.github, *key)

    def _old(self, instance: Instance) -> bool:
        return sweeping.is_old(instance, self.now(), self.min_age)

    def _judge_instances(
        self,
        regions: Mapping[str, Mapping[str, Instance]],
        runs: sweeping.Runs,
        runners: list[Runner] | None,
        swept: Swept,
    ) -> list[tuple[Row, Instance]]:
        """The orphans, with what is to be said of each. Without `runners` there are none."""
        at_work = None if runners is None else [one for one in runners if one.busy]
        orphans = []
        for region, here in regions.items():
            for one in here.values():
                if one.ended or not self._old(one):
                    continue
                busy = None if at_work is None else any(_is_of(runner, one) for runner in at_work)
                opinion = sweeping.about_instance(one, runs, busy=busy)
                row = self._row(one, region, opinion)
                if opinion.orphan:
                    orphans.append((row, one))
                elif opinion.said:
                    swept.rows.append(row)
        return orphans

    def _row(self, instance: Instance, region: str, opinion: sweeping.Opinion) -> Row:
        key = sweeping.run_of(instance)
        attempt = instance.tags.get(ATTEMPT_TAG, "1")
        return Row(
            kind="instance",
            name=instance.id,
            region=region,
            age=self.now() - instance.launched_at,
            run="by hand" if key.id == "0" else f"{key.repository} {key.id}-{attempt}",
            why=opinion.why,
            outcome="left",
            orphan=opinion.orphan,
        )

    def _suspects(
        self, runners: list[Runner], known: Known, runs: sweeping.Runs, swept: Swept
    ) -> list[tuple[Row, Runner]]:
        """Registrations that are orphans if they are still offline at a second look."""
        suspects = []
        for runner in filter(sweeping.may_be_orphan, runners):
            opinion = sweeping.about_runner(runner, known, runs, self.run_repositories)
            run = jit_run_of(runner.name)
            attempt = f"{run[1]}-{run[2]}" if run else ""
            row = registration(runner.name, opinion.why, attempt, orphan=opinion.orphan)
            if opinion.orphan:
                suspects.append((row, runner))
            elif opinion.said:
                swept.rows.append(row)
        return suspects

    def _tell(
        self, orphans: list[tuple[Row, Instance]], runners: list[Runner], swept: Swept
    ) -> None:
        """What `_end` would do."""
        for row, instance in orphans:
            swept.rows.append(replace(row, outcome="would be terminated"))
            for runner in runners:
                if _is_of(runner, instance):
                    swept.rows.append(_of_orphan(runner.name, row.run, "would be removed"))

    def _end(self, orphans: list[tuple[Row, Instance]], swept: Swept) -> None:
        """Terminate the orphans, each region by itself, and remove their runners."""
        regions = {row.region for row, _ in orphans}
        taken = Taken()

        def end(region: str) -> Taken:
            here = Taken()
            ids = [one.id for row, one in orphans if row.region == region]
            end_instances(ids, self.ec2[region], here, self.sleep)
            return here

        answers = at_once(regions, end, self.region_timeout, self.join)
        swept.problems += answers.problems
        for region, here in answers.found.items():
            swept.problems += [f"{region}: {line}" for line in here.problems]
            here.problems.clear()
            taken.add(here)
        for row, one in orphans:
            outcome = "**NOT terminated**"
            if one.id in taken.terminated:
                outcome = "terminated"
            elif one.id in (*taken.ended_before, *taken.unknown):
                outcome = "has ended meanwhile"
            swept.rows.append(replace(row, outcome=outcome))
        mapping = {one.id: own_label(one) for _, one in orphans if one.id in taken.terminated}
        if mapping:
            remove_runners(mapping, (), self.github, taken, self.sleep)
        swept.problems += taken.problems
        swept.rows += [
            _of_orphan(name, _run_of(name, orphans), "removed") for name in taken.removed
        ]

    def _remove(self, suspects: list[tuple[Row, Runner]], swept: Swept) -> None:
        """Remove registrations that a second look shows as they were."""
        if not suspects:
            return
        self.sleep(SECOND_SIGHT)
        still = {one.id for one in self.github.runners() if sweeping.may_be_orphan(one)}
        orphans = [(row, runner) for row, runner in suspects if runner.id in still]
        taken = Taken()
        if not self.dry_run:
            delete_runners((runner for _, runner in orphans), self.github, taken)
        for row, runner in orphans:
            outcome = "would be removed" if self.dry_run else "**NOT removed**"
            if runner.name in taken.removed:
                outcome = "removed"
            elif runner.name in taken.gone:
                outcome = "has gone meanwhile"
            elif runner.name in taken.busy:
                outcome = "left"
            swept.rows.append(replace(row, outcome=outcome))
        swept.problems += taken.problems


def _by_region(orphans: Iterable[tuple[Row, Instance]]) -> dict[str, dict[str, Instance]]:
    regions: dict[str, dict[str, Instance]] = {}
    for row, one in orphans:
        regions.setdefault(row.region, {})[one.id] = one
    return regions


def _of_orphan(name: str, run: str, outcome: str) -> Row:
    """The registration of an orphan's runner."""
    return registration(name, "its instance is an orphan", run, outcome, orphan=True)


def _run_of(name: str, orphans: Iterable[tuple[Row, Instance]]) -> str:
    """The run of the instance whose runner has the name."""
    found = (row.run for row, one in orphans if is_runner_of(name, one.id, own_label(one)))
    return next(found, "")


def _is_of(runner: Runner, instance: Instance) -> bool:
    label = own_label(instance).lower()
    return instance_of(runner.name) == instance.id or bool(label and label in runner.labels)
