"""SQL of how often we are wrong: counts, by whether hosts are emulated."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, case, distinct, func, or_, select, tuple_
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
    """So many, those that somebody or something looked at, and those of these that were wrong.

    *groups*: how many of those that were looked at are independent of each other. *undecided*: of
    those that were looked at, the ones of which nothing was said.
    """

    of: int
    looked_at: int
    wrong: int
    groups: int
    undecided: int = 0


NOTHING = Tally(0, 0, 0, 0)
# A person's word that a regression is real. That somebody took it is none.
REAL = (
    RegressionState.CONFIRMED,
    RegressionState.KNOWN,
    RegressionState.FIXED,
    RegressionState.NOT_WORTH_IT,
)
# What takes an earlier word back, or is one.
WORDS = (*REAL, RegressionState.FALSE, RegressionState.NEW)


def confirmed(session: Session) -> dict[bool, Tally]:
    """Regressions that fresh boots confirmed; looked at: by a person; wrong: called false."""
    was_confirmed = (
        select(Confirmation.id)
        .where(
            Confirmation.regression_id == Regression.id,
            Confirmation.state == ConfirmationState.CONFIRMED,
        )
        .exists()
    )
    return _by_people(session, was_confirmed)


def suspicions(session: Session) -> dict[bool, Tally]:
    """Tries of fresh boots at suspicions; looked at: decided; wrong: refuted."""
    is_refuted = Confirmation.state == ConfirmationState.REFUTED
    decided = or_(Confirmation.state == ConfirmationState.CONFIRMED, is_refuted)
    counted = (
        select(
            Regression.emulated, func.count(), _number(decided), _number(is_refuted),
            _number(decided),
        )
        .join(Confirmation, Confirmation.regression_id == Regression.id)
        .group_by(Regression.emulated)
    )  # fmt: skip
    return _tallies(session, counted)


def judged(session: Session) -> dict[bool, Tally]:
    """Regressions of trends; looked at: by a person; wrong: called false."""
    return _by_people(session, Regression.origin == Origin.TREND)


def _by_people(session: Session, of: ColumnElement[bool]) -> dict[bool, Tally]:
    """By the last word of a person; a duplicate has that of the one that it was joined to."""
    word = (
        select(RegressionEntry.after)
        .where(
            RegressionEntry.regression_id == func.coalesce(Regression.duplicate_of, Regression.id),
            RegressionEntry.kind == EntryKind.STATE,
            RegressionEntry.by != ITSELF,
            RegressionEntry.after.in_(WORDS),
        )
        .order_by(RegressionEntry.id.desc())
        .limit(1)
        .correlate(Regression)
        .scalar_subquery()
    )
    looked_at = word.in_((*REAL, RegressionState.FALSE))
    is_false = word == RegressionState.FALSE
    counted = (
        select(
            Regression.emulated, func.count(), _number(looked_at), _number(is_false),
            _number(looked_at),
        )
        .where(of)
        .group_by(Regression.emulated)
    )  # fmt: skip
    return _tallies(session, counted)


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
    """Cases of one day of a host may all come out alike: its days are what is independent."""
    day = func.date(func.timezone("UTC", Run.concluded_at))
    counted = (
        select(
            Host.emulated, func.count(), func.count(), _number(wrong),
            func.count(distinct(tuple_(Run.host_id, day))),
            _number(AaOutcome.verdict == Verdict.UNDECIDED),
        )
        .join(Run, Run.id == AaOutcome.run_id)
        .join(Host, Host.id == Run.host_id)
        .where(of)
        .group_by(Host.emulated)
    )  # fmt: skip
    return _tallies(session, counted)


def opposite(session: Session) -> dict[bool, Tally]:
    """Pairs of verdicts of one question, over all workloads; wrong: opposite."""
    counted = (
        select(
            VerdictStability.emulated,
            func.sum(VerdictStability.pairs),
            func.sum(VerdictStability.pairs),
            func.sum(VerdictStability.opposite),
            func.sum(VerdictStability.experiments),
        )
        .where(VerdictStability.workload == "")
        .group_by(VerdictStability.emulated)
    )
    return _tallies(session, counted)


def _number(of: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((of, 1), else_=0)), 0)


def _tallies(session: Session, counted: Select[bool, *tuple[int, ...]]) -> dict[bool, Tally]:
    return {
        bool(emulated): Tally(*map(int, numbers)) for emulated, *numbers in session.execute(counted)
    }
