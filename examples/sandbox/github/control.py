"""Control from other processes: `/_sandbox`, JSON, without credentials, not in the log of calls.

`GET  /_sandbox/state`    {"repositories", "runners", "runs", "jobs", "knobs"}
`PUT  /_sandbox/state`    each of these optional: {"reset": true, "repositories": ["o/r"],
                          "tokens": [arguments of add_token], "runners": [those of add_runner],
                          "knobs": {name: value}}
`GET  /_sandbox/faults`   the faults in force
`POST /_sandbox/faults`   one fault or a list of them, fields as in `sandbox.faults.Fault`
`DELETE /_sandbox/faults` none is in force any more
`GET  /_sandbox/calls`    the log of calls
`GET  /_sandbox/history?after=N`     the events with a higher sequence number
`POST /_sandbox/runs`     {"repository", arguments of add_run} -> 201 {"id"}
`POST /_sandbox/jobs`     {"repository", "name", "labels", "run_id" or null} -> 201, the job
`POST /_sandbox/jobs/{id}/acquire`   for a runner without a process
`POST /_sandbox/jobs/{id}/finish`    {"conclusion"} -> 200, the job
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from flask import Response, request

from sandbox import arguments
from sandbox.faults import Fault
from sandbox.github.bodies import json_body, no_content, reply
from sandbox.github.errors import ApiError
from sandbox.github.knobs import Knobs
from sandbox.github.web import Routes, Web

if TYPE_CHECKING:
    from sandbox.github.simulator import Simulator


def _checked(view: Callable[[], Response]) -> Callable[[], Response]:
    """A view that passes the body's fields on as arguments: 400 when they do not fit."""

    def checked() -> Response:
        try:
            return view()
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            message = f"a field is wrong: {error}"
            raise ApiError(400, message) from error

    return checked


class ControlRoutes(Routes):
    def __init__(self, web: Web) -> None:
        super().__init__(web)
        web.route("GET", "/_sandbox/state", self._show)
        web.route("PUT", "/_sandbox/state", _checked(self._set_state))
        web.route("GET", "/_sandbox/faults", self._show_faults)
        web.route("POST", "/_sandbox/faults", self._add_faults)
        web.route("DELETE", "/_sandbox/faults", self._clear_faults)
        web.route("GET", "/_sandbox/calls", self._calls)
        web.route("GET", "/_sandbox/history", self._history)
        web.route("POST", "/_sandbox/runs", _checked(self._add_run))
        web.route("POST", "/_sandbox/jobs", _checked(self._queue_job))
        web.route("POST", "/_sandbox/jobs/<int:job_id>/acquire", self._acquire_job)
        web.route("POST", "/_sandbox/jobs/<int:job_id>/finish", self._finish_job)

    @property
    def _simulator(self) -> Simulator:
        return self._web.simulator

    def _show(self) -> Response:
        simulator = self._simulator
        body = {
            "repositories": [found.full_name for found in simulator.state.repositories.values()],
            "runners": simulator.runners(),
            "runs": simulator.runs(),
            "jobs": simulator.jobs(),
            "knobs": simulator.knobs,
        }
        return reply(plain(body))

    def _set_state(self) -> Response:
        body, simulator = json_body(), self._simulator
        if body.get("reset"):
            simulator.reset()
        for name in body.get("repositories", []):
            simulator.add_repository(name)
        for token in body.get("tokens", []):
            simulator.add_token(**token)
        for runner in body.get("runners", []):
            simulator.add_runner(**runner)
        known = {field.name for field in fields(Knobs)}
        for name, value in body.get("knobs", {}).items():
            if name not in known:
                msg = f"there is no knob {name}; there are {', '.join(sorted(known))}"
                raise ApiError(422, msg)
            setattr(simulator.knobs, name, value)
        return self._show()

    def _show_faults(self) -> Response:
        return reply(plain(self._simulator.faults.all()))

    def _add_faults(self) -> Response:
        try:
            given = arguments.from_json(request.get_data())
            rules = given if isinstance(given, list) else [given]
            faults = [arguments.call(Fault, rule, "a fault") for rule in rules]
        except arguments.ArgumentError as error:
            raise ApiError(400, str(error)) from None
        for fault in faults:
            self._simulator.faults.add(fault)
        return no_content()

    def _clear_faults(self) -> Response:
        self._simulator.faults.clear()
        return no_content()

    def _calls(self) -> Response:
        return reply(plain(self._simulator.log.all()))

    def _history(self) -> Response:
        after = int(request.args.get("after", 0))
        return reply(plain(self._simulator.state.history[after:]))

    def _add_run(self) -> Response:
        return reply({"id": self._simulator.add_run(**json_body()).id}, 201)

    def _queue_job(self) -> Response:
        body = {"run_id": None, **json_body()}
        return reply(plain(self._simulator.queue_job(**body)), 201)

    def _acquire_job(self, job_id: int) -> Response:
        return reply(plain(self._simulator.acquire_job(job_id)))

    def _finish_job(self, job_id: int) -> Response:
        conclusion = json_body().get("conclusion", "success")
        return reply(plain(self._simulator.finish_job(job_id, conclusion)))


def plain(value: Any) -> Any:
    """Records as JSON can hold them; times in ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value
