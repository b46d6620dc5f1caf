"""Claims in the database: imported once, replaced when they change, set beside an experiment."""

from __future__ import annotations

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from mitigauge.analysis.claims.files import ClaimFile, claim_files, read_claims
from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.analysis.claims.service import import_claims
from mitigauge.analysis.claims.tables import Claim
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.letters.report.matrix import render_markdown, render_text
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.claims import claims_beside
from tests.recording import load

TOLD = {
    "name": "told", "title": "Told", "citation": "A mail", "workload": "syscall",
    "baseline": "spectre-bhi/off",
    "claims": [
        {"case": {"test": "basic"}, "metric": "time_per_call", "mode": "spectre-bhi/loop",
         "change": 8.0},
        {"case": {"test": "fork"}, "metric": "time_per_call", "mode": "spectre-bhi/loop",
         "change": 1.0},
    ],
}  # fmt: skip


def imported(session: Session, **changes: object) -> list[str]:
    return import_claims(session, [ClaimFile.model_validate(TOLD | changes)], Catalog())


def test_the_files_that_come_along_are_imported_once(engine: Engine) -> None:
    files = [read_claims(path) for path in claim_files()]
    with Session(engine) as session:
        assert import_claims(session, files, Catalog()) == [file.name for file in files]
        assert import_claims(session, files, Catalog()) == []
        stored = session.scalar(select(func.count()).select_from(Claim))
    assert stored == sum(len(file.claims) for file in files)


def test_a_changed_file_replaces_its_claims(engine: Engine) -> None:
    with Session(engine) as session:
        assert imported(session) == ["told"]
        assert imported(session, claims=TOLD["claims"][:1]) == ["told"]  # type: ignore[index]
        assert [claim.title for claim in session.scalars(select(Claim))] == ["syscall test basic"]


def test_an_emulated_experiment_says_nothing_about_claims_on_hardware(engine: Engine) -> None:
    load(engine)
    experiment_id = 1
    with Session(engine) as session:
        imported(session)
        import_claims(session, [read_claims(path) for path in claim_files()], Catalog())
        sources = {source.name: source for source in claims_beside(session, experiment_id)}
        view = views.show_experiment(session, experiment_id)
        beside = claims_beside(session, experiment_id)
    basic, fork = sources["told"].claims
    assert basic.outcome is ClaimOutcome.EMULATED
    assert basic.effect_percent is not None
    assert (fork.outcome, fork.case_id) == (ClaimOutcome.NOT_MEASURED, None)
    outcomes = {claim.outcome for claim in sources["vmscape-v8-iperf"].claims}
    assert outcomes == {ClaimOutcome.EMULATED, ClaimOutcome.NOT_MEASURED}
    assert set(sources) == {"told", "vmscape-v8-iperf"}
    for report in (render_text(view, beside), render_markdown(view, beside)):
        assert "Published claims" in report
        assert "neither reproduce nor contradict" in " ".join(report.split())
