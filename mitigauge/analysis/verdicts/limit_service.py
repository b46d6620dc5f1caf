"""Judging experiments by limits: those of their spec, once they end, or a file's that is given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import limit_repository as repository
from mitigauge.analysis.verdicts.limit_rows import figures_of, rows_by_line, rows_of
from mitigauge.analysis.verdicts.limit_schemas import (
    ExperimentLimits,
    LimitCounts,
    LimitRow,
)
from mitigauge.analysis.verdicts.limit_words import line_of
from mitigauge.analysis.verdicts.metric_limits import Kept, Limits
from mitigauge.analysis.verdicts.tables import LimitOutcome
from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.metric_limit import MetricLimit
from mitigauge.storage.database.engine import database_now, in_words, is_away, reading

log = get_logger(__name__)

# Rows of one experiment that are stored; the counts are of all of them.
MOST_ROWS = 2000
_NO_FIGURE = "no figure of the experiment is meant"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the limits of its spec say of an experiment, before it is stored."""

    rows: Sequence[LimitRow]
    trouble: str = ""


def preview(session: Session, experiment_id: int, limits: Limits) -> list[LimitRow]:
    """An experiment beside a file of limits; nothing is stored. Raises NotFound.

    A limit that is of no figure of the experiment has one row that says so.
    """
    by_line = rows_by_line(limits.lines, figures_of(session, experiment_id))
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
    """What the limits of its spec say of an experiment; None where it sets none.

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
    """What the limits of its spec say of an experiment; None where it sets none. Raises NotFound,
    and InvalidInput for limits that another version took."""
    experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
    limits = limits_in(experiment.spec_text)
    if not limits:
        return None
    return Judged(sorted(rows_of(limits, figures_of(session, experiment_id)), key=_place))


def limits_in(spec_text: str) -> list[MetricLimit]:
    """The limits of a spec. Raises InvalidInput for what is none."""
    given = parse_yaml(spec_text, "spec").data.get("limits", [])
    try:
        return TypeAdapter(list[MetricLimit]).validate_python(given)
    except ValidationError as error:
        raise InvalidInput("the limits of the spec are none that this version takes") from error


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
            text=f"not judged by its limits: {judged.trouble}",
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


def _place(row: LimitRow) -> tuple[int, int]:
    return (Kept.BROKEN, Kept.CANNOT_TELL, Kept.KEPT).index(row.kept), row.line


def _require_over(experiment_id: int, *, is_over: bool) -> None:
    if not is_over:
        raise Conflict(
            f"experiment {experiment_id} is not over: it is judged by limits at its end",
            hint=f"`mitigauge experiment wait {experiment_id}` follows it.",
        )
