"""The user data of a Windows instance: a header of values in front of `boot.ps1`."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path

_PLAIN = re.compile(r"[\t\n\x20-\x7e]*")
_TAG = re.compile(
    r"</?(powershell|powershellarguments|script|persist|detach|runaslocalsystem)",
    re.IGNORECASE,
)
"""What EC2Launch looks for in user data, wherever it stands (EC2 user guide, "Run commands when you
launch an EC2 instance with user data input")."""


def windows_user_data(values: Mapping[str, str]) -> str:
    """The script with its values, in the tags by which EC2Launch knows it; runs once.

    It is as small as it can be, for EC2Launch takes nothing compressed.
    """
    header = "".join(f"${name} = {literal(value)}\n" for name, value in values.items())
    return f"<powershell>\n{header}{_boot_script()}</powershell>\n<persist>false</persist>\n"


def literal(value: str) -> str:
    """The value as an expression of PowerShell.

    In single quotes nothing has a meaning but the quote. PowerShell also takes typographic quotes
    for quotes and reads a script as text in the system's old code page; so what is not ASCII is
    decoded there, as is what EC2Launch could take for one of its tags.
    """
    if _PLAIN.fullmatch(value) and not _TAG.search(value):
        return "'" + value.replace("'", "''") + "'"
    encoded = base64.b64encode(value.encode()).decode()
    return f"[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('{encoded}'))"


def _boot_script() -> str:
    """Without comments, indentation and empty lines. No text in it goes over several lines."""
    text = Path(__file__).with_name("boot.ps1").read_text(encoding="ascii")
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("#"))
