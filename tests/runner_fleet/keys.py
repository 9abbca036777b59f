"""Keys of a GitHub App, made when first asked for; no key is in the repository."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)


class KeyPair(NamedTuple):
    private: str  # PEM, in the form GitHub gives it
    public: str


@cache
def key_pair(number: int = 0) -> KeyPair:
    """The key pair of that number, the same all through a test run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(private.decode(), public.decode())
