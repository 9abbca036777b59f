"""What every route needs: who asks, for what, as of when; and the headers of every reply."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from flask import Flask, Request, Response, g, request
from werkzeug.exceptions import HTTPException

from sandbox.github import access, apps, edge, scopes
from sandbox.github.bodies import reply
from sandbox.github.errors import ApiError, not_found
from sandbox.github.limits import HOURLY, Limits
from sandbox.github.records import Identity, Repository
from sandbox.github.state import State

if TYPE_CHECKING:
    from sandbox.github.simulator import Simulator

API_VERSIONS = ("2022-11-28", "2026-03-10")
CACHE = "private, max-age=60, s-maxage=60"
VARY = "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With"
ANONYMOUS = Identity("", "anonymous", 0, "", HOURLY["anonymous"])

_SCOPES = ("/repos/<owner>/<repo>", "/orgs/<org>", "/enterprises/<enterprise>")
_PRIVATE = ("/_runner/", "/_sandbox/", "/_downloads/", "/actions/runner/releases/")

View = Callable[..., Response]


class Web:
    """The Flask application together with what its views share.

    There is one for all simulators of a process, since compiling its routes takes a while; which of
    them is asked is part of the request.
    """

    def __init__(self) -> None:
        self.app = Flask("sandbox.github", static_folder=None)
        self.app.before_request(self._before)
        self.app.after_request(self._after)
        self.app.register_error_handler(ApiError, _refuse)
        self.app.register_error_handler(HTTPException, _http_error)

    # Routes -----------------------------------------------------------------------------------

    def route(self, method: str, rule: str, view: View) -> None:
        self.app.add_url_rule(
            rule, f"{method} {rule}", self._locked(view), methods=[method], strict_slashes=True
        )

    def route_unlocked(self, method: str, rule: str, view: View) -> None:
        """For views that take the state's lock themselves, or need none."""
        self.app.add_url_rule(rule, f"{method} {rule}", view, methods=[method])

    def route_repository(self, method: str, rule: str, view: View) -> None:
        """`view(repository, **arguments)` under /repos/{owner}/{repo}; it checks the access."""

        def with_repository(owner: str, repo: str, **arguments: Any) -> Response:
            found = self.state.repository(f"{owner}/{repo}")
            if found is None or access.role(self.identity, found.full_name) is None:
                raise self.unseen()
            return view(found, **arguments)

        self.route(method, f"/repos/<owner>/<repo>{rule}", with_repository)

    def route_scopes(self, method: str, rule: str, view: View, level: access.Level) -> None:
        """`view(scope, **arguments)` for runners of repositories, organizations, enterprises."""
        self._route_scopes(_SCOPES, method, rule, view, level)

    def route_groups(self, method: str, rule: str, view: View, level: access.Level) -> None:
        """The same for what repositories do not have."""
        self._route_scopes(_SCOPES[1:], method, rule, view, level)

    def _route_scopes(
        self, prefixes: Sequence[str], method: str, rule: str, view: View, level: access.Level
    ) -> None:

        def with_scope(**arguments: Any) -> Response:
            scope = self._scope(arguments)
            self.require(scope, runner_permission(scope), level)
            return view(scope, **arguments)

        for prefix in prefixes:
            self.route(method, prefix + rule, with_scope)

    def _scope(self, arguments: dict[str, Any]) -> str:
        if "enterprise" in arguments:
            return scopes.ENTERPRISE + str(arguments.pop("enterprise")).lower()
        if "org" in arguments:
            asked = str(arguments.pop("org"))
        else:
            asked = f"{arguments.pop('owner')}/{arguments.pop('repo')}"
        scope = scopes.canonical(self.state, asked)
        if scope is None:
            raise self.unseen()
        return scope

    def _locked(self, view: View) -> View:
        def locked(**arguments: Any) -> Response:
            with self.state.transaction():
                if request.environ[edge.AGE] != self.state.age:
                    msg = "The sandbox was reset."
                    raise ApiError(410, msg)
                return view(**arguments)

        return locked

    # The simulator ----------------------------------------------------------------------------

    @property
    def simulator(self) -> Simulator:
        found: Simulator = request.environ[edge.SIMULATOR]
        return found

    @property
    def state(self) -> State:
        return self.simulator.state

    @property
    def limits(self) -> Limits:
        return self.simulator.limits

    # The request ------------------------------------------------------------------------------

    @property
    def identity(self) -> Identity:
        found: Identity = g.identity
        return found

    def unseen(self) -> ApiError:
        if self.identity.kind == "anonymous":
            return ApiError(401, "Requires authentication")
        return not_found()

    def require(
        self, scope: str, permission: str, level: access.Level, *, run_control: bool = False
    ) -> None:
        g.accepted = f"{permission}={level}"
        access.require(self.identity, scope, permission, level, run_control=run_control)

    @property
    def base(self) -> str:
        """The API's base URL as the client spelled it."""
        prefix: str = request.environ.get(edge.PREFIX, "")
        return request.host_url.rstrip("/") + prefix

    def scope_url(self, scope: str, rest: str) -> str:
        """A URL as Link headers have it: by number, not by name."""
        if "/" in scope:
            return f"{self.base}/repositories/{self.state.repositories[scope.lower()].id}{rest}"
        if scope.startswith(scopes.ENTERPRISE):
            return f"{self.base}/enterprises/{scope.removeprefix(scopes.ENTERPRISE)}{rest}"
        return f"{self.base}/organizations/{self.state.organizations[scope.lower()][0]}{rest}"

    def repository_url(self, repository: Repository, rest: str) -> str:
        return self.scope_url(repository.full_name, rest)

    @property
    def read_at(self) -> datetime | None:
        """The time whose state a fault wants read, if not now."""
        stale: float = request.environ.get(edge.STALE_SECONDS, 0.0)
        return self.state.now() - timedelta(seconds=stale) if stale else None

    @property
    def api_version(self) -> str:
        asked: str = request.headers.get("X-GitHub-Api-Version", API_VERSIONS[0])
        return asked

    # Before and after -------------------------------------------------------------------------

    def _before(self) -> None:
        if request.path.startswith(_PRIVATE):
            return
        now = self.state.clock()
        if not request.headers.get("User-Agent"):
            msg = (
                "Request forbidden by administrative rules. Please make sure your request has a "
                "User-Agent header (https://docs.github.com/en/rest/overview/"
                "resources-in-the-rest-api#user-agent-required)."
            )
            raise ApiError(403, msg)
        g.identity = self._identify(request, now)
        if self.api_version not in API_VERSIONS:
            msg = f"'{self.api_version}' is not a supported version."
            raise ApiError(400, msg)
        if request.path == "/rate_limit":
            return
        self.limits.check_primary(self.identity, now)
        self.limits.check_secondary(self.identity, request.method, now)
        g.charged = True

    def _identify(self, asked: Request, now: datetime) -> Identity:
        header = asked.headers.get("Authorization", "")
        if not header:
            return ANONYMOUS
        scheme, _, token = header.partition(" ")
        if scheme.lower() == "bearer" and apps.is_jwt(token):
            with self.state.lock:
                return apps.identify(self.state, token, now)
        found = self.state.identities.get(token.strip())
        expired = found is not None and found.expires_at is not None and now >= found.expires_at
        if scheme.lower() not in ("bearer", "token") or found is None or expired:
            raise ApiError(401, "Bad credentials")
        return found

    def _after(self, response: Response) -> Response:
        response.headers["X-GitHub-Request-Id"] = secrets.token_hex(12).upper()
        if "identity" not in g:
            return response
        if response.status_code == 200 and request.method == "GET":
            response = _conditional(response)
        now = self.state.clock()
        if g.get("charged") and response.status_code != 304:
            self.limits.charge(self.identity, now)
        budget = self.limits.budget(self.identity, now)
        headers = response.headers
        headers["X-RateLimit-Limit"] = str(budget.limit)
        headers["X-RateLimit-Remaining"] = str(budget.remaining)
        headers["X-RateLimit-Used"] = str(budget.used)
        headers["X-RateLimit-Reset"] = str(int(budget.reset.timestamp()))
        headers["X-RateLimit-Resource"] = "core"
        headers["X-GitHub-Media-Type"] = "github.v3; format=json"
        headers["x-github-api-version-selected"] = self.api_version
        headers["Vary"] = VARY
        if self.identity.kind == "classic":
            headers["X-OAuth-Scopes"] = "admin:org, repo"
            headers["X-Accepted-OAuth-Scopes"] = ""
        elif g.get("accepted"):
            headers.setdefault("X-Accepted-GitHub-Permissions", g.accepted)
        return response


class Routes:
    """A group of views."""

    def __init__(self, web: Web) -> None:
        self._web = web

    @property
    def _state(self) -> State:
        return self._web.state


def runner_permission(scope: str) -> str:
    return "administration" if "/" in scope else "organization_self_hosted_runners"


def _conditional(response: Response) -> Response:
    """A weak validator; what the client has already is answered 304, with its strong form."""
    digest = hashlib.sha256(response.get_data()).hexdigest()
    known = request.headers.get("If-None-Match", "")
    if known == "*" or f'"{digest}"' in known:
        response = Response(status=304)
        response.headers.pop("Content-Type", None)
        response.headers["ETag"] = f'"{digest}"'
    else:
        response.headers["ETag"] = f'W/"{digest}"'
    response.headers["Cache-Control"] = CACHE
    return response


def _refuse(error: ApiError) -> Response:
    return reply(error.body(), error.status, error.headers)


def _http_error(error: HTTPException) -> Response:
    code = error.code or 500
    refusal = not_found() if code in (404, 405) else ApiError(code, error.name)
    return _refuse(refusal)
