"""Text that compression makes little of."""

from __future__ import annotations

import base64
import hashlib


def noise(size: int) -> str:
    """The same text each time; compressed it has about three quarters of its size."""
    digests = (hashlib.sha256(str(number).encode()).digest() for number in range(size // 32 + 1))
    return base64.b64encode(b"".join(digests)).decode()[:size]
