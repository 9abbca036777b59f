"""AWS settings of whoever runs the sandbox: it has its own, and moto reads them when imported."""

from __future__ import annotations

import os


def forget() -> None:
    """This process, and all it starts, sees none: no profile, region, key or file."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
