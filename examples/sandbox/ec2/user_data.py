"""What cloud-init makes of user data: the scripts to run, and what the sandbox leaves out."""

from __future__ import annotations

import email
import email.policy
from dataclasses import dataclass

_SCRIPT, _OTHER = "text/x-shellscript", "text/plain"
# How a part begins that does not say what it is (cloudinit/handlers/__init__.py).
_BEGINNINGS = {
    "#!": _SCRIPT,
    "#cloud-config": "text/cloud-config",
    "#cloud-boothook": "text/cloud-boothook",
    "#include": "text/x-include-url",
    "#part-handler": "text/part-handler",
    "## template: jinja": "text/jinja2",
    "<powershell>": "text/x-powershell",  # EC2Launch's, not cloud-init's
}


@dataclass(frozen=True)
class UserData:
    scripts: dict[str, str]  # by name, in the order in which cloud-init runs them
    others: dict[str, str]  # type of each part that is no script, and its text

    @classmethod
    def parse(cls, text: str) -> UserData:
        scripts, others = {}, {}
        for number, (name, kind, content) in enumerate(_parts(text), 1):
            if kind == _SCRIPT:
                scripts[name or f"part-{number:03}"] = content
            else:
                others[kind] = content
        return cls(dict(sorted(scripts.items())), others)


def _parts(text: str) -> list[tuple[str, str, str]]:
    """Name, type and content of each part."""
    if "mime-version:" not in text[:4096].lower():
        return [("", _kind(text), text)] if text else []
    message = email.message_from_string(text, policy=email.policy.default)
    found = []
    for part in message.walk():
        if part.is_multipart():
            continue
        content = part.get_content()
        kind = part.get_content_type()
        kind = _kind(content) if kind == _OTHER else kind
        found.append((part.get_filename() or "", kind, content))
    return found


def _kind(content: str) -> str:
    return next((kind for begin, kind in _BEGINNINGS.items() if content.startswith(begin)), _OTHER)
