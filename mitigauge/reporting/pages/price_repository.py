"""SQL of the page of prices: checks with the names of their experiments."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Select, func, select, true
from sqlalchemy.orm import Session, aliased, undefer

from mitigauge.analysis.prices.tables import PriceCheck
from mitigauge.measurement.experiments.tables import Experiment

# A check, and the names of the experiments that measured and that counted.
Named = tuple[PriceCheck, str, str]

_MEASURED, _COUNTED = aliased(Experiment), aliased(Experiment)


def newest_checks(
    session: Session, limit: int, processors: Collection[str] | None = None
) -> Sequence[Named]:
    """At most so many checks without their rows, newest first; None: of all processors."""
    wanted = _named().where(_is_of(processors))
    newest = wanted.order_by(PriceCheck.at.desc(), PriceCheck.id.desc()).limit(limit)
    return [(of, measured, counted) for of, measured, counted in session.execute(newest)]


def check(session: Session, check_id: int) -> Named | None:
    """One check with its rows."""
    wanted = _named().where(PriceCheck.id == check_id).options(undefer(PriceCheck.rows))
    rows = session.execute(wanted)
    return next(((of, measured, counted) for of, measured, counted in rows), None)


def number_of_checks(session: Session, processors: Collection[str] | None = None) -> int:
    """Of these processors; None: of all."""
    wanted = select(func.count()).select_from(PriceCheck).where(_is_of(processors))
    return session.scalar(wanted) or 0


def _is_of(processors: Collection[str] | None) -> ColumnElement[bool]:
    return true() if processors is None else PriceCheck.processor.in_(processors)


def _named() -> Select[PriceCheck, str, str]:
    return (
        select(PriceCheck, _MEASURED.name, _COUNTED.name)
        .join(_MEASURED, _MEASURED.id == PriceCheck.measured_id)
        .join(_COUNTED, _COUNTED.id == PriceCheck.counted_id)
    )
