"""Listing and showing trends, and what people say of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.natural_order import natural_order
from mitigauge.storage.database.engine import database_now
from mitigauge.tracking.trends import page_repository, repository
from mitigauge.tracking.trends.causes import Circumstances, causes_between
from mitigauge.tracking.trends.page_repository import TrendFilter
from mitigauge.tracking.trends.schemas import (
    Annotation,
    CauseKind,
    ChangeState,
    ClassPage,
    OtherTrend,
    TrendChange,
    TrendIdentity,
    TrendLevel,
    TrendPage,
    TrendPoint,
    TrendSummary,
    TrendView,
)
from mitigauge.tracking.trends.tables import StoredChange, Trend, TrendAnnotation

PAGE_SIZE = 100
LARGEST_PAGE = 500
LONGEST_TEXT = 2000
MOST_VALUES = 2000
MOST_CHANGES = 2000
# Of what one value has changed beside its kernel, so much is said at its place.
MOST_TURNED = 4
_OF_MACHINE: Final = frozenset(
    {CauseKind.MICROCODE, CauseKind.FIRMWARE, CauseKind.BIOS_SETTING, CauseKind.PROCESSOR}
)
MOST_ANNOTATIONS = 1000
EVERY = TrendFilter()


def list_trends(
    session: Session, wanted: TrendFilter = EVERY, *, offset: int = 0, limit: int = PAGE_SIZE
) -> TrendPage:
    """A page of trends: those whose change is newest first, then those without one."""
    rows, total = page_repository.listed(session, wanted, offset=offset, limit=limit)
    newest = {
        row.Trend.id: _change(row)
        for row in page_repository.newest_changes(session, [trend.id for trend in rows])
    }
    end = offset + len(rows)
    return TrendPage(
        trends=[
            TrendSummary(
                **_identity(trend),
                id=trend.id,
                primary=trend.is_primary,
                values=trend.value_count,
                first_at=trend.first_at,
                last_at=trend.last_at,
                level=trend.level,
                open_changes=trend.open_changes,
                change=newest.get(trend.id),
                sparkline=trend.sparkline,
            )
            for trend in rows
        ],
        total=total,
        next=end if end < total else None,
    )


def show_trend(session: Session, trend_id: int) -> TrendView:
    """One trend with its values. Raises :class:`NotFound`."""
    trend = _trend(session, trend_id)
    values = repository.values_of(session, [trend_id]).get(trend_id, [])
    changes = [
        (row.StoredChange, _change(row)) for row in page_repository.changes_of(session, trend_id)
    ]
    current = [shown for stored, shown in changes if stored.superseded_at is None]
    left_out = max(0, len(values) - MOST_VALUES)
    return TrendView(
        **_identity(trend),
        id=trend.id,
        primary=trend.is_primary,
        delta_percent=trend.delta_percent,
        level=trend.level,
        values=_points(values, trend.workload)[left_out:],
        left_out=left_out,
        levels=[
            TrendLevel(first=max(first - left_out, 0), end=end - left_out, mean=mean)
            for first, end, mean in trend.levels
            if end > left_out
        ],
        changes=current,
        earlier=[shown for stored, shown in changes if stored.superseded_at is not None][::-1],
        no_change="" if current else _no_change_sentence(values, trend.delta_percent),
        annotations=[
            Annotation.model_validate(each)
            for each in page_repository.annotations_of(session, trend_id)
        ],
        others=[_other(trend, each) for each in page_repository.others_like(session, trend)],
    )


def _no_change_sentence(points: Sequence[repository.ValueRow], delta_percent: float) -> str:
    # A list of trends needs no statistics, which take longer to load than to answer.
    from mitigauge.core.stats.change_points import FEWEST

    off = sum(point.outlier for point in points)
    values = len(points) - off
    besides = f", besides {off} far off all others" if off else ""
    if values < FEWEST:
        return (
            f"No change can be told yet: {FEWEST} values tell one, and there are {values}{besides}."
        )
    return (
        f"No change of {delta_percent:g} % or more that {values} values tell from chance{besides}."
    )


def changes_found(
    session: Session, since: datetime | None = None, until: datetime | None = None
) -> list[TrendChange]:
    """Changes as they are said now that were found in that time, the largest first.

    Found is when values first showed it, by our clock; a change lies some values before that.
    """
    rows = page_repository.changes_found(session, since=since, until=until, limit=MOST_CHANGES)
    return [_change(row) for row in rows]


def open_changes(session: Session, before: datetime | None = None) -> list[TrendChange]:
    """Lasting changes that nobody has accepted and that were found before, the largest first."""
    rows = page_repository.changes_found(session, until=before, only_open=True, limit=MOST_CHANGES)
    return [_change(row) for row in rows]


def accept(
    session: Session, change_id: int, *, by: str, text: str, expected: bool = False
) -> TrendChange:
    """Say that a change is taken as it is, or was expected, and why.

    From then on later values do not alter it: they make its next version. Raises
    :class:`NotFound`, :class:`InvalidInput` without a text, and :class:`Conflict` where somebody
    said so already.
    """
    said = _text(text)
    found = page_repository.change(session, change_id, lock=True)
    if found is None:
        raise _no_change(change_id)
    state = ChangeState.EXPECTED if expected else ChangeState.ACCEPTED
    if found.state != ChangeState.OPEN:
        raise Conflict(
            f"change {change_id} is {found.state} already, by {found.said_by}",
            hint="Later values that say otherwise make a new version; that can be accepted.",
        )
    found.state, found.said_by, found.said = state, by, said
    audit.record(
        session,
        Action.TREND_ACCEPT,
        Subject(SubjectKind.TREND, found.trend_id),
        before={"change": change_id, "state": ChangeState.OPEN},
        after={"change": change_id, "state": state, "text": said},
    )
    session.add(
        TrendAnnotation(
            trend_id=found.trend_id, change_id=change_id, about=found.at,
            text=f"{state}: {said}", said_by=by,
        )
    )  # fmt: skip
    trend = _trend(session, found.trend_id)
    trend.open_changes = max(0, trend.open_changes - 1)
    session.flush()
    return next(
        _change(row)
        for row in page_repository.changes_of(session, found.trend_id)
        if row.StoredChange.id == change_id and row.StoredChange.superseded_at is None
    )


def annotate(
    session: Session,
    trend_id: int,
    *,
    by: str,
    text: str,
    change_id: int | None = None,
    about: datetime | None = None,
) -> Annotation:
    """Say something of a trend, of one of its changes or of a time.

    Raises :class:`NotFound` for either, and :class:`InvalidInput` for an empty text or one that is
    too long, or where the change is another trend's.
    """
    said = _text(text)
    _trend(session, trend_id)
    if change_id is not None:
        change = page_repository.change(session, change_id)
        if change is None:
            raise _no_change(change_id)
        if change.trend_id != trend_id:
            raise InvalidInput(
                f"change {change_id} is one of trend {change.trend_id}, not of {trend_id}",
                hint=f"`mitigauge trends show {trend_id}` lists its changes.",
            )
        about = about or change.at
    if len(page_repository.annotations_of(session, trend_id)) >= MOST_ANNOTATIONS:
        raise Conflict(
            f"trend {trend_id} has {MOST_ANNOTATIONS} annotations",
            hint="Say it in the change's own thread.",
        )
    row = TrendAnnotation(
        trend_id=trend_id, change_id=change_id, about=about, text=said, said_by=by,
        said_at=database_now(session),
    )  # fmt: skip
    session.add(row)
    session.flush()
    audit.record(
        session,
        Action.TREND_ANNOTATE,
        Subject(SubjectKind.TREND, trend_id),
        after={"annotation": row.id, "change": change_id, "text": said},
    )
    return Annotation.model_validate(row)


def host_classes(session: Session) -> list[ClassPage]:
    """Every host class that has a trend."""
    hosts = page_repository.hosts_by_class(session)
    return [
        ClassPage(
            environment=environment,
            host_class=host_class,
            hosts=hosts.get((environment, host_class), []),
            workloads=sorted(workloads, key=natural_order),
            trends=trends,
            changed=changed,
        )
        for environment, host_class, trends, changed, workloads in page_repository.classes(session)
    ]


def _trend(session: Session, trend_id: int) -> Trend:
    found = page_repository.trend(session, trend_id)
    if found is None:
        raise NotFound(f"there is no trend {trend_id}", hint="`mitigauge trends list` lists them.")
    return found


def _no_change(change_id: int) -> NotFound:
    return NotFound(
        f"there is no change {change_id}",
        hint="Later values may not have shown it. `mitigauge trends list --changed` lists them.",
    )


def _text(text: str) -> str:
    said = clean_text(text).strip()
    if not said:
        raise InvalidInput("an annotation needs a text", hint="Say what is known of it.")
    if len(said) > LONGEST_TEXT:
        raise InvalidInput(
            f"the text has {len(said)} characters", hint=f"Use at most {LONGEST_TEXT}."
        )
    return said


def _identity(trend: Trend) -> dict[str, Any]:
    return {
        **{name: getattr(trend, name) for name in TrendIdentity.model_fields if name != "case"},
        "case": trend.case_title,
    }


def _change(row: Any) -> TrendChange:
    change: StoredChange = row.StoredChange
    own = {
        name: getattr(change, name)
        for name in TrendChange.model_fields
        if hasattr(change, name) and name not in TrendIdentity.model_fields
    }
    return TrendChange(
        **_identity(row.Trend),
        **own,
        experiment_before=row.experiment_before,
        experiment_after=row.experiment_after,
    )


def _points(values: Sequence[repository.ValueRow], workload: str) -> list[TrendPoint]:
    """The values, each with what is another thing than at the value before of its host."""
    before: dict[str, repository.ValueRow] = {}
    points = []
    for value in values:
        last = before.get(value.host)
        turned = _turned(last, value, workload) if last else []
        before[value.host] = value
        points.append(_point(value, turned))
    return points


def _turned(one: repository.ValueRow, two: repository.ValueRow, workload: str) -> list[str]:
    said = [f"kernel {one.kernel} → {two.kernel}"] if one.kernel != two.kernel else []
    if one.context == two.context:
        return said
    causes = causes_between(
        [Circumstances(one.host, one.context)], [Circumstances(two.host, two.context)], workload
    )
    others = [cause for cause in causes if cause.kind in _OF_MACHINE]
    return said + [f"{each.what} {each.before} → {each.after}" for each in others[:MOST_TURNED]]


def _point(value: repository.ValueRow, turned: list[str]) -> TrendPoint:
    names = TrendPoint.model_fields.keys() - {"turned"}
    return TrendPoint(turned=turned, **{name: getattr(value, name) for name in names})


def _other(trend: Trend, other: Trend) -> OtherTrend:
    if other.unit != trend.unit:
        why = f"its values are in {other.unit}, these in {trend.unit}"
    elif other.case_key != trend.case_key:
        why = "the case had other parameters"
    else:
        why = "the host's clock or emulation was another"
    return OtherTrend(id=other.id, why=why)
