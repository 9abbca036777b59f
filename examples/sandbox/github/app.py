"""Puts the routes together behind the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.github.control import ControlRoutes
from sandbox.github.downloads import DownloadRoutes
from sandbox.github.edge import Edge
from sandbox.github.routes_meta import MetaRoutes
from sandbox.github.routes_refs import RefRoutes
from sandbox.github.routes_runners import RunnerRoutes
from sandbox.github.routes_runs import RunRoutes
from sandbox.github.routes_variables import VariableRoutes
from sandbox.github.runner_protocol import RunnerProtocol
from sandbox.github.web import Web

if TYPE_CHECKING:
    from sandbox.github.simulator import Simulator


def build(simulator: Simulator) -> Edge:
    web = Web(simulator.state, simulator.limits)
    RunnerRoutes(web)
    DownloadRoutes(web, simulator.archives)
    RunnerProtocol(web)
    RunRoutes(web)
    VariableRoutes(web)
    RefRoutes(web)
    MetaRoutes(web)
    ControlRoutes(web, simulator)
    return Edge(
        web.app.wsgi_app, simulator.state, simulator.log, simulator.faults, simulator.limits
    )
