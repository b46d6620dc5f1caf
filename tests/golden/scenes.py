"""Databases whose answers are kept: what was recorded, and what was made up for each table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.analysis.claims.files import claim_files, read_claims
from mitigauge.analysis.claims.service import import_claims
from mitigauge.core.settings import get_settings
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.letters.weekly import service as weekly
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import repository as bisections
from pipelines.bisect_run import Driver
from tests.bisections import BREAKS, Pretended, begun, eight
from tests.db.test_bisect_mail import THREAD
from tests.db.test_bisections import slow_from, taken_on
from tests.db.test_loss import crossed
from tests.threads_made import threads_made
from tests.trends_made import FACTS, weeks
from tests.web.serve import fill_pages


def fill_recorded(engine: Engine) -> None:
    """The recorded experiment with all that browser tests put beside it."""
    fill_pages(engine)
    _import_claims(engine)


def fill_threads(engine: Engine) -> None:
    """Threads by name with published claims."""
    threads_made(engine, emulated=True)


def fill_loss(engine: Engine) -> None:
    """Two families of modes crossed."""
    crossed(engine)
    _import_claims(engine)


def fill_trends(engine: Engine) -> None:
    """Thirteen weeks, a change in the ninth with other microcode, and a report of each."""
    weeks(engine, [1.0] * 8)
    changed = {**FACTS, "microcode": "0x2"}
    weeks(engine, [1.06] * 5, first=8, facts=changed)
    with transaction(engine) as session:
        last = weekly.default_week(session)
    weekly.make(engine, last)


def fill_bisection(engine: Engine) -> None:
    """A bisection that found the sixth of eight patches; the fourth does not build."""
    blobs = blob_store(get_settings())
    number = begun(engine, blobs, eight(p4=BREAKS))
    with Session(engine) as session:
        row = bisections.whole(session, number)
        row.source = THREAD
        row.candidates[5].message_id = "v2-6@example.org"
        session.commit()
    with tempfile.TemporaryDirectory() as directory:
        taken_on(Driver(Pretended(Path(directory), engine, blobs)), number, slow_from(6))


def _import_claims(engine: Engine) -> None:
    with transaction(engine) as session:
        import_claims(session, [read_claims(path) for path in claim_files()], Catalog())


SCENES: dict[str, Callable[[Engine], None]] = {
    "recorded": fill_recorded,
    "threads": fill_threads,
    "loss": fill_loss,
    "trends": fill_trends,
    "bisection": fill_bisection,
}
