"""Results coming in, and cancelling: what both the worker and the API do to experiments."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from mitigauge.database import database_now
from mitigauge.errors import Conflict, InvalidInput
from mitigauge.experiments import outcomes, repository
from mitigauge.experiments.event_log import record_event
from mitigauge.experiments.judging import FIRST_LOOK
from mitigauge.experiments.results import ResultBody, body_digest, check_against_case, read_result
from mitigauge.experiments.states import FINAL_STATES, OPEN_BOOT_STATES, BootState
from mitigauge.experiments.tables import Boot, Case, Iteration, Result, Run
from mitigauge.fleet import repository as fleet

# What a boot of a block that has not begun may be already.
UNTOUCHED = (BootState.PLANNED, BootState.SKIPPED)


def in_order(boots: Iterable[Boot]) -> list[Boot]:
    """Boots in the order in which they are made."""
    return sorted(boots, key=lambda b: (b.block, b.attempt, b.place))


def unjudged_blocks(run: Run) -> int | None:
    """Complete blocks over which an interim analysis is due; None while there is none.

    One is due only between two blocks: within one, its arms would not be alike in boots.
    """
    coming = next((boot for boot in in_order(run.boots) if boot.state in OPEN_BOOT_STATES), None)
    if coming is None or coming.state != BootState.PLANNED:
        return None
    done = coming.block - 1
    begun = any(b.block > done and b.state not in UNTOUCHED for b in run.boots)
    return None if done < FIRST_LOOK or begun or run.judged_blocks >= done else done


def result_of_case(body: bytes, case: Case) -> ResultBody:
    """*body* as a result of the case. Raises :class:`InvalidInput` if it is none."""
    result = read_result(body)
    check_against_case(
        result,
        workload=case.workload,
        case_id=case.id,
        metrics=case.metrics,
        iterations=case.iterations,
        parameters=case.parameters,
        warmup=case.warmup,
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
    """Ask an experiment to stop: each run restores its host and ends.

    A run that has no host yet ends at once, whoever holds its host.
    """
    runs = repository.locked_runs(session, experiment_id)
    experiment = repository.locked_experiment(session, experiment_id)
    if experiment.state in FINAL_STATES:
        raise Conflict(
            f"experiment {experiment_id} is {experiment.state}", hint="There is nothing to cancel."
        )
    experiment.state = "cancelled"
    record_event(
        session,
        experiment_id=experiment_id,
        run_id=None,
        kind="cancelled",
        text="cancel requested; hosts are restored first",
    )
    for run in runs:
        if run.state == "queued":
            outcomes.finish(session, run, state="cancelled", error="cancelled")
        elif run.state not in FINAL_STATES:
            run.wake_at = database_now(session)


def postpone(session: Session, run_id: int, seconds: float, reason: str) -> None:
    """Leave a run alone for so long for which no step could be begun, and say why."""
    run = session.get_one(Run, run_id)
    repository.wake_later(session, run_id, seconds)
    record_event(
        session,
        experiment_id=run.experiment_id,
        run_id=run_id,
        kind="failed",
        text=f"no step could be begun, again in {seconds:.0f} s: {reason}",
    )


def bring_back(session: Session, environment: str, name: str) -> bool:
    """Let runs begin again on a host that was set aside; False where it was not.

    Raises :class:`NotFound` for a host that took part in nothing yet.
    """
    host = fleet.host_named(session, environment, name)
    if not fleet.bring_back(session, host.id):
        return False
    repository.wake_runs_of_host(session, host.id)
    return True


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
