"""The application: routes, who is let in, errors, and the built dashboard."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import Response
from sqlalchemy import Engine

from api import (
    audit,
    bisections,
    boots,
    changes,
    dashboard,
    downloads,
    error_rates,
    experiments,
    gone,
    health,
    home,
    hosts,
    jobs,
    kernels,
    metrics,
    pairs,
    prices,
    problems,
    profiles,
    queue,
    regressions,
    requests,
    search,
    series,
    session,
    specs,
    subscriptions,
    tables,
    trends,
    weekly,
)
from api.addresses import AllowedHosts
from api.bodies import proper_content_type
from api.body_limit import BodyLimit
from api.gate import Gate, needs, read_proxy_secret
from api.guard import Guard
from api.known_parameters import known_parameters
from api.metrics import Metering, Meters
from api.problems import ProblemView
from api.request_log import RequestLog
from api.shared_reads import SharedReads
from api.stored_pages import StoredPages
from api.versions import Versions, versioned
from mitigauge.access.groups import proxy_roles
from mitigauge.access.roles import Right
from mitigauge.core.settings import get_settings
from mitigauge.storage.database.engine import get_engine


class Service(FastAPI):
    """The application; its description has what it sends in other forms than JSON, too."""

    _described: bytes | None = None

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        routed = _routed()
        if routed.openapi_schema is None:
            document = FastAPI.openapi(routed)
            document["components"]["schemas"].update(profiles.DESCRIBED)
        return FastAPI.openapi(routed)

    def described(self) -> bytes:
        """The same for programs, as JSON: with the addresses that stay."""
        if self._described is None:
            document = dict(self.openapi())
            document["paths"] = {versioned(path): of for path, of in document["paths"].items()}
            self._described = json.dumps(document).encode()
        return self._described


def create_app(
    engine: Engine | None = None,
    *,
    web_root: Path | None = None,
    bound: str | None = None,
    login_key: str = "",
) -> FastAPI:
    """The service over *engine* (default: the configured database).

    *bound* is the address it listens on (default: the configured one). *login_key* makes
    whoever has it the operator; empty: nobody.
    """
    settings = get_settings()
    app = _blank()
    app.state.engine = engine if engine is not None else get_engine()
    app.state.ready = False
    app.state.shared = SharedReads()
    app.state.pages = StoredPages(app.state.shared)
    app.state.gate = Gate(
        anonymous_read=settings.anonymous_read,
        proxy_secret=read_proxy_secret(settings.proxy_secret_file),
        proxy_roles=proxy_roles(settings),
        groups_header=settings.proxy_groups_header,
        login_key=login_key,
    )
    problems.install(app)
    changes.install(app)
    app.state.meters = Meters()
    app.add_middleware(Metering, meters=app.state.meters)
    app.add_middleware(BodyLimit, limit=settings.body_limit_bytes)
    app.add_middleware(Guard, hosts=AllowedHosts(bound or settings.bind, settings.allowed_hosts))
    app.add_middleware(RequestLog)
    app.add_middleware(Versions)
    app.router.routes.extend(_routed().router.routes)
    dashboard.mount(app, web_root or settings.web_root)
    return app


def _blank() -> Service:
    """An application without any route."""
    return Service(
        title="Mitigauge",
        summary="What a kernel change or a CPU mitigation costs, proven boot by boot.",
        version="1",
        # A route of its own below, for those who may read.
        openapi_url=None,
        # Names that clients are made with.
        generate_unique_id_function=lambda route: route.name,
        docs_url=None,
        redoc_url=None,
        responses={"4XX": {"model": ProblemView}, "5XX": {"model": ProblemView}},
        dependencies=[Depends(proper_content_type)],
    )


@cache
def _routed() -> Service:
    """An application with nothing but routes, which all others of the process take from it.

    To work them out, and the description of them, takes a second each time.
    """
    app = _blank()
    for module in (health, session):
        app.include_router(module.router, dependencies=[Depends(known_parameters)])
    # What collects metrics may send parameters of its own along.
    app.include_router(metrics.router)
    app.include_router(gone.router)
    for router in (
        experiments.router,
        specs.router,
        downloads.router,
        tables.router,
        boots.router,
        hosts.router,
        profiles.router,
        pairs.router,
        prices.router,
        error_rates.router,
        queue.router,
        series.router,
        requests.router,
        bisections.router,
        jobs.router,
        kernels.router,
        weekly.router,
        trends.router,
        regressions.router,
        subscriptions.router,
        home.router,
        search.router,
        audit.router,
        _described(),
    ):
        app.include_router(
            router, dependencies=[Depends(needs(Right.READ)), Depends(known_parameters)]
        )
    return app


def _described() -> APIRouter:
    router = APIRouter()

    @router.get("/api/openapi.json", include_in_schema=False)
    def describe(request: Request) -> Response:
        """What the API takes and answers."""
        app: Service = request.app
        return Response(app.described(), media_type="application/json")

    return router
