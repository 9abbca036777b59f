"""Text of others made fit to be shown: no secrets, no control characters, no commands."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHORTEST = 8
"""Characters of a known value that is hidden; a shorter one would blank innocent text."""

HIDDEN = "***"

SECRET_VARIABLES = (
    *("GH_PAT", "GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
)
"""Environment variables whose values are never shown."""

_KEY = "PRIVATE KEY(?: BLOCK)?-----"
_NAMES = "token|secret|password|passwd|credential|api_?key|access_?key"
# GitHub's tokens and AWS's key ids by their documented prefixes, and what stands before a host.
_TELLING = (
    (r"\b(?:gh[pousr]_|github_pat_)\w{8,}", HIDDEN),
    (r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}", HIDDEN),
    (r"(\w://)[^/@\s]+@", rf"\1{HIDDEN}@"),
)
_PATTERNS = (
    # Private keys in PEM; of one whose beginning is cut off everything before its end.
    (rf"-----BEGIN [A-Z0-9 ]*{_KEY}.*?(?:-----END [A-Z0-9 ]*{_KEY}|\Z)", HIDDEN),
    (rf"\A(?:(?!-----BEGIN ).)*?-----END [A-Z0-9 ]*{_KEY}", HIDDEN),
    # Values that their surroundings call secret.
    (r"(?i)(\bauthorization[\"']?\s*[:=]\s*[\"']?)(?:\w+\s+)?[^\s\"']+", rf"\1{HIDDEN}"),
    (r"(?i)(\bbearer\s+)[\w.~+/=-]{8,}", rf"\1{HIDDEN}"),
    (r"(?i)(--(?:token|jitconfig|pat)[ =])\S+", rf"\1{HIDDEN}"),
    (rf"(?i)\b([\w-]*(?:{_NAMES})s?[\"']?(?:=|:\s*)[\"']?)[^\s\"']{{8,}}", rf"\1{HIDDEN}"),
    *_TELLING,
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), shown) for pattern, shown in _PATTERNS)

# CSI and OSC sequences of terminals (ECMA-48), other two-character escapes.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def redacted(text: str) -> str:
    """The text without what is a secret by its form: it may have been put into a wrong input."""
    for pattern, shown in _TELLING:
        text = re.sub(pattern, shown, text)
    return text


def hidden(text: str, secrets: Iterable[str]) -> str:
    """The text with known secrets and what looks like one replaced by ***."""
    values = {part for secret in secrets for part in (secret, *secret.splitlines())}
    for value in sorted(values, key=len, reverse=True):
        if len(value.strip()) >= SHORTEST:
            text = text.replace(value.strip(), HIDDEN)
    for pattern, shown in _COMPILED:
        text = pattern.sub(shown, text)
    return text


def plain(text: str) -> str:
    """The text without what steers a terminal; only line feeds are left of control characters."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _CONTROLS.sub(" ", text)
