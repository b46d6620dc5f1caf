"""The mail about a bisection's culprit, from what is stored of it."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import EmailMessage

from sqlalchemy.orm import Session

from mitigauge.core.errors import Conflict
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.letters.regression import letter
from mitigauge.reporting.letters.reply.service import kernels_of
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.pages import experiments as views
from mitigauge.tracking.bisect import bisection_view, repository
from mitigauge.tracking.bisect.records import PointLevel
from mitigauge.tracking.bisect.schemas import BisectionView


def regression_mail(
    session: Session, bisection_id: int, *, sender: str = "", to: Sequence[str] = ()
) -> EmailMessage:
    """The mail about its culprit.

    Raises NotFound, Conflict where no culprit is named as surely as was asked, and InvalidInput
    for a sender or receiver that is no address.
    """
    bisection = bisection_view.show(session, bisection_id)
    letter.require_reportable(bisection)
    assert bisection.found is not None
    position = bisection.found.candidates[0]
    culprit = next(each for each in bisection.changes if each.position == position)
    row = repository.whole(session, bisection_id).candidates[position - 1]
    by_hand = {name: workload.by_hand for name, workload in Catalog().workloads.items()}
    return letter.mail(
        bisection, culprit, _verified(session, bisection, position), row.people, by_hand,
        sender=sender, to=to,
    )  # fmt: skip


def _verified(session: Session, bisection: BisectionView, position: int) -> letter.Verification:
    """The last step that verified the culprit and has both sides."""
    for step in reversed(bisection.steps):
        levels: dict[int, PointLevel] = {each.point: each for each in step.levels if each.boots}
        if step.verifies != position or not {position - 1, position} <= levels.keys():
            continue
        view = views.show_experiment(session, step.experiment_id)
        parent, culprit = levels[position - 1], levels[position]
        if culprit.effect_percent is not None and step.points[0] != position - 1:
            # The step's own baseline is another point.
            culprit = _against(culprit, parent)
        return letter.Verification(
            view,
            gathered(session, view).text(within_mail=True),
            kernels_of(session, view),
            parent,
            culprit,
        )
    raise Conflict(
        f"bisection {bisection.id} has no boots of its culprit beside its parent",
        hint="Start it again: a culprit is verified before it is named.",
    )


def _against(culprit: PointLevel, parent: PointLevel) -> PointLevel:
    ratio = (1 + (culprit.effect_percent or 0) / 100) / (1 + (parent.effect_percent or 0) / 100)
    return culprit.model_copy(update={"effect_percent": 100 * (ratio - 1)})
