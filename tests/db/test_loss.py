"""Loss matrices of a stored experiment, with imported claims beside them."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from bench.store.fill import Size, fill
from mitigauge.analysis.claims.files import ClaimFile
from mitigauge.analysis.claims.service import import_claims
from mitigauge.analysis.verdicts.conclusions import conclude_run
from mitigauge.core.errors import NotFound
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.tables.service import losses_beside

MODES = [("off", "off"), ("entry", "off"), ("entry", "on")]
TOLD = {
    "name": "told", "title": "Told", "citation": "A mail", "workload": "bench",
    "baseline": "ibrs/off+ibpb/off",
    "claims": [
        {"case": {"size": 0}, "metric": "time", "mode": "ibrs/entry+ibpb/on", "change": 7.0,
         "note": "haswell"},
    ],
}  # fmt: skip


def crossed(engine: Engine) -> int:
    """A made experiment of two cases whose arms cross two families."""
    filled = fill(engine, Size(cases=2, arms=3, blocks=8, iterations=3))
    with engine.begin() as connection:
        for place, (first, second) in enumerate(MODES):
            connection.execute(
                text("update arm set family = 'ibrs+ibpb', mode = :mode where position = :place"),
                {"mode": f"{first}+{second}", "place": place},
            )
        connection.execute(text("update benchmark_case set workload = 'bench'"))
    conclude_run(engine, filled.run)
    return filled.experiment


def test_a_crossed_experiment_has_its_matrix_in_page_and_report(engine: Engine) -> None:
    experiment = crossed(engine)
    with Session(engine) as session:
        import_claims(session, [ClaimFile.model_validate(TOLD)], Catalog())
        view = losses_beside(session, experiment)
        assert [len(table.blocks) for table in view.tables] == [1, 1]
        cells = {(c.first, c.second): c for c in view.tables[0].blocks[0].cells}
        assert cells.keys() == set(MODES)
        assert cells["entry", "on"].n == 8
        [claim] = cells["entry", "on"].claims
        assert (claim.label, claim.low_percent, claim.outcome) == ("haswell", 7.0, "emulated")
        report = gathered(session, views.show_experiment(session, experiment))
        assert "by ibrs and ibpb" in report.text()
        assert "by ibrs and ibpb" in report.markdown()
        one = losses_beside(session, experiment, case_id=view.choices[1].case_id)
        assert [table.case for table in one.tables] == [view.choices[1].case]
        with pytest.raises(NotFound, match="metric nothing"):
            losses_beside(session, experiment, metric="nothing")
