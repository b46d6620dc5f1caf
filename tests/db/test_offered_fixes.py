"""A patch that closes a regression is told of in its history, once, and only where it may run."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.settings import get_settings
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.regressions import service
from mitigauge.tracking.series import service as series_service
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions
from tests.regressions_made import found_regressions
from tests.series_mails import diff, raw_series

BASE = "https://perf.example.org"


@pytest.fixture
def regression(engine: Engine, home: Path) -> int:
    """One that the first patch of a stored series says it closes."""
    number = found_regressions(engine)[0]
    body = f"Mend it.\n\nCloses: {BASE}/regressions/{number}\n---\n{diff('toys/one.c', 'a', 'b')}"
    mails = [mail_of(raw) for raw in raw_series(1, [body])]
    with transaction(engine) as session:
        series_service.add(
            session, revisions(mails), blob_store(get_settings()),
            wanted=SeriesOptions("toys", "vmscape"),
        )  # fmt: skip
    return number


def noted(engine: Engine, base: str = BASE) -> list[int]:
    with transaction(engine) as session:
        return service.note_offered_fixes(session, base)


def approve(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE series_revision SET state = 'approved'"))


def test_it_is_noted_once_the_patch_may_run_and_the_state_stays(
    engine: Engine, regression: int
) -> None:
    assert noted(engine) == []
    approve(engine)
    assert noted(engine, "https://other.example.org") == []
    assert noted(engine) == [regression]
    assert noted(engine) == []
    with transaction(engine) as session:
        shown = service.show_regression(session, regression)
    assert shown.state == "new"
    assert shown.history[-1].by == "mitigauge"
    assert shown.history[-1].text.startswith("Patch 1 of toys v1 says that it closes this: ")


def test_one_that_is_over_or_is_not_there_is_left_alone(engine: Engine, regression: int) -> None:
    approve(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE regression SET state = 'fixed'"))
    assert noted(engine) == []
