"""`/metrics` in Prometheus' format, by a key of its own: it answers while the database is away."""

from __future__ import annotations

import hmac
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.database import begin
from api.shared_reads import SharedReads
from mitigauge.core.errors import Forbidden, MitigaugeError, NotFound
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import get_settings
from mitigauge.reporting.pages.metrics import Figures, figures_of
from mitigauge.storage.database.engine import database_now
from mitigauge.upkeep.backups.repository import last_finished

log = get_logger(__name__)
router = APIRouter()

FORMAT = "text/plain; version=0.0.4; charset=utf-8"
# A second monitor, or an impatient one, gets what the first one got.
FRESH_S = 5.0
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class Meters:
    """What this process counts of its own requests."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "mitigauge_http_requests", "answered requests", ("method", "route", "status"),
            registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "mitigauge_http_request_seconds", "until an answer began", ("route",),
            buckets=BUCKETS, registry=self.registry,
        )  # fmt: skip
        self.fresh = _Fresh()


@dataclass(slots=True)
class _Fresh:
    """The database's figures as they were a moment ago."""

    figures: list[Figures] = field(default_factory=list)
    up: bool = False
    until: float = 0.0


class Metering:
    """ASGI middleware: counts requests by their route, never by what an address holds."""

    def __init__(self, app: ASGIApp, *, meters: Meters) -> None:
        self.app = app
        self.meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "none")
                method = scope["method"] if scope["method"] in METHODS else "other"
                self.meters.requests.labels(method, route, message["status"]).inc()
                self.meters.seconds.labels(route).observe(time.perf_counter() - began)
            await send(message)

        await self.app(scope, receive, counted)


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@router.get("/metrics", include_in_schema=False)
async def show_metrics(request: Request) -> Response:
    """All figures. Raises NotFound where no key is set, Forbidden for another one."""
    key = get_settings().metrics_key
    if not key:
        raise NotFound(
            "metrics are not shown", hint="MITIGAUGE_METRICS_KEY_FILE names a file with their key."
        )
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(given.encode(), key.encode()):
        raise Forbidden(
            "this is not the key of the metrics",
            hint="Send Authorization: Bearer and the content of MITIGAUGE_METRICS_KEY_FILE.",
        )
    shared: SharedReads = request.app.state.shared
    text = await shared.answer("metrics", lambda: _written(request.app))
    return Response(text, media_type=FORMAT)


def _written(app: FastAPI) -> bytes:
    meters: Meters = app.state.meters
    registry = CollectorRegistry()
    registry.register(_Stored(app, _looked(app, meters.fresh)))
    return generate_latest(registry) + generate_latest(meters.registry)


def _looked(app: FastAPI, fresh: _Fresh) -> _Fresh:
    """The database's figures; those of a moment ago where they are fresh. Raises nothing."""
    if time.monotonic() < fresh.until:
        return fresh
    try:
        with begin(app) as session:
            fresh.figures, fresh.up = [*figures_of(session), _backup(session)], True
    except (MitigaugeError, SQLAlchemyError) as error:
        log.warning("metrics without the database", error=str(error).splitlines()[0])
        fresh.figures, fresh.up = [], False
    fresh.until = time.monotonic() + FRESH_S
    return fresh


def _backup(session: Session) -> Figures:
    last = last_finished(session)
    ages: dict[tuple[str, ...], float] = {}
    if last is not None:
        ages[()] = (database_now(session) - last.taken_at).total_seconds()
    return Figures("mitigauge_backup_age_seconds", "since the last whole backup", (), ages)


class _Stored(Collector):
    """Figures that were read, and those of this process's own."""

    def __init__(self, app: FastAPI, found: _Fresh) -> None:
        self.app = app
        self.found = found

    def collect(self) -> Iterator[Metric]:
        """See the class's base."""
        yield _gauge(Figures("mitigauge_database_up", "1 while it answers", (),
                             {(): float(self.found.up)}))  # fmt: skip
        yield from map(_gauge, self.found.figures)
        free = shutil.disk_usage(get_settings().home).free
        yield _gauge(Figures("mitigauge_disk_free_bytes", "of the state directory's disk", (),
                             {(): free}))  # fmt: skip
        scheduled = float(bool(get_settings().backup_directory))
        yield _gauge(Figures("mitigauge_backups_scheduled", "1 where backups are to be taken", (),
                             {(): scheduled}))  # fmt: skip


def _gauge(figures: Figures) -> GaugeMetricFamily:
    family = GaugeMetricFamily(figures.name, figures.help, labels=figures.labels)
    for labels, value in figures.values.items():
        family.add_metric(list(labels), value)
    return family
