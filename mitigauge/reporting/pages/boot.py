"""One boot with all it can be traced to."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.fleet.facts import own_facts
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.results.tables import Measurement, Result
from mitigauge.measurement.runs import attempt_repository
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.reporting.pages.boot_schemas import (
    AttemptView,
    BootView,
    MetricValues,
    ResultView,
)


def boot_head(boot: Boot, run: Run) -> dict[str, Any]:
    """The fields of :class:`BootHead` of a boot of *run*."""
    proof = boot.proof or BootProof()
    return {
        "id": boot.id,
        "comparison": run.comparison.name,
        "host": run.host.name,
        "arm": boot.arm.name,
        "block": boot.block,
        "order": boot.place,
        "attempt": boot.attempt,
        "state": boot.state,
        "reason": boot.reason,
        "nonce": (boot.armed and boot.armed.nonce) or boot.nonce,
        "method": boot.method,
        "kernel_boot_id": proof.boot_id,
        "kernel_release": proof.kernel_release,
        "observed": boot.observed,
    }


def show_boot(session: Session, boot_id: int) -> BootView:
    """One boot with its proof and all it gave."""
    boot = run_rows.boot(session, boot_id)
    proof = boot.proof or BootProof()
    return BootView(
        **boot_head(boot, boot.run),
        experiment_id=boot.run.experiment_id,
        experiment=boot.run.experiment.name,
        emulated=boot.run.host.emulated,
        clock=boot.run.clock,
        mode=boot.arm.full_mode,
        loader_type=proof.loader_type,
        build_id=proof.build_id,
        cmdline=proof.cmdline,
        tainted=proof.tainted,
        microcode=proof.microcode,
        expected=boot.arm.expected,
        vulnerabilities=proof.vulnerabilities,
        serial_tail=boot.serial_tail,
        results=_results(session, boot),
        steps=[
            AttemptView(
                step=s.step,
                epoch=s.epoch,
                attempt=boot.attempt,
                outcome=s.outcome,
                detail=s.detail,
                started_at=s.started_at,
                finished_at=s.finished_at,
            )
            for s in attempt_repository.steps_of(session, boot_id)
        ],
        fingerprint=own_facts(boot.fingerprint.facts) if boot.fingerprint else {},
        started_at=boot.started_at,
        finished_at=boot.finished_at,
    )


def _results(session: Session, boot: Boot) -> list[ResultView]:
    stored = {result.case_id: result for result in result_rows.results_of_boot(session, boot.id)}
    return [_result(case, stored.get(case.id), boot) for case in boot.run.comparison.cases]


def _result(case: Case, result: Result | None, boot: Boot) -> ResultView:
    if result is None:
        running = boot.state == BootState.MEASURING
        return ResultView(
            case_id=case.id,
            case=case.title,
            state="running" if running else "planned",
            metrics={},
            lab_faults=[],
            tools={},
            started_at=None,
            finished_at=None,
            raw_sha256=None,
        )
    return ResultView(
        case_id=case.id,
        case=case.title,
        state=result.state,
        metrics={of.metric: _values(case, of) for of in result.measurements},
        lab_faults=result.lab_faults,
        tools=result.tools,
        started_at=result.started_at,
        finished_at=result.finished_at,
        raw_sha256=result.raw_sha256,
        error=result.error,
    )


def _values(case: Case, of: Measurement) -> MetricValues:
    declared = case.metrics[of.metric]
    return MetricValues(
        unit=declared.unit,
        direction=declared.direction,
        warmup=of.warmup or [],
        values=of.counted,
        disturbed=of.disturbed or [],
        slowdowns=of.slowdowns or [],
        disturbed_slowdowns=of.disturbed_slowdowns or [],
        slowdown_limit=of.slowdown_limit,
        mean=of.mean,
    )
