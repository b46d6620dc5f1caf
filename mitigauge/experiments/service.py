"""Results coming in, and cancelling: what both the worker and the API do to experiments."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from mitigauge.database import database_now
from mitigauge.errors import Conflict, InvalidInput
from mitigauge.experiments import outcomes, repository
from mitigauge.experiments.event_log import record_event
from mitigauge.experiments.judging import FIRST_LOOK, all_decided, judge_run, value_map
from mitigauge.experiments.results import ResultBody, body_digest, check_against_case, read_result
from mitigauge.experiments.states import BootState
from mitigauge.experiments.tables import Boot, Case, Iteration, Result, Run

OPEN = (BootState.PLANNED, BootState.BOOTING, BootState.MEASURING)
# What a boot of a block that has not begun may be already.
UNTOUCHED = (BootState.PLANNED, BootState.SKIPPED)


def in_order(boots: Iterable[Boot]) -> list[Boot]:
    """Boots in the order in which they are made."""
    return sorted(boots, key=lambda b: (b.block, b.attempt, b.place))


def decided_after(session: Session, run: Run) -> int | None:
    """Blocks after which every primary metric was decided; None while one is not.

    Asked only between two blocks: within one, its arms would not be alike in boots.
    """
    coming = next((boot for boot in in_order(run.boots) if boot.state in OPEN), None)
    if coming is None or coming.state != BootState.PLANNED:
        return None
    done = coming.block - 1
    begun = any(b.block > done and b.state not in UNTOUCHED for b in run.boots)
    if done < FIRST_LOOK or begun:
        return None
    values = value_map(repository.values_of(session, [run.id]))
    judged = judge_run(run.comparison, run, run.boots, values)
    return done if all_decided(judged, run.comparison) else None


def result_of_case(body: bytes, case: Case) -> ResultBody:
    """*body* as a result of the case. Raises :class:`InvalidInput` if it is none."""
    result = read_result(body)
    check_against_case(
        result,
        workload=case.workload,
        case_id=case.id,
        metrics=case.metrics,
        iterations=case.iterations,
    )
    return result


def store_result(
    session: Session, boot_id: int, case_id: int, body: bytes, *, raw_sha256: str | None = None
) -> bool:
    """Store a case's result within a boot; False when the same body is there already.

    Raises :class:`InvalidInput` for a body that is no result of this case, and
    :class:`Conflict` when the boot is not being measured or holds another body.
    """
    boot = repository.boot(session, boot_id)
    case = _case_of(boot, case_id)
    digest = body_digest(body)
    stored = repository.result_of(session, boot_id, case_id)
    if stored is not None:
        if stored.body_sha256 == digest:
            return False
        raise Conflict(
            f"boot {boot_id} has another result of case {case_id} already",
            hint="Results are never replaced; a further boot gives a further result.",
        )
    result = result_of_case(body, case)
    if boot.state != BootState.MEASURING:
        raise Conflict(
            f"boot {boot_id} is {boot.state}, not measuring",
            hint="Results are taken only while their boot is proven and measuring.",
        )
    session.add(_measured(boot_id, case, result, digest, raw_sha256))
    session.flush()
    return True


def store_failure(
    session: Session, boot_id: int, case_id: int, *, state: str, error: str, raw_sha256: str | None
) -> None:
    """Note that a case gave no result in this boot; once noted it stays."""
    if repository.result_of(session, boot_id, case_id) is not None:
        return
    session.add(
        Result(
            boot_id=boot_id,
            case_id=case_id,
            state=state,
            body_sha256="",
            raw_sha256=raw_sha256,
            lab_faults=[],
            tools={},
            error=error[:4000],
        )
    )
    session.flush()


def cancel(session: Session, experiment_id: int) -> None:
    """Ask an experiment to stop: each run restores its host and ends."""
    experiment = repository.experiment(session, experiment_id)
    if experiment.state in outcomes.FINAL_RUN_STATES:
        raise Conflict(
            f"experiment {experiment_id} is {experiment.state}", hint="There is nothing to cancel."
        )
    experiment.state = "cancelled"
    for run in experiment.runs:
        if run.state not in outcomes.FINAL_RUN_STATES:
            run.wake_at = database_now(session)
    record_event(
        session,
        experiment_id=experiment_id,
        run_id=None,
        kind="cancelled",
        text="cancel requested; hosts are restored first",
    )


def _case_of(boot: Boot, case_id: int) -> Case:
    for case in boot.run.comparison.cases:
        if case.id == case_id:
            return case
    raise InvalidInput(
        f"boot {boot.id} measures no case {case_id}",
        hint=f"Its cases: {', '.join(str(c.id) for c in boot.run.comparison.cases)}.",
    )


def _measured(
    boot_id: int, case: Case, result: ResultBody, digest: str, raw_sha256: str | None
) -> Result:
    pace = result.pace
    phases = (
        ("warmup", "warmup", None),
        ("counted", "values", pace and pace.values),
        ("disturbed", "disturbed", pace and pace.disturbed),
    )
    iterations = [
        Iteration(
            metric=name,
            phase=phase,
            position=position,
            value=value,
            slowdown=slowdowns[position - 1] if slowdowns else None,
        )
        for name, metric in result.metrics.items()
        for phase, field, slowdowns in phases
        for position, value in enumerate(getattr(metric, field), start=1)
    ]
    return Result(
        boot_id=boot_id,
        case_id=case.id,
        state="measured",
        body_sha256=digest,
        raw_sha256=raw_sha256,
        lab_faults=[fault.model_dump() for fault in result.lab_faults],
        tools=dict(result.tools),
        slowdown_limit=pace.limit if pace else None,
        started_at=result.started_at,
        finished_at=result.finished_at,
        iterations=iterations,
    )
