"""The page of prices: what files say of processors, and the checks that were stored."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.price_list import price_list
from mitigauge.core.errors import NotFound
from mitigauge.reporting.pages import price_repository
from mitigauge.reporting.pages.price_processors import TRUST_RULE, processors_like
from mitigauge.reporting.pages.price_rankings import rankings_on
from mitigauge.reporting.pages.price_schemas import (
    CheckedExperiment,
    CheckRows,
    CheckView,
    Prices,
)

# Checks that one answer lists.
MOST_CHECKS = 200
_COUNTS = ("held", "checked", "whole_held", "whole", "signs_right", "signs")


def prices(session: Session, model: str = "") -> Prices:
    """Everything that is known of processors with *model* in what they are called; empty: of all.

    Nothing is checked anew. Checks may be of processors whose file is gone; these have no model.
    """
    processors = processors_like(model)
    names = {each.processor for each in processors}
    of = names if model else None
    checks = [_view(found) for found in price_repository.newest_checks(session, MOST_CHECKS, of)]
    return Prices(
        processors=processors,
        trust_rule=TRUST_RULE,
        rankings=rankings_on(names),
        checks=checks,
        more=max(0, price_repository.number_of_checks(session, of) - len(checks)),
    )


def check_rows(session: Session, check_id: int) -> CheckRows:
    """One check with its rows. Raises :class:`NotFound`."""
    found = price_repository.check(session, check_id)
    if found is None:
        raise NotFound(
            f"there is no check of prices {check_id}",
            hint="Its experiments may be gone. GET /api/prices lists them.",
        )
    rows = found[0].rows
    return CheckRows(check=_view(found), rows=rows, left_out=max(0, found[0].checked - len(rows)))


def _view(found: price_repository.Named) -> CheckView:
    check, measured, counted = found
    known = price_list().processors.get(check.processor)
    return CheckView(
        id=check.id,
        processor=check.processor,
        title=known.title if known else check.processor,
        host=check.host,
        emulated=check.emulated,
        clock=check.clock,
        measured=CheckedExperiment(id=check.measured_id, name=measured),
        counted=CheckedExperiment(id=check.counted_id, name=counted),
        at=check.at,
        **{name: getattr(check, name) for name in _COUNTS},
    )
