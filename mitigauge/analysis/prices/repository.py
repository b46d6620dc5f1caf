"""SQL of checks of prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.analysis.prices.levels import Checked
from mitigauge.analysis.prices.schemas import CheckedOn, Held, stored_rows
from mitigauge.analysis.prices.tables import PriceCheck
from mitigauge.analysis.prices.tally import tally

_KEY = ("processor", "measured_id", "counted_id", "host")


def put(session: Session, of: CheckedOn, rows: Sequence[Checked]) -> int:
    """Store a check in place of an older one of the same things; its id.

    A check that replaces another one keeps that one's id.
    """
    given = {**asdict(of), "rows": stored_rows(rows), **asdict(tally(rows))}
    statement = insert(PriceCheck).values(**given)
    changed = {name: statement.excluded[name] for name in given if name not in _KEY}
    return session.execute(
        statement.on_conflict_do_update(
            index_elements=_KEY, set_={**changed, "at": func.clock_timestamp()}
        ).returning(PriceCheck.id)
    ).scalar_one()


def held_by_processor(session: Session) -> dict[str, Held]:
    """How often the predictions of each processor held on real hosts; none without a check."""
    sums = (
        select(PriceCheck.processor, func.sum(PriceCheck.held), func.sum(PriceCheck.checked))
        .where(PriceCheck.emulated.is_(False))
        .group_by(PriceCheck.processor)
    )
    return {name: Held(held, checked) for name, held, checked in session.execute(sums)}
