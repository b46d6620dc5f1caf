"""One case with its boots, and one boot with all it can be traced to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.catalog import Expectation
from mitigauge.experiments import repository
from mitigauge.experiments.boot_schemas import (
    AttemptView,
    BootPoint,
    BootView,
    CaseView,
    MetricValues,
    ResultView,
)
from mitigauge.experiments.judging import ValueMap, Values, judge_run, value_map
from mitigauge.experiments.matrix import arm_views, row_view
from mitigauge.experiments.noise_view import costs_of, noise_view
from mitigauge.experiments.states import BootState
from mitigauge.experiments.tables import Boot, Case, Iteration, Result, Run
from mitigauge.stats.boot_means import mean_of


def show_case(session: Session, experiment_id: int, case_id: int, host: str | None) -> CaseView:
    """One case on one host with every boot as a point; the first host when none is named."""
    experiment = repository.experiment(session, experiment_id)
    case, _ = repository.case(session, experiment_id, case_id)
    runs = [run for run in experiment.runs if run.comparison_id == case.comparison_id]
    run = next((r for r in runs if r.host.name == host), runs[0])
    boots = repository.boots_of(session, [run.id])
    values = value_map(repository.values_of(session, [run.id], case.id))
    judged = judge_run(run.comparison, run, boots, values, [case])
    measuring_s = repository.measuring_seconds(session, run.id)
    costs = costs_of(boots, measuring_s, case.id, case.iterations + case.warmup)
    return CaseView(
        experiment_id=experiment.id,
        experiment=experiment.name,
        comparison=run.comparison.name,
        case_id=case.id,
        case=case.title,
        workload=case.workload,
        parameters=case.parameters,
        host=run.host.name,
        metrics=[row_view(run.comparison, run, boots, entry) for entry in judged],
        points={m: [_point(boot, case, m, values) for boot in boots] for m in case.metrics},
        noise={entry.metric: noise_view(entry, run.comparison, costs) for entry in judged},
        arms=arm_views(run.comparison, boots, emulated=run.host.emulated),
        emulated=run.host.emulated,
    )


def boot_head(boot: Boot, run: Run) -> dict[str, Any]:
    """The fields of :class:`BootHead` of a boot of *run*."""
    proof = boot.proof or {}
    return {
        "id": boot.id,
        "comparison": run.comparison.name,
        "host": run.host.name,
        "arm": boot.arm.name,
        "block": boot.block,
        "order": boot.place,
        "attempt": boot.attempt,
        "state": BootState(boot.state),
        "reason": boot.reason,
        "nonce": boot.nonce,
        "kernel_boot_id": proof.get("boot_id"),
        "kernel_release": proof.get("kernel_release"),
        "observed": boot.observed,
    }


def show_boot(session: Session, boot_id: int) -> BootView:
    """One boot with its proof and all it gave."""
    boot = repository.boot(session, boot_id)
    proof = boot.proof or {}
    return BootView(
        **boot_head(boot, boot.run),
        experiment_id=boot.run.experiment_id,
        experiment=boot.run.experiment.name,
        emulated=boot.run.host.emulated,
        mode=f"{boot.arm.family}/{boot.arm.mode}",
        build_id=proof.get("build_id"),
        cmdline=proof.get("cmdline"),
        tainted=proof.get("tainted"),
        microcode=proof.get("microcode"),
        expected=[Expectation.model_validate(e).describe() for e in boot.arm.expect],
        vulnerabilities=proof.get("vulnerabilities", {}),
        serial_tail=boot.serial_tail,
        results=_results(boot),
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
            for s in repository.steps_of(session, boot_id)
        ],
        fingerprint=boot.fingerprint.facts if boot.fingerprint else {},
        started_at=boot.started_at,
        finished_at=boot.finished_at,
    )


def _point(boot: Boot, case: Case, metric: str, values: ValueMap) -> BootPoint:
    entry = values.get((boot.id, case.id, metric), Values())
    iterations = entry.counted
    return BootPoint(
        boot_id=boot.id,
        block=boot.block,
        order=boot.place,
        arm_id=boot.arm_id,
        arm=boot.arm.name,
        state=BootState(boot.state),
        counts=boot.state == BootState.EFFECTIVE and bool(iterations),
        mean=mean_of(iterations) if iterations else None,
        iterations=iterations,
        warmup=entry.warmup,
        disturbed=entry.disturbed,
        at=boot.started_at,
    )


def _results(boot: Boot) -> list[ResultView]:
    stored = {result.case_id: result for result in boot.results}
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
        metrics=_metrics(case, result),
        lab_faults=result.lab_faults,
        tools=result.tools,
        started_at=result.started_at,
        finished_at=result.finished_at,
        raw_sha256=result.raw_sha256,
        error=result.error,
    )


def _metrics(case: Case, result: Result) -> dict[str, MetricValues]:
    gathered: dict[str, dict[str, list[Iteration]]] = defaultdict(lambda: defaultdict(list))
    for iteration in result.iterations:
        gathered[iteration.metric][iteration.phase].append(iteration)
    return {
        name: MetricValues(
            unit=case.metrics[name]["unit"],
            direction=case.metrics[name]["direction"],
            warmup=[i.value for i in phases["warmup"]],
            values=[i.value for i in phases["counted"]],
            disturbed=[i.value for i in phases["disturbed"]],
            slowdowns=_slowdowns(phases["counted"]),
            disturbed_slowdowns=_slowdowns(phases["disturbed"]),
            slowdown_limit=result.slowdown_limit,
            mean=mean_of([i.value for i in phases["counted"]]),
        )
        for name, phases in gathered.items()
        if phases["counted"]
    }


def _slowdowns(iterations: Sequence[Iteration]) -> list[float]:
    return [i.slowdown for i in iterations if i.slowdown is not None]
