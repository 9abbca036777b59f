"""GitHub's error replies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

JSON = "application/json; charset=utf-8"
DOCS = "https://docs.github.com/rest"
RATE_LIMIT_DOCS = f"{DOCS}/overview/rate-limits-for-the-rest-api"

# What the edge in front of the API says when the API does not answer (502, 503, 504).
UNICORN = (
    "<!DOCTYPE html>\n<html>\n  <head><title>Unicorn! &middot; GitHub</title></head>\n"
    "  <body><p><strong>We had issues producing the response to your request.</strong></p>"
    "<p>Sorry about that. Please try refreshing.</p></body>\n</html>\n"
)


class ApiError(Exception):
    """A refusal: HTTP status, GitHub's message, and what else its body and headers hold."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        documentation: str = DOCS,
        errors: Sequence[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.documentation = documentation
        self.errors = errors
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"message": self.message}
        if self.errors is not None:
            body["errors"] = list(self.errors)
        body["documentation_url"] = self.documentation
        body["status"] = str(self.status)
        return body


def not_found(documentation: str = DOCS) -> ApiError:
    return ApiError(404, "Not Found", documentation=documentation)


def invalid_request(detail: str, documentation: str = DOCS) -> ApiError:
    """The request does not fit the endpoint's schema."""
    return ApiError(422, f"Invalid request.\n\n{detail}", documentation=documentation)


def validation_failed(*details: str, documentation: str = DOCS) -> ApiError:
    """The schema `validation_failed_simple`: errors are sentences."""
    return ApiError(422, "Validation Failed", errors=details, documentation=documentation)


_USUAL = {
    401: "Bad credentials",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    422: "Validation Failed",
    429: "You have exceeded a secondary rate limit. Please wait a few minutes.",
}


def error_page(status: int, message: str = "") -> tuple[str, str]:
    """Body and content type of an error that has no better one: what a fault answers with."""
    if status in (502, 503, 504) and not message:
        return UNICORN, "text/html; charset=utf-8"
    limited = status == 429
    documentation = f"{RATE_LIMIT_DOCS}#about-secondary-rate-limits" if limited else DOCS
    message = message or _USUAL.get(status, "Server Error")
    return json.dumps(ApiError(status, message, documentation=documentation).body()), JSON
