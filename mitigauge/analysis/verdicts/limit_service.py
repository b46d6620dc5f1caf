"""Limits in force: setting and removing them, and judging experiments by them.

What a page shows of an experiment was written at its end. A limit that is set later says nothing
of it, until somebody has it judged anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.analysis.verdicts import limit_repository as repository
from mitigauge.analysis.verdicts.limit_rows import figures_of, rows_by_line, rows_of
from mitigauge.analysis.verdicts.limit_schemas import (
    ExperimentLimits,
    LimitCounts,
    LimitFileHead,
    LimitFileView,
    LimitRow,
)
from mitigauge.analysis.verdicts.limit_text import read_known_limits, read_limits
from mitigauge.analysis.verdicts.limit_words import line_of
from mitigauge.analysis.verdicts.metric_limits import Kept, Limits
from mitigauge.analysis.verdicts.tables import LimitFile, LimitOutcome
from mitigauge.core.errors import Conflict, InvalidInput, MitigaugeError, NotFound
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.storage.database.engine import database_now, in_words, is_away, reading

log = get_logger(__name__)

MOST_FILES = 50
# Rows of one experiment that are stored; the counts are of all of them.
MOST_ROWS = 2000
_NO_FIGURE = "no figure of the experiment is meant"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the limits in force say of an experiment, before it is stored."""

    rows: Sequence[LimitRow]
    trouble: str = ""


def set_limits(session: Session, text: str, *, name: str, by: str) -> LimitFileView:
    """Put a file in force, in the place of the one of its name. *name* stands for it in errors.

    Raises TooLarge, InvalidInput that names file and line, and Conflict where there are too many.
    """
    catalog = Catalog()
    limits = read_known_limits(text, name, catalog.workloads, catalog.mode_names)
    repository.lock_files(session)
    row = repository.file(session, limits.limits)
    before = _short(row) if row else None
    if row is None:
        if repository.count_files(session) >= MOST_FILES:
            raise Conflict(
                f"{MOST_FILES} files of limits are in force",
                hint="Put limits into one of them, or `mitigauge limits remove` one.",
            )
        row = LimitFile(name=limits.limits)
        session.add(row)
    row.text, row.lines, row.set_by = text, len(limits.lines), by
    row.set_at = database_now(session)
    session.flush()
    audit.record(session, Action.LIMITS_SET, _subject(row.name), before=before, after=_short(row))
    return LimitFileView.model_validate(row)


def set_named(session: Session, name: str, text: str, *, by: str) -> LimitFileView:
    """The same for an address that names the file. Raises InvalidInput where its text does not."""
    said = read_limits(text, f"{name}.yml").limits
    if said != name:
        raise InvalidInput(
            f"the file says `limits: {said}`, and its address says {name[:80]!r}",
            hint="Give both the same name.",
        )
    return set_limits(session, text, name=f"{name}.yml", by=by)


def list_limits(session: Session) -> list[LimitFileHead]:
    """The files in force, by name."""
    return [LimitFileHead.model_validate(row) for row in repository.files(session)]


def show_limits(session: Session, name: str) -> LimitFileView:
    """One file with its text. Raises NotFound."""
    return LimitFileView.model_validate(_find(session, name))


def remove_limits(session: Session, name: str) -> LimitFileView:
    """End a file; what was said by it stays. Raises NotFound."""
    repository.lock_files(session)
    row = _find(session, name)
    view = LimitFileView.model_validate(row)
    session.delete(row)
    session.flush()
    audit.record(session, Action.LIMITS_REMOVE, _subject(name), before=_short(row))
    return view


def preview(session: Session, experiment_id: int, limits: Limits) -> list[LimitRow]:
    """An experiment beside a file that is not in force; nothing is stored. Raises NotFound.

    A limit that is of no figure of the experiment has one row that says so.
    """
    by_line = rows_by_line(limits, figures_of(session, experiment_id))
    return [
        row
        for line, (limit, rows) in enumerate(zip(limits.lines, by_line, strict=True), 1)
        for row in rows
        or [
            LimitRow(
                line=line, limit=limit.in_words(), case="", host="", arm="", value=None, low=None,
                high=None, unit="", kept=Kept.CANNOT_TELL, why=_NO_FIGURE,
            )
        ]
    ]  # fmt: skip


def counts_of(rows: Sequence[LimitRow]) -> LimitCounts:
    """How many rows say what."""
    said = [row.kept for row in rows]
    return LimitCounts(
        broken=said.count(Kept.BROKEN),
        cannot_tell=said.count(Kept.CANNOT_TELL),
        kept=said.count(Kept.KEPT),
    )


def judge_quietly(engine: Engine, experiment_id: int) -> Judged | None:
    """What the limits in force say of an experiment; None where there are none.

    What goes wrong is said in the answer, so that no limit can keep an experiment from its end.
    Raises nothing but what :func:`mitigauge.storage.database.engine.is_away` knows.
    """
    try:
        with reading(engine) as session:
            return judge(session, experiment_id)
    except Exception as error:
        if is_away(error):
            raise
        log.exception("not judged by limits", experiment=experiment_id)
        return Judged((), f"{type(error).__name__}: {in_words(error)}"[:500])


def judge(session: Session, experiment_id: int) -> Judged | None:
    """What the limits in force say of an experiment; None where there are none. Raises NotFound."""
    files = repository.files(session)
    if not files:
        return None
    figures = figures_of(session, experiment_id)
    rows: list[LimitRow] = []
    troubles = []
    for file in files:
        try:
            limits = read_limits(file.text, f"{file.name}.yml")
        except MitigaugeError as error:
            # It was written for another version of this program.
            troubles.append(error.message)
            continue
        found = rows_of(limits, figures)
        rows += [row.model_copy(update={"file": file.name}) for row in found]
    return Judged(sorted(rows, key=_place), "; ".join(troubles)[:2000])


def store(session: Session, experiment_id: int, judged: Judged | None) -> None:
    """Write what is said of an experiment by limits, in the place of what was said before."""
    if judged is None:
        repository.replace_judgement(session, experiment_id, None, ())
        return
    counts = counts_of(judged.rows)
    said = {**counts.model_dump(), "trouble": judged.trouble, "judged_at": database_now(session)}
    repository.replace_judgement(
        session, experiment_id, said, [_columns(row) for row in judged.rows[:MOST_ROWS]]
    )
    if judged.trouble:
        record_event(
            session, experiment_id=experiment_id, run_id=None, kind="failed",
            text=f"not judged by all limits: {judged.trouble}",
        )  # fmt: skip


def store_quietly(session: Session, experiment_id: int, judged: Judged | None) -> None:
    """The same beside an experiment's end, which goes on where this cannot be written."""
    try:
        with session.begin_nested():
            store(session, experiment_id, judged)
    except Exception as error:
        if is_away(error):
            raise
        log.exception("limits not stored", experiment=experiment_id)


def judge_anew(session: Session, experiment_id: int) -> ExperimentLimits:
    """Judge an experiment by the limits in force now, and store that.

    Raises NotFound, and Conflict before the experiment's end.
    """
    experiment = experiment_rows.locked_experiment(session, experiment_id)
    _require_over(experiment_id, is_over=experiment.concluded_at is not None)
    store(session, experiment_id, judge(session, experiment_id))
    session.flush()
    found = show_outcome(session, experiment_id)
    audit.record(
        session,
        Action.LIMITS_JUDGE,
        Subject(SubjectKind.EXPERIMENT, experiment_id),
        after=found.counts.model_dump(),
    )
    return found


def require_over(session: Session, experiment_id: int) -> None:
    """Raise Conflict before an experiment's end, where limits are judged; NotFound without it."""
    found = experiment_rows.experiment(session, experiment_id, with_cases=False)
    _require_over(experiment_id, is_over=found.concluded_at is not None)


def show_outcome(session: Session, experiment_id: int) -> ExperimentLimits:
    """What was stored of an experiment. Raises NotFound."""
    experiment_rows.experiment(session, experiment_id, with_cases=False)
    judgement = repository.judgements(session, [experiment_id]).get(experiment_id)
    rows = [row_of(each) for each in repository.outcomes(session, [experiment_id])]
    counts = (
        LimitCounts.model_validate(judgement)
        if judgement
        else LimitCounts(broken=0, cannot_tell=0, kept=0)
    )
    return ExperimentLimits(
        experiment_id=experiment_id,
        in_force=repository.count_files(session),
        judged_at=judgement.judged_at if judgement else None,
        counts=counts,
        trouble=judgement.trouble if judgement else "",
        rows=rows,
        in_line=line_of(counts, rows),
    )


def lines_of(session: Session, experiment_ids: Collection[int]) -> dict[int, str]:
    """What limits say of experiments, each in one line; those of which they say nothing are not
    among them."""
    judgements = repository.judgements(session, experiment_ids)
    broken: dict[int, list[LimitRow]] = {}
    for each in repository.outcomes(session, list(judgements), (Kept.BROKEN,)):
        broken.setdefault(each.experiment_id, []).append(row_of(each))
    said = {
        number: line_of(LimitCounts.model_validate(judgement), broken.get(number, ()))
        for number, judgement in judgements.items()
    }
    return {number: line for number, line in said.items() if line}


def row_of(stored: LimitOutcome) -> LimitRow:
    """A stored row as it is shown."""
    return LimitRow(
        file=stored.file,
        line=stored.line,
        limit=stored.words,
        because=stored.because,
        case=stored.case_title,
        case_id=stored.case_id,
        host=stored.host,
        emulated=stored.emulated,
        arm=stored.arm,
        value=stored.value,
        low=stored.low,
        high=stored.high,
        unit=stored.unit,
        kept=stored.kept,
        why=stored.why,
    )


def _columns(row: LimitRow) -> dict[str, object]:
    said = row.model_dump()
    return {**said, "words": said.pop("limit"), "case_title": said.pop("case")}


def _place(row: LimitRow) -> tuple[int, str, int]:
    return (Kept.BROKEN, Kept.CANNOT_TELL, Kept.KEPT).index(row.kept), row.file, row.line


def _find(session: Session, name: str) -> LimitFile:
    found = repository.file(session, name)
    if found is None:
        raise NotFound(
            f"there are no limits {name[:80]!r}",
            hint="`mitigauge limits list` lists those in force.",
        )
    return found


def _require_over(experiment_id: int, *, is_over: bool) -> None:
    if not is_over:
        raise Conflict(
            f"experiment {experiment_id} is not over: it is judged by limits at its end",
            hint=f"`mitigauge experiment wait {experiment_id}` follows it.",
        )


def _short(row: LimitFile) -> dict[str, object]:
    digest = hashlib.sha256(row.text.encode()).hexdigest()[:16]
    return {"lines": row.lines, "sha256": digest, "set_by": row.set_by}


def _subject(name: str) -> Subject:
    return Subject(SubjectKind.LIMITS, name)
