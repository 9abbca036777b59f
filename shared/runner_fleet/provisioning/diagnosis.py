"""What an instance's console and EC2's reason say about why it is no online runner. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from runner_fleet.ec2_model import GONE_STATES
from runner_fleet.provisioning import guesses
from runner_fleet.provisioning.causes import CAUSES, Cause
from runner_fleet.provisioning.progress import LAUNCHED, ONLINE, REGISTERED

_OURS = "runner-fleet: "
_FAILED = re.compile(rf"{_OURS}error \[([a-z-]+)\]: *(.*)")
_ENDED = f"{_OURS}powering off"

_VAGUE_CODES = frozenset({"registration-failed", "user-data-failed"})
"""Codes of the boot script after which other lines may know more."""

_STEPS = (
    ("registered", guesses.NOT_CONNECTED),
    ("register", guesses.STILL_REGISTERING),
    ("pre_runner_script", guesses.SLOW_SCRIPT),
    ("dependencies", guesses.SLOW_PACKAGES),
    ("download", guesses.SLOW_DOWNLOAD),
)
"""Words of the boot script's progress lines, and what it means when one of them is the last."""

_WINDOWS_IS_READY = "windows is ready"
"""EC2Launch says it on the console when Windows can be used (EC2 user guide, EC2Launch tasks)."""

_BOOTING = ("cloud-init", "ec2launch", "windows sysprep", "microsoft windows")
"""Words of a system that runs user data, and has not come to it."""


def diagnose(console: str, state: str, state_reason: str, phase: str) -> Cause | None:
    """Why an instance is no online runner; None when nothing tells.

    `console` is text without control characters; `state` and `state_reason` EC2's, `phase` how far
    the wait saw it come. Most telling first: EC2 ended it; the boot script's own words; what
    others wrote on the console; at last what the instance was doing.
    """
    return (
        ended_by_ec2(state_reason)
        or _own_words(console)
        or _sign(console, telling=True)
        or _served(state_reason, phase)
        or _known(console)
        or _sign(console, telling=False)
        or _by_reason(guesses.GUESSES, state_reason)
        or (None if state in GONE_STATES else _still_at(console, phase))
    )


def ended_by_ec2(state_reason: str) -> Cause | None:
    """The cause when EC2 itself ended the instance: nothing on the console tells more."""
    return _by_reason(CAUSES, state_reason)


def _served(state_reason: str, phase: str) -> Cause | None:
    """An instance powers itself off when the one job of its runner is done."""
    by_itself = guesses.POWERED_OFF.reasons[0] in state_reason
    return guesses.SERVED if by_itself and phase == ONLINE else None


def is_whole(console: str) -> bool:
    """Whether the console of an ended instance tells its end: EC2 posts it some seconds later."""
    return _ENDED in console or _FAILED.search(console) is not None


def _by_reason(known: Iterable[Cause], state_reason: str) -> Cause | None:
    named = (cause for cause in known for reason in cause.reasons if reason in state_reason)
    return next(named, None)


def _own_words(console: str) -> Cause | None:
    """What the boot script said, unless it knows only that something failed."""
    cause = _known(console)
    return None if cause is None or cause.code in _VAGUE_CODES else cause


def _known(console: str) -> Cause | None:
    """The last failure that the boot script printed, in its words."""
    found = _FAILED.findall(console)
    if not found:
        return None
    code, text = found[-1]
    for cause in CAUSES:
        if cause.code == code:
            return replace(cause, title=text) if text else cause
    return Cause(code, text, "the lines of the console say more")


def _sign(console: str, *, telling: bool) -> Cause | None:
    """The cause whose sign is the last on the console: what comes later was closer to the end.

    That user data failed is said after every failure: that sign is not `telling`.
    """
    text = console.lower()
    places = {
        cause: max(_places(text, cause), default=-1)
        for cause in CAUSES
        if (cause.code not in _VAGUE_CODES) is telling
    }
    found = [cause for cause, place in places.items() if place >= 0]
    return max(found, key=lambda cause: places[cause], default=None)


def _places(text: str, cause: Cause) -> Iterable[int]:
    after = max((text.rfind(phrase.lower()) for phrase in cause.unless), default=-1)
    for sign in cause.signs:
        place = text.rfind(sign.lower())
        if place > after:
            yield place


def _still_at(console: str, phase: str) -> Cause:
    """What an instance was doing that was not ready in time."""
    if phase == LAUNCHED:
        return guesses.NOT_STARTED
    if phase == REGISTERED:
        return guesses.NOT_CONNECTED
    if not console.strip():
        return guesses.CONSOLE_EMPTY
    own = [line for line in console.splitlines() if _OURS in line]
    if not own:
        return _not_begun(console.lower())
    steps = (cause for line in reversed(own) for word, cause in _STEPS if word in line)
    return next(steps, guesses.STILL_REGISTERING)


def _not_begun(text: str) -> Cause:
    """What it means that the boot script has said nothing on a console, here in lower case."""
    if _WINDOWS_IS_READY in text:
        return guesses.NO_EC2LAUNCH
    if any(word in text for word in _BOOTING):
        return guesses.SLOW_BOOT
    return guesses.NO_CLOUD_INIT
