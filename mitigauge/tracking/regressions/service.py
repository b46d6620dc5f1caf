"""Finding, filing, listing and changing regressions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.core.logs.logger import get_logger
from mitigauge.storage.database.engine import database_now, in_words, is_away, transaction
from mitigauge.tracking.bisect import repository as bisect_rows
from mitigauge.tracking.regressions import confirmation_repository as confirmation_rows
from mitigauge.tracking.regressions import repository
from mitigauge.tracking.regressions.repository import Cell, OfChange, RegressionFilter
from mitigauge.tracking.regressions.rules import Entry, Standing, changed
from mitigauge.tracking.regressions.schemas import (
    ConfirmationView,
    EntryView,
    NewRegression,
    RegressionChange,
    RegressionPage,
    RegressionSummary,
    RegressionView,
)
from mitigauge.tracking.regressions.states import (
    EntryKind,
    Origin,
    RegressionState,
)
from mitigauge.tracking.regressions.tables import (
    Confirmation,
    Regression,
    RegressionEntry,
)
from mitigauge.tracking.trends.schemas import ChangeKind, ChangeState

log = get_logger(__name__)

PAGE_SIZE: Final = 50
LARGEST_PAGE: Final = 200
MOST_ENTRIES: Final = 1000
# Who says what follows from measurements alone.
ITSELF: Final = "mitigauge"
ALL: Final = RegressionFilter()


def take_in_quietly(engine: Engine) -> None:
    """Make regressions of what trends found, for a worker. Raises nothing: it is done again."""
    try:
        with transaction(engine) as session:
            take_in(session)
    except Exception as error:
        if is_away(error):
            log.warning("database away, regressions wait", error=in_words(error))
            return
        log.exception("regressions not taken in")


def take_in(session: Session) -> list[int]:
    """Make regressions of lasting changes for the worse; the ids of those that are new.

    Whose change went away is over, and whose change was accepted is known. What a person said of
    a regression stays.
    """
    new = repository.take_in_changes(session)
    repository.note_found(session, new, ITSELF)
    for each in repository.unsettled_changes(session):
        _settle(session, each)
    return new


def settle(
    session: Session, found: Regression, change: RegressionChange, *, by: str = ITSELF
) -> None:
    """Change a regression, which is locked, by what measurements say, or by asking for them."""
    if repository.entries_of(session, found.id) < MOST_ENTRIES:
        _apply(session, found, change, by=by)


def _settle(session: Session, of: OfChange) -> None:
    found = repository.find(session, of.regression_id, lock=True)
    if found is None:
        return
    by = ITSELF
    if of.kind is ChangeKind.WENT_AWAY:
        state, note = RegressionState.FIXED, "The values came back to the level before."
    elif of.kind is ChangeKind.WITHDRAWN:
        state, note = RegressionState.FALSE, "Later values do not show it."
    else:
        expected = "expected" if of.state is ChangeState.EXPECTED else "accepted"
        state, note, by = RegressionState.KNOWN, f"{expected}: {of.said}", of.said_by
    if found.state is state:
        return
    _apply(session, found, RegressionChange(version=found.version, state=state, note=note), by=by)


def list_regressions(
    session: Session, wanted: RegressionFilter = ALL, *, offset: int = 0, limit: int = PAGE_SIZE
) -> RegressionPage:
    """A page of regressions: the open first, of these the newest."""
    rows, counts = repository.listed(session, wanted, offset=offset, limit=limit)
    total = sum(number for state, number in counts.items() if state in (wanted.states or counts))
    end = offset + len(rows)
    confirmations = confirmation_rows.of_regressions(session, [row.id for row in rows])
    sure = confirmation_rows.sure_of(session, rows, ITSELF)
    return RegressionPage(
        regressions=[_summary(row, confirmations.get(row.id), sure) for row in rows],
        total=total,
        next=end if rows and end < total else None,
        counts=counts,
    )


def show_regression(session: Session, regression_id: int) -> RegressionView:
    """One regression with its history. Raises :class:`NotFound`."""
    found = _find(session, regression_id)
    tries = confirmation_rows.tries_of(session, [found.id]).get(found.id, [])
    sure = confirmation_rows.sure_of(session, [found], ITSELF)
    return RegressionView(
        **_summary(found, tries[0] if tries else None, sure).model_dump(),
        fresh_boots=ConfirmationView.model_validate(tries[0]) if tries else None,
        earlier_fresh_boots=[ConfirmationView.model_validate(each) for each in tries[1:]],
        trend_id=found.trend_id,
        change_id=found.change_id,
        experiment_id=found.experiment_id,
        case_id=found.case_id,
        arm=repository.arm_name(session, found.arm_id) if found.origin is Origin.CELL else "",
        duplicates=repository.duplicates_of(session, regression_id),
        history=[
            EntryView.model_validate(each)
            for each in repository.history(session, regression_id, MOST_ENTRIES)
        ],
    )


def change_regression(
    session: Session, regression_id: int, change: RegressionChange, *, by: str
) -> RegressionView:
    """Change what people decided of a regression, and note who did.

    Raises :class:`NotFound`, :class:`InvalidInput` for what cannot be, and :class:`Conflict` where
    somebody else changed it since it was shown.
    """
    found = _find(session, regression_id, lock=True)
    if found.version != change.version:
        raise _changed_meanwhile(session, found)
    if repository.entries_of(session, regression_id) >= MOST_ENTRIES:
        raise Conflict(
            f"regression {regression_id} has {MOST_ENTRIES} entries",
            hint="Go on in its bug.",
        )
    _require_other(session, found, change.duplicate_of)
    if change.bisection_id is not None and not bisect_rows.exists(session, change.bisection_id):
        raise NotFound(
            f"there is no bisection {change.bisection_id}",
            hint="`mitigauge bisect list` lists them.",
        )
    _apply(session, found, change, by=by)
    return show_regression(session, regression_id)


def note_bisection(session: Session, regression_id: int, bisection_id: int, *, by: str) -> None:
    """Note that a bisection was started from a regression. Raises :class:`NotFound`.

    Whoever starts one need not have seen its newest version: nothing that was said is overwritten
    but the bisection before, which stays in the history.
    """
    found = _find(session, regression_id, lock=True)
    change = RegressionChange(version=found.version, bisection_id=bisection_id)
    _apply(session, found, change, by=by)


def file_regression(session: Session, new: NewRegression, *, by: str) -> RegressionView:
    """Take a cell of an experiment for a regression, confirmed by who files it.

    Raises :class:`NotFound` for a cell that is not there, :class:`InvalidInput` for one that was
    not decided as worse, and :class:`Conflict` for one that was filed.
    """
    found = _cell(session, new)
    before = repository.of_cell(session, found)
    if before is not None:
        raise Conflict(
            f"it was filed already, as regression {before.id}",
            hint=f"`mitigauge regression show {before.id}` shows it.",
        )
    row = _of_cell(found, new)
    row.happened_at = found.verdict.given_at or database_now(session)
    session.add(row)
    session.flush()
    repository.note_found(session, [row.id], by)
    audit.record(
        session,
        Action.REGRESSION_FILE,
        Subject(SubjectKind.REGRESSION, row.id),
        after={"experiment": new.experiment_id, "case": row.case_title, "arm": new.arm},
    )
    change = RegressionChange(
        version=1, state=None if new.owner else RegressionState.CONFIRMED,
        owner=new.owner or None, bug=new.bug or None, note=new.note,
    )  # fmt: skip
    _apply(session, row, change, by=by)
    return show_regression(session, row.id)


def _cell(session: Session, new: NewRegression) -> Cell:
    found = repository.cell(session, new.experiment_id, new.host, new.case_id, new.arm, new.metric)
    if found is None:
        raise NotFound(
            f"experiment {new.experiment_id} has no figure of metric {new.metric!r} of case "
            f"{new.case_id} in arm {new.arm!r} on {new.host!r}",
            hint=f"`mitigauge experiment show {new.experiment_id} --json` names them.",
        )
    if found.verdict.verdict != "worse":
        said = found.verdict.verdict or "not decided"
        raise InvalidInput(
            f"{found.case.title} in arm {new.arm!r} on {new.host} is {said}, not worse",
            hint="Only what was decided as worse is a regression; more blocks may decide it.",
        )
    return found


def _of_cell(found: Cell, new: NewRegression) -> Regression:
    metric = found.case.metrics.get(new.metric)
    return Regression(
        origin=Origin.CELL,
        experiment_id=new.experiment_id,
        run_id=found.run.id,
        case_id=found.case.id,
        arm_id=found.arm.id,
        environment=found.host.environment,
        host_class=found.host.host_class,
        hosts=[found.host.name],
        emulated=found.host.emulated,
        clock=found.run.clock,
        workload=found.case.workload,
        case_title=found.case.title,
        metric=new.metric,
        metric_title=metric.title if metric else new.metric,
        mode=found.arm.full_mode,
        before=f"arm {found.baseline}",
        effect_percent=found.verdict.effect_percent,
        ci_low_percent=found.verdict.ci_low_percent,
        ci_high_percent=found.verdict.ci_high_percent,
        bound=found.verdict.bound,
    )


def _apply(session: Session, found: Regression, change: RegressionChange, *, by: str) -> None:
    before = Standing(found.state, found.owner, found.bug, found.bisection_id, found.duplicate_of)
    after, entries = changed(before, change)
    found.state, found.owner, found.bug = after.state, after.owner, after.bug
    found.bisection_id, found.duplicate_of = after.bisection_id, after.duplicate_of
    found.version += 1
    found.changed_at = database_now(session)
    # What is done by itself, or by who starts bisections, is never refused for a full history.
    room = max(0, MOST_ENTRIES - repository.entries_of(session, found.id))
    session.add_all(_row(found.id, entry, by) for entry in entries[:room])
    session.flush()
    audit.record(
        session,
        Action.REGRESSION_CHANGE,
        Subject(SubjectKind.REGRESSION, found.id),
        before=_values_by_kind(entries, "before"),
        after=_values_by_kind(entries, "after"),
    )


def _values_by_kind(entries: list[Entry], when: str) -> dict[str, object]:
    return {entry.kind: getattr(entry, when) for entry in entries if entry.kind != EntryKind.NOTE}


def _row(regression_id: int, entry: Entry, by: str) -> RegressionEntry:
    return RegressionEntry(
        regression_id=regression_id, by=by, kind=entry.kind, before=entry.before,
        after=entry.after, text=entry.text,
    )  # fmt: skip


def _require_other(session: Session, found: Regression, other_id: int | None) -> None:
    """See that the regression which *found* is to join is one that has a state of its own."""
    if other_id is None:
        return
    other = None if other_id == found.id else repository.find(session, other_id)
    if other is None:
        raise InvalidInput(
            f"regression {found.id} cannot join {other_id}",
            hint="Give the number of another regression: `mitigauge regression list` lists them.",
        )
    if other.duplicate_of is not None:
        raise InvalidInput(
            f"regression {other_id} is a duplicate itself",
            hint=f"Join the one that it joined: {other.duplicate_of}.",
        )
    joined = repository.duplicates_of(session, found.id)
    if joined:
        raise InvalidInput(
            f"regressions {', '.join(map(str, joined[:10]))} joined {found.id} before",
            hint=f"Let {other_id} join {found.id} instead.",
        )


def _changed_meanwhile(session: Session, found: Regression) -> Conflict:
    last = repository.last_change(session, found.id)
    said = f": {last.by}, {last.kind} {last.after}".rstrip() if last else ""
    return Conflict(
        f"regression {found.id} was changed since it was shown{said}",
        hint="Look at it again; what you wrote is not lost, and not stored either.",
    )


def _find(session: Session, regression_id: int, *, lock: bool = False) -> Regression:
    found = repository.find(session, regression_id, lock=lock)
    if found is None:
        raise NotFound(
            f"there is no regression {regression_id}",
            hint="`mitigauge regression list` lists them.",
        )
    return found


def _summary(
    row: Regression, fresh: Confirmation | None, sure: Collection[int]
) -> RegressionSummary:
    others = {
        "case": row.case_title,
        "confirmation": fresh.state if fresh else None,
        "is_sure": row.id in sure,
    }
    columns = RegressionSummary.model_fields.keys() - others
    return RegressionSummary.model_validate(
        {**{name: getattr(row, name) for name in columns}, **others}
    )
