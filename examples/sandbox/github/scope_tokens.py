"""Registration and remove tokens: valid for an hour, for one scope, any number of times."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Literal

from sandbox.github.records import ScopeToken
from sandbox.github.state import State

LIFETIME = timedelta(hours=1)


def issue(state: State, scope: str, purpose: Literal["registration", "remove"]) -> ScopeToken:
    token = ScopeToken(
        token="A" + secrets.token_hex(14).upper(),
        purpose=purpose,
        scope=scope,
        expires_at=state.now() + LIFETIME,
    )
    state.scope_tokens[token.token] = token
    state.record("scope_token_created", purpose=purpose, scope=scope)
    return token


def accepts(state: State, token: str, scope: str, purpose: str) -> bool:
    found = state.scope_tokens.get(token)
    return (
        found is not None
        and found.purpose == purpose
        and found.scope.lower() == scope.lower()
        and state.now() < found.expires_at
    )
