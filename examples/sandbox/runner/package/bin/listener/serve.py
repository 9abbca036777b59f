"""run.sh: hold a session, take the jobs that are offered, run them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any

from . import settings
from .wire import PATIENCE, RunnerError, Server, log_path, say, stamp

_RESULTS = {"success": "Succeeded", "failure": "Failed", "cancelled": "Canceled"}
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop(BaseException):
    """A signal asks the runner to leave."""


def run(words: list[str]) -> int:
    given = settings.arguments(words, ("jitconfig", "startuptype"), ("once",))
    if "jitconfig" in given:
        settings.unpack(given["jitconfig"])
    kept, server = settings.saved()
    once = bool(kept.get("ephemeral")) or "once" in given
    for number in _SIGNALS:
        signal.signal(number, _leave)
    try:
        _connect(server)
        say(f"\nCurrent runner version: '{settings.release()['version']}'")
        say(f"{stamp()}: Listening for Jobs")
        _listen(kept, server, once)
        if kept.get("ephemeral"):
            settings.forget()
    except Stop:
        say("Exiting...")
    finally:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        with contextlib.suppress(OSError):  # a session may be open, also when nothing said so yet
            server.call("DELETE", "/_runner/session")
    return 0


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise Stop


def _connect(server: Server) -> None:
    """Open the session; one that another process holds is waited for, as the real one does."""
    deadline = time.monotonic() + 240
    about = settings.release()
    body = {"os": about["os"], "arch": about["architecture"], "version": about["version"]}
    while True:
        reply = server.insist("POST", "/_runner/session", body)
        if reply.status == 200:
            say("\n\u221a Connected to GitHub")
            return
        if reply.status != 409 or time.monotonic() > deadline:
            raise RunnerError(reply.message or f"Failed to create a session ({reply.status})")
        say(f"{stamp()}: A session for this runner already exists.")
        time.sleep(5)


def _listen(kept: dict[str, Any], server: Server, once: bool) -> None:
    while True:
        reply = server.insist("GET", f"/_runner/message?wait={PATIENCE}")
        if reply.status == 204:
            continue
        if reply.status == 409:  # the server gave the session up meanwhile
            _connect(server)
            continue
        if reply.status != 200:
            settings.forget()
            raise RunnerError(reply.message or f"The message queue answered {reply.status}")
        offered = dict(reply.body["job"])
        taken = server.insist("POST", f"/_runner/jobs/{offered['id']}/acquire")
        if taken.status != 200:  # too late, or cancelled
            continue
        _work(kept, server, {**offered, **taken.body.get("job", {})})
        if once:
            return


def _work(kept: dict[str, Any], server: Server, job: dict[str, Any]) -> None:
    say(f"{stamp()}: Running job: {job['name']}")
    log_path("Worker").touch()
    conclusion = "cancelled"
    try:
        conclusion = _script(kept, server, job) if job.get("script") else _wait(server, job)
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # a job that was begun is told about
        path = f"/_runner/jobs/{job['id']}/complete"
        reply = server.insist("POST", path, {"conclusion": conclusion})
        if reply.status == 200:
            conclusion = reply.body.get("conclusion") or conclusion
        result = _RESULTS.get(conclusion, conclusion)
        say(f"{stamp()}: Job {job['name']} completed with result: {result}")
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _wait(server: Server, job: dict[str, Any]) -> str:
    """A job without a script is done by somebody outside."""
    while True:
        verdict = _verdict(server, job, PATIENCE)
        if verdict is not None:
            return verdict


def _verdict(server: Server, job: dict[str, Any], wait: int) -> str | None:
    """What the server says of the job: a conclusion, or None while it is to go on."""
    reply = server.insist("GET", f"/_runner/jobs/{job['id']}?wait={wait}")
    if reply.status != 200 or reply.body.get("cancel_requested"):
        return "cancelled"
    if reply.body["status"] == "completed":
        return str(reply.body.get("conclusion") or "success")
    return None


def _script(kept: dict[str, Any], server: Server, job: dict[str, Any]) -> str:
    """Run the job's script with bash in the work folder, until it or the job is over."""
    import subprocess

    name = job["repository"].split("/")[-1]
    folder = Path.cwd() / kept.get("workFolder", "_work") / name / name
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": job["repository"],
        "GITHUB_RUN_ID": str(job["run_id"]),
        "GITHUB_RUN_ATTEMPT": str(job.get("run_attempt", 1)),
        "GITHUB_WORKSPACE": str(folder),
        "RUNNER_ENVIRONMENT": "self-hosted",
        "RUNNER_NAME": kept["agentName"],
        "RUNNER_OS": "Linux",
        **job.get("env", {}),
    }
    process = subprocess.Popen(["bash", "-e", "-c", job["script"]], cwd=folder, env=environment)
    try:
        while True:
            try:
                return "success" if process.wait(0.2) == 0 else "failure"
            except subprocess.TimeoutExpired:
                verdict = _verdict(server, job, 0)
                if verdict is not None:
                    return verdict
    finally:
        _end(process)


def _end(process: Any) -> None:
    import subprocess

    if process.poll() is None:
        process.terminate()
        try:
            process.wait(2.5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
