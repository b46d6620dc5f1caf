"""What limits said of experiments in a week, as a weekly report holds it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import limit_repository
from mitigauge.analysis.verdicts.limit_service import row_of
from mitigauge.reporting.letters.weekly.data import LimitLine, LimitsOfWeek
from mitigauge.reporting.letters.weekly.week import Week

MOST = 200


def limits_of_week(session: Session, week: Week) -> LimitsOfWeek | None:
    """Rows that are broken or cannot be told; None where nothing was judged by limits."""
    broken, cannot_tell, kept = limit_repository.counts_between(session, week.start, week.end)
    if not broken + cannot_tell + kept:
        return None
    rows = limit_repository.not_kept_between(session, week.start, week.end, MOST)
    return LimitsOfWeek(
        broken=broken,
        cannot_tell=cannot_tell,
        kept=kept,
        lines=[
            LimitLine(experiment_id=outcome.experiment_id, experiment=name, row=row_of(outcome))
            for outcome, name in rows
        ],
    )
