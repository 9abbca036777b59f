"""A GitHub on loopback: self-hosted runners, runs and jobs, variables and refs."""

from sandbox.github.clock import VirtualClock
from sandbox.github.knobs import Knobs
from sandbox.github.records import Event, Job, Label, Run, Runner
from sandbox.github.simulator import Simulator

__all__ = ["Event", "Job", "Knobs", "Label", "Run", "Runner", "Simulator", "VirtualClock"]
