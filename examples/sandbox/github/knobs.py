"""What can be made worse: the ways in which GitHub is slower or stranger than its documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass
class Knobs:
    """All times in seconds. The defaults are GitHub on a good day."""

    # Visibility: how long until the REST API (or the matcher) sees what has happened.
    runner_list_lag: float = 0.0
    busy_lag: float = 0.0
    status_lag: float = 0.0
    job_status_lag: float = 0.0
    matcher_label_lag: float = 0.0

    # Dispatch.
    acquire_timeout: float = 60.0  # a job not picked up goes back to the queue
    lost_job_requeue: float = 60.0  # the same, when its runner was deleted meanwhile (up to 900)
    queue_timeout: float = 24 * 3600.0
    cancel_timeout: float = 300.0
    auto_acquire: bool = False  # online runners without a process take what they are sent
    delete_while_dispatched: Literal["allow", "refuse"] = "allow"
    stale_labels_after_replace: bool = False  # actions/runner #4225

    # Runners that go away.
    ephemeral_linger: float = 0.0  # after the job: still listed, DELETE 422, the name taken
    offline_after: float = 120.0  # silence of a connected runner
    lost_job_failure: float = 600.0  # an acquired job whose runner is offline
    ephemeral_offline_removal: float = 24 * 3600.0
    offline_removal: float = 14 * 24 * 3600.0

    # Lists.
    name_filter: Literal["exact", "substring"] = "exact"
    list_order: Literal["id", "name", "unstable"] = "id"
