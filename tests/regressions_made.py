"""Regressions and cells that may be filed as such, made up."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, text

from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service
from mitigauge.tracking.trends.update import update
from tests.postgres import filled
from tests.trends_made import weeks

KEY = "v.run_id, v.case_id, v.arm_id, v.metric"
CELL = """
    FROM verdict v JOIN run r ON r.id = v.run_id JOIN host h ON h.id = r.host_id
    JOIN arm a ON a.id = v.arm_id
    WHERE v.superseded_at IS NULL AND NOT a.is_baseline ORDER BY v.run_id, v.case_id, v.metric,
    v.arm_id LIMIT 1"""


def found_regressions(engine: Engine) -> list[int]:
    """Regressions of a step of 5 % in all trends of a made-up experiment."""
    return filled(engine, _find_regressions)


def _find_regressions(engine: Engine) -> list[int]:
    weeks(engine, [1.0] * 10 + [1.05] * 8)
    update(engine)
    with transaction(engine) as session:
        return service.take_in(session)


def decided_cell(engine: Engine, verdict: str = "worse") -> dict[str, Any]:
    """A cell of an experiment that is over, decided so, as somebody files it."""
    weeks(engine, [1.0])
    with engine.begin() as connection:
        connection.execute(
            text(f"UPDATE verdict v SET verdict = :v WHERE ({KEY}) IN (SELECT {KEY} {CELL})"),
            {"v": verdict},
        )
        row = connection.execute(
            text(
                f"SELECT r.experiment_id, h.name AS host, v.case_id, a.name AS arm, v.metric {CELL}"
            )
        ).one()
    return dict(row._mapping)
