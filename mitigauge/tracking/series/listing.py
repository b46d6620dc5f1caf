"""Series as they are shown, and in a list."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.limit_service import lines_of
from mitigauge.tracking.series import faults, repository
from mitigauge.tracking.series.schemas import RevisionView, SeriesHead, SeriesView
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import ListArchive, Series, SeriesRevision

MOST_SET_ASIDE = 20


def heads(
    session: Session, find: str = "", states: Collection[RevisionState] = ()
) -> list[SeriesHead]:
    """The newest series that have the words, each with where its newest revision stands.

    *states*: of its newest revision; none: any.
    """
    found = [_head(series) for series in repository.listed(session, find)]
    return [head for head in found if not states or head.state in states]


def view_of(session: Session, series: Series) -> SeriesView:
    """One series with its revisions, and how its archive answered last."""
    view = SeriesView.model_validate(repository.with_kernels(session, series))
    view = view.model_copy(update={"revisions": _with_limits(session, view.revisions)})
    archive = session.get(ListArchive, series.archive) if series.archive else None
    if archive is None:
        return view
    said = {
        "looked_at": archive.looked_at,
        "archive_error": archive.error,
        "set_aside": faults.words(session, series.archive)[:MOST_SET_ASIDE],
    }
    return view.model_copy(update=said)


def revision_view(session: Session, revision: SeriesRevision) -> RevisionView:
    """One revision whole."""
    (view,) = _with_limits(session, [RevisionView.model_validate(revision)])
    return view


def _with_limits(session: Session, revisions: Sequence[RevisionView]) -> list[RevisionView]:
    """Revisions with what limits say of their experiments."""
    experiments = [each.experiment_id for each in revisions if each.experiment_id is not None]
    said = lines_of(session, experiments)
    return [
        each.model_copy(update={"limits": said.get(each.experiment_id or 0, "")})
        for each in revisions
    ]


def _head(series: Series) -> SeriesHead:
    newest = series.revisions[-1] if series.revisions else None
    return SeriesHead(
        id=series.id,
        name=series.name,
        title=series.title,
        spec=series.spec,
        watched=series.watched,
        revisions=len(series.revisions),
        newest=newest.label if newest else "",
        state=newest.state if newest else None,
        why=newest.why if newest else "",
        experiment_id=newest.experiment_id if newest else None,
        received_at=newest.received_at if newest else None,
    )
