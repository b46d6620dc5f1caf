"""SQL of how often we are wrong: counts of two numbers, by whether hosts are emulated."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.tables import AaOutcome
from mitigauge.core.effect import Verdict
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.tables import Run
from mitigauge.tracking.regressions.service import ITSELF
from mitigauge.tracking.regressions.states import (
    ConfirmationState,
    EntryKind,
    Origin,
    RegressionState,
)
from mitigauge.tracking.regressions.tables import Confirmation, Regression, RegressionEntry
from mitigauge.tracking.trends.tables import VerdictStability


class Tally(NamedTuple):
    """So many, and those of them that were wrong."""

    of: int
    wrong: int


# What a person says of a regression once it is known to be real.
REAL = (
    RegressionState.CONFIRMED,
    RegressionState.ASSIGNED,
    RegressionState.KNOWN,
    RegressionState.FIXED,
    RegressionState.NOT_WORTH_IT,
)


def confirmed(session: Session) -> dict[bool, Tally]:
    """Regressions that fresh boots confirmed; wrong: called false."""
    wanted = (
        select(Regression.emulated, func.count(), _number(_is_false()))
        .join(Confirmation, Confirmation.regression_id == Regression.id)
        .where(Confirmation.state == ConfirmationState.CONFIRMED)
        .group_by(Regression.emulated)
    )
    return _tallies(session, wanted)


def suspicions(session: Session) -> dict[bool, Tally]:
    """Suspicions that fresh boots decided; wrong: refuted."""
    refuted = Confirmation.state == ConfirmationState.REFUTED
    wanted = (
        select(Regression.emulated, func.count(), _number(refuted))
        .join(Confirmation, Confirmation.regression_id == Regression.id)
        .where(Confirmation.state.in_((ConfirmationState.CONFIRMED, ConfirmationState.REFUTED)))
        .group_by(Regression.emulated)
    )
    return _tallies(session, wanted)


def judged(session: Session) -> dict[bool, Tally]:
    """Regressions of trends that a person judged; wrong: called false."""
    by_person = (
        select(RegressionEntry.id)
        .where(
            RegressionEntry.regression_id == Regression.id,
            RegressionEntry.kind == EntryKind.STATE,
            RegressionEntry.by != ITSELF,
        )
        .exists()
    )
    wanted = (
        select(Regression.emulated, func.count(), _number(_is_false()))
        .where(
            Regression.origin == Origin.TREND,
            Regression.state.in_((*REAL, RegressionState.FALSE)),
            by_person,
        )
        .group_by(Regression.emulated)
    )
    return _tallies(session, wanted)


def against_themselves(session: Session) -> dict[bool, Tally]:
    """Baselines booted twice; wrong: better or worse."""
    return _doubled(
        session,
        AaOutcome.slowed_percent == 0,
        AaOutcome.verdict.in_((Verdict.BETTER, Verdict.WORSE)),
    )


def slowed(session: Session) -> dict[bool, Tally]:
    """Baselines slowed by a known part; wrong: not called worse."""
    return _doubled(session, AaOutcome.slowed_percent > 0, AaOutcome.verdict != Verdict.WORSE)


def _doubled(
    session: Session, of: ColumnElement[bool], wrong: ColumnElement[bool]
) -> dict[bool, Tally]:
    counted = (
        select(Host.emulated, func.count(), _number(wrong))
        .join(Run, Run.id == AaOutcome.run_id)
        .join(Host, Host.id == Run.host_id)
        .where(of)
        .group_by(Host.emulated)
    )
    return _tallies(session, counted)


def opposite(session: Session) -> dict[bool, Tally]:
    """Pairs of verdicts of one question, over all workloads; wrong: opposite."""
    wanted = (
        select(
            VerdictStability.emulated,
            func.sum(VerdictStability.pairs),
            func.sum(VerdictStability.opposite),
        )
        .where(VerdictStability.workload == "")
        .group_by(VerdictStability.emulated)
    )
    return _tallies(session, wanted)


def _is_false() -> ColumnElement[bool]:
    return Regression.state == RegressionState.FALSE


def _number(of: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((of, 1), else_=0)), 0)


def _tallies(session: Session, wanted: Select[bool, int, int]) -> dict[bool, Tally]:
    return {
        bool(emulated): Tally(int(of), int(wrong))
        for emulated, of, wrong in session.execute(wanted)
    }
