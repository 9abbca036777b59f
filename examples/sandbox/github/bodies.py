"""JSON in and out: replies, and what a request's body must be."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, request

from sandbox.github.errors import JSON, ApiError, invalid_request


def reply(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(data, separators=(",", ":"))
    response = Response(text, status=status, content_type=JSON)
    response.headers.extend(dict(headers or {}))
    return response


def no_content() -> Response:
    response = Response(status=204)
    response.headers.pop("Content-Type", None)
    return response


def json_body() -> dict[str, Any]:
    """The request's JSON object; no body at all is an empty one."""
    raw = request.get_data()
    if not raw.strip():
        return {}
    try:
        data = json.loads(raw)
    except ValueError:
        raise ApiError(400, "Problems parsing JSON") from None
    if not isinstance(data, dict):
        raise ApiError(400, "Body should be a JSON object")
    return data


def string_list(body: Mapping[str, Any], name: str) -> Sequence[str]:
    if name not in body:
        raise invalid_request(f'"{name}" wasn\'t supplied.')
    found = body[name]
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise invalid_request(f"For 'properties/{name}', {json.dumps(found)} is not an array.")
    return found


def string(body: Mapping[str, Any], name: str) -> str:
    if name not in body:
        raise invalid_request(f'"{name}" wasn\'t supplied.')
    found = body[name]
    if not isinstance(found, str):
        raise invalid_request(f"For 'properties/{name}', {json.dumps(found)} is not a string.")
    return found
