"""Which jobs a workflow has, and whether act ran them all.

act's exit status does not say: a job whose label act does not know is left out in silence, and so
is what needs it. So the jobs are counted from the workflow files, and their results from events.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml


def expected_jobs(workflow: Path) -> list[str]:
    """The full names act gives the jobs of `workflow`, called workflows' jobs in their place.

    Called workflows (`uses: ./.github/workflows/x.yaml`) are looked for beside `workflow`.
    A matrix may have lists only; `include` and `exclude` are refused with a ValueError.
    """
    document = _load(workflow)
    names: list[str] = []
    for key, body in document["jobs"].items():
        legs = _legs(body)
        called = str(body.get("uses", ""))
        for number in range(1, legs + 1):
            name = str(body.get("name", key)) + (f"-{number}" if _has_matrix(body) else "")
            if called:
                inner = expected_jobs(workflow.parent / Path(called).name)
                names += [f"{name}/{job}" for job in inner]
            else:
                names.append(name)
    if _is_called(document):
        return [f"{document['name']}/{name}" for name in names]
    return names


def leg_values(workflow: Path) -> dict[str, dict[str, str]]:
    """For each leg of a matrix that calls a workflow, the name its jobs share and its values."""
    legs: dict[str, dict[str, str]] = {}
    for key, job in _load(workflow)["jobs"].items():
        if "uses" not in job or not _has_matrix(job):
            continue
        called = _load(workflow.parent / Path(str(job["uses"])).name)
        axes = _axes(job)
        for number, values in enumerate(itertools.product(*axes.values()), start=1):
            name = f"{job.get('name', key)}-{number}/{called['name']}"
            legs[name] = dict(zip(axes, map(str, values), strict=True))
    return legs


def problems(
    expected: Iterable[str], results: Mapping[str, str], skipped: Mapping[str, str]
) -> list[str]:
    """One sentence for each expected job that did not run and succeed; empty when all did."""
    found: list[str] = []
    for name in expected:
        if name in skipped:
            found.append(f"{name}: skipped by act, which was not told its label ({skipped[name]})")
        elif name not in results:
            found.append(f"{name}: never ran")
        elif results[name] != "success":
            found.append(f"{name}: {results[name]}")
    return found


def _load(workflow: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    return document


def _is_called(document: Mapping[Any, Any]) -> bool:
    # YAML 1.1 reads the key `on` as true.
    triggers = document.get("on", document.get(True, {}))
    return "workflow_call" in triggers


def _has_matrix(job: Mapping[str, Any]) -> bool:
    return "matrix" in job.get("strategy", {})


def _axes(job: Mapping[str, Any]) -> dict[str, list[Any]]:
    matrix = job["strategy"]["matrix"]
    odd = [key for key, values in matrix.items() if not isinstance(values, list)]
    if odd or {"include", "exclude"} & set(matrix):
        msg = f"cannot count the legs of a matrix with {', '.join(odd) or 'include or exclude'}"
        raise ValueError(msg)
    return dict(matrix)


def _legs(job: Mapping[str, Any]) -> int:
    if not _has_matrix(job):
        return 1
    count = 1
    for values in _axes(job).values():
        count *= len(values)
    return count
