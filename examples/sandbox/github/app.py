"""Puts the routes together behind the edge."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from flask import Flask

from sandbox.github.control import ControlRoutes
from sandbox.github.downloads import DownloadRoutes
from sandbox.github.edge import Edge
from sandbox.github.routes_apps import AppRoutes
from sandbox.github.routes_meta import MetaRoutes
from sandbox.github.routes_refs import RefRoutes
from sandbox.github.routes_runners import RunnerRoutes
from sandbox.github.routes_runs import RunRoutes
from sandbox.github.routes_variables import VariableRoutes
from sandbox.github.runner_protocol import RunnerProtocol
from sandbox.github.web import Web

if TYPE_CHECKING:
    from sandbox.github.simulator import Simulator


_GROUPS = (
    RunnerRoutes,
    AppRoutes,
    DownloadRoutes,
    RunnerProtocol,
    RunRoutes,
    VariableRoutes,
    RefRoutes,
    MetaRoutes,
    ControlRoutes,
)


def build(simulator: Simulator) -> Edge:
    return Edge(_application().wsgi_app, simulator)


@cache
def _application() -> Flask:
    web = Web()
    for group in _GROUPS:
        group(web)
    return web.app
