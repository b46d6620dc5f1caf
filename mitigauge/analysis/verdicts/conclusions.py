"""What runs and experiments say once they are over: verdicts, false alarms, the headline.

Worked out after the run was closed and apart from closing it, so that no number can keep a run
from its end or a host from the next run.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.analysis.verdicts import limit_service
from mitigauge.analysis.verdicts import repository as verdict_rows
from mitigauge.analysis.verdicts import service as verdict_service
from mitigauge.analysis.verdicts.limit_service import Judged
from mitigauge.analysis.verdicts.repository import PlainestEffect
from mitigauge.core.effect import Verdict
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.stats.bounds import Bound
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import database_now, is_away, transaction
from mitigauge.storage.database.locks import AGAINST_CHANGES

log = get_logger(__name__)
IN_ORDER = (Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.UNDECIDED)
BOUNDS = {Bound.AT_LEAST: "at least ", Bound.AT_MOST: "at most "}
UNRANKED = "; modes are not ranked, the hardware's own events are not counted"
END_OF_RUN = "the run's end"
JUDGED_AGAIN = "judged again"


def conclude_closed(engine: Engine) -> None:
    """Conclude all runs, and then all experiments, that are over and not concluded yet.

    What cannot be worked out is said in the event log and not tried again. Raises nothing but
    what :func:`mitigauge.storage.database.engine.is_away` knows.
    """
    with transaction(engine) as session:
        runs = run_rows.unconcluded(session)
    for run_id in runs:
        conclude_run(engine, run_id)
    with transaction(engine) as session:
        experiments = run_rows.unconcluded_experiments(session)
    for experiment_id in experiments:
        # Many limits of many cases take a while, and the experiment is locked below.
        judged = limit_service.judge_quietly(engine, experiment_id)
        with transaction(engine) as session:
            _conclude_experiment(session, experiment_id, judged)


def conclude_run(engine: Engine, run_id: int, reason: str = END_OF_RUN) -> None:
    """Store the verdicts and false alarms of a run that is over; again, it changes nothing."""
    try:
        _conclude_run(engine, run_id, reason)
    except Exception as error:
        if is_away(error):
            raise
        log.exception("no conclusion", run=run_id)
        with transaction(engine) as session:
            _give_up(session, run_id, f"{type(error).__name__}: {error}")


def _conclude_run(engine: Engine, run_id: int, reason: str) -> None:
    # Takes a second for thousands of cases, so no transaction is open meanwhile.
    judgeable = verdict_service.load(engine, run_id)
    judgement = verdict_service.judge(judgeable)
    alarms = verdict_service.doubled_outcomes(judgeable, run_id)
    rebased = verdict_service.rebase(judgeable)
    with transaction(engine) as session:
        run = session.get_one(Run, run_id, with_for_update=AGAINST_CHANGES)
        verdict_service.store(session, run, judgement, reason=reason, over=True)
        verdict_rows.store_aa(session, alarms)
        verdict_rows.store_rebased(session, run_id, rebased)
        run.concluded_at = run.concluded_at or database_now(session)


def _give_up(session: Session, run_id: int, trouble: str) -> None:
    run = session.get_one(Run, run_id, with_for_update=AGAINST_CHANGES)
    run.concluded_at = run.concluded_at or database_now(session)
    record_event(
        session,
        experiment_id=run.experiment_id,
        run_id=run_id,
        kind="failed",
        text=f"no verdicts and no false alarms: {trouble}",
    )


def judge_again(engine: Engine, experiment_id: int) -> list[int]:
    """Judge all runs of an experiment that are over once more; returns those that changed.

    A verdict that was given and no longer holds gets a next version; none is lost.
    """
    with transaction(engine) as session:
        before = {run.id: run for run in run_rows.runs_of(session, experiment_id)}
        over = [run_id for run_id, run in before.items() if run.concluded_at is not None]
    for run_id in over:
        conclude_run(engine, run_id, JUDGED_AGAIN)
    by_limits = limit_service.judge_quietly(engine, experiment_id)
    with transaction(engine) as session:
        _set_headline(session, experiment_rows.locked_experiment(session, experiment_id))
        limit_service.store_quietly(session, experiment_id, by_limits)
        after = {run.id: run.verdict_changes for run in run_rows.runs_of(session, experiment_id)}
        changed = [run_id for run_id in over if after[run_id] != before[run_id].verdict_changes]
        audit.record(
            session,
            Action.EXPERIMENT_JUDGE,
            Subject(SubjectKind.EXPERIMENT, experiment_id),
            after={"changed_runs": changed},
        )
    return changed


def _conclude_experiment(session: Session, experiment_id: int, judged: Judged | None) -> None:
    experiment = experiment_rows.locked_experiment(session, experiment_id)
    if experiment.concluded_at is not None:
        return
    experiment.concluded_at = database_now(session)
    _set_headline(session, experiment)
    limit_service.store_quietly(session, experiment_id, judged)


def _set_headline(session: Session, experiment: Experiment) -> None:
    knobs = [len(of.factorial.knobs) if of.factorial else 0 for of in experiment.comparisons]
    if all(knobs):
        # Its arms are no answers by themselves: the table of its knobs is.
        turned = " and ".join(f"{count} knobs" for count in knobs)
        experiment.headline = f"{turned} turned together: the table says what each costs"
        return
    plainest = verdict_rows.plainest_effect(session, experiment.id)
    experiment.headline = headline(verdict_rows.verdict_counts(session, experiment.id), plainest)
    is_worse = plainest is not None and plainest.verdict == Verdict.WORSE
    experiment.worst_effect_percent = plainest.effect_percent if plainest and is_worse else None
    experiment.worst_bound = Bound(plainest.bound) if plainest and is_worse else Bound.EXACT


def headline(counts: Mapping[Verdict, int], plainest: PlainestEffect | None) -> str:
    """How many verdicts of each kind, then the plainest effect; empty where there is no verdict."""
    said = [f"{counts[verdict]} {verdict}" for verdict in IN_ORDER if counts.get(verdict)]
    if plainest is None:
        return ", ".join(said)
    effect = (
        f"{plainest.case} on {plainest.host}: {plainest.arm} "
        f"{BOUNDS.get(Bound(plainest.bound), '')}{_signed(plainest.effect_percent)} %"
        f"{_interval(plainest)}, {plainest.verdict}{UNRANKED if plainest.unranked else ''}"
    )
    return effect if sum(counts.values()) == 1 else f"{', '.join(said)}. {effect}"


def _interval(plainest: PlainestEffect) -> str:
    low, high = plainest.ci_low_percent, plainest.ci_high_percent
    return "" if low is None or high is None else f" [{_signed(low)}, {_signed(high)}]"


def _signed(percent: float) -> str:
    sign = "\N{MINUS SIGN}" if percent < 0 else "+"
    return f"{sign}{abs(percent):.1f}"
