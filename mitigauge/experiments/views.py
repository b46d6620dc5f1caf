"""From stored rows to what people see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from mitigauge.catalog import Expectation
from mitigauge.database import database_now
from mitigauge.experiments import repository
from mitigauge.experiments.matrix import (
    ValueMap,
    arm_views,
    comparison_view,
    row_view,
    value_map,
)
from mitigauge.experiments.remaining import Remaining, remaining
from mitigauge.experiments.schemas import (
    AttemptView,
    BootLine,
    BootPoint,
    BootState,
    BootView,
    CaseView,
    ComparisonView,
    EventView,
    ExperimentState,
    ExperimentSummary,
    ExperimentView,
    HostFacts,
    MetricValues,
    ProgressView,
    ResultView,
    RunState,
    RunView,
    Verdict,
    WholeExperimentView,
)
from mitigauge.experiments.tables import Boot, Case, Event, Experiment, Result, Run

OPEN = (BootState.PLANNED, BootState.BOOTING, BootState.MEASURING)


def list_experiments(session: Session) -> list[ExperimentSummary]:
    """All experiments, newest first."""
    return summaries(session, repository.experiments(session))


def summaries(session: Session, experiments: Sequence[Experiment]) -> list[ExperimentSummary]:
    """One line for each experiment."""
    boots = _by_experiment(session, experiments)
    return [ExperimentSummary(**_summary(e, boots[e.id], headline=e.headline)) for e in experiments]


def show_experiment(session: Session, experiment_id: int) -> ExperimentView:
    """One experiment with matrices and runs."""
    experiment = repository.experiment(session, experiment_id)
    run_ids = [run.id for run in experiment.runs]
    boots = repository.boots_of(session, run_ids)
    values = value_map(repository.values_of(session, run_ids))
    comparisons = _comparisons(experiment, boots, values)
    return ExperimentView(
        **_summary(experiment, boots, headline=headline(comparisons)),
        environment=experiment.environment,
        seed=experiment.seed,
        spec_text=experiment.spec_text,
        comparisons=comparisons,
        runs=_runs(session, experiment, boots),
        host_facts=_host_facts(experiment, boots),
    )


def show_whole(session: Session, experiment_id: int) -> WholeExperimentView:
    """One experiment with each of its boots and their values."""
    view = show_experiment(session, experiment_id)
    experiment = repository.experiment(session, experiment_id)
    runs = {run.id: run for run in experiment.runs}
    values: dict[int, dict[int, dict[str, list[float]]]] = {}
    for (boot_id, case_id, metric), entry in value_map(repository.values_of(session, runs)).items():
        values.setdefault(boot_id, {}).setdefault(case_id, {})[metric] = entry.values
    return WholeExperimentView(
        **dict(view),
        boots=[
            _boot_line(boot, runs[boot.run_id], values.get(boot.id, {}))
            for boot in repository.boots_of(session, runs)
        ],
    )


def _boot_line(boot: Boot, run: Run, values: dict[int, dict[str, list[float]]]) -> BootLine:
    proof = boot.proof or {}
    return BootLine(
        id=boot.id,
        comparison=run.comparison.name,
        host=run.host.name,
        arm=boot.arm.name,
        block=boot.block,
        order=boot.place,
        attempt=boot.attempt,
        state=BootState(boot.state),
        reason=boot.reason,
        nonce=boot.nonce,
        kernel_boot_id=proof.get("boot_id"),
        kernel_release=proof.get("kernel_release"),
        observed=boot.observed,
        values=values,
    )


def show_progress(session: Session, experiment_id: int) -> ProgressView:
    """Where the experiment is right now."""
    experiment = repository.experiment(session, experiment_id)
    boots = repository.boots_of(session, [run.id for run in experiment.runs])
    runs = _runs(session, experiment, boots)
    left = [r.seconds_left for r in runs if r.state in (RunState.QUEUED, RunState.RUNNING)]
    known = [seconds for seconds in left if seconds is not None]
    return ProgressView(
        experiment_id=experiment.id,
        state=ExperimentState(experiment.state),
        runs=runs,
        boots_done=sum(r.boots_done for r in runs),
        boots_total=sum(r.boots_total for r in runs),
        # Hosts run side by side, so the slowest one ends it.
        seconds_left=max(known) if known and len(known) == len(left) else None,
        last_event_id=repository.last_event_id(session, experiment_id),
    )


def show_case(session: Session, experiment_id: int, case_id: int, host: str | None) -> CaseView:
    """One case on one host with every boot as a point; the first host when none is named."""
    experiment = repository.experiment(session, experiment_id)
    case, _ = repository.case(session, experiment_id, case_id)
    runs = [run for run in experiment.runs if run.comparison_id == case.comparison_id]
    run = next((r for r in runs if r.host.name == host), runs[0])
    boots = repository.boots_of(session, [run.id])
    values = value_map(repository.values_of(session, [run.id], case.id))
    return CaseView(
        experiment_id=experiment.id,
        experiment=experiment.name,
        comparison=run.comparison.name,
        case_id=case.id,
        case=case.title,
        workload=case.workload,
        parameters=case.parameters,
        host=run.host.name,
        metrics=[row_view(run.comparison, run, case, m, boots, values) for m in case.metrics],
        points={m: [_point(boot, case, m, values) for boot in boots] for m in case.metrics},
        arms=arm_views(run.comparison, boots, emulated=run.host.emulated),
        emulated=run.host.emulated,
    )


def show_boot(session: Session, boot_id: int) -> BootView:
    """One boot with its proof and all it gave."""
    boot = repository.boot(session, boot_id)
    proof = boot.proof or {}
    return BootView(
        id=boot.id,
        experiment_id=boot.run.experiment_id,
        experiment=boot.run.experiment.name,
        comparison=boot.run.comparison.name,
        host=boot.run.host.name,
        emulated=boot.run.host.emulated,
        arm=boot.arm.name,
        mode=f"{boot.arm.family}/{boot.arm.mode}",
        block=boot.block,
        order=boot.place,
        attempt=boot.attempt,
        state=BootState(boot.state),
        reason=boot.reason,
        nonce=boot.nonce,
        kernel_boot_id=proof.get("boot_id"),
        kernel_release=proof.get("kernel_release"),
        build_id=proof.get("build_id"),
        cmdline=proof.get("cmdline"),
        tainted=proof.get("tainted"),
        microcode=proof.get("microcode"),
        expected=[Expectation.model_validate(e).describe() for e in boot.arm.expect],
        observed=boot.observed,
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


def list_events(
    session: Session, experiment_id: int, after: int = 0, limit: int = 500
) -> list[EventView]:
    """The event log from *after* on."""
    experiment = repository.experiment(session, experiment_id)
    hosts = {run.id: run.host.name for run in experiment.runs}
    return [
        event_view(event, hosts)
        for event in repository.events_after(session, experiment_id, after, limit)
    ]


def event_view(event: Event, hosts: Mapping[int, str]) -> EventView:
    """One event with its host's name."""
    host = hosts.get(event.run_id, "") if event.run_id else ""
    return EventView(
        id=event.id, run_id=event.run_id, host=host, at=event.at, kind=event.kind, text=event.text
    )


def headline(comparisons: Iterable[ComparisonView]) -> str:
    """The largest decided effect, in words; empty before there is one."""
    decided = [
        (abs(cell.effect_percent), cell, row, comparison)
        for comparison in comparisons
        for row in comparison.rows
        for cell in row.cells
        if row.primary
        and cell.effect_percent is not None
        and cell.verdict in (Verdict.BETTER, Verdict.WORSE)
    ]
    if not decided:
        return ""
    _, cell, row, comparison = max(decided, key=lambda entry: entry[0])
    arm = next(a.name for a in comparison.arms if a.id == cell.arm_id)
    effect = cell.effect_percent or 0.0
    sign = "\N{MINUS SIGN}" if effect < 0 else "+"
    return f"{row.case} on {row.host}: {arm} {sign}{abs(effect):.1f} %, {cell.verdict}"


def _by_experiment(session: Session, experiments: Sequence[Experiment]) -> dict[int, list[Boot]]:
    owner = {run.id: e.id for e in experiments for run in e.runs}
    grouped: dict[int, list[Boot]] = defaultdict(list)
    for boot in repository.boots_of(session, owner):
        grouped[owner[boot.run_id]].append(boot)
    return grouped


def _summary(experiment: Experiment, boots: Sequence[Boot], *, headline: str) -> dict[str, object]:
    done, total = _done_and_total(boots)
    return {
        "id": experiment.id,
        "name": experiment.name,
        "question": experiment.question,
        "state": ExperimentState(experiment.state),
        "emulated": any(run.host.emulated for run in experiment.runs),
        "hosts": list(dict.fromkeys(run.host.name for run in experiment.runs)),
        "created_at": experiment.created_at,
        "started_at": experiment.started_at,
        "finished_at": experiment.finished_at,
        "boots_done": done,
        "boots_total": total,
        "headline": headline,
    }


def _done_and_total(boots: Sequence[Boot]) -> tuple[int, int]:
    """Boots settled and boots there are; one that was made again counts once."""
    places = {(b.run_id, b.block, b.place): b.state for b in boots}
    settled = sum(state not in OPEN for state in places.values())
    return settled, len(places)


def _comparisons(
    experiment: Experiment, boots: Sequence[Boot], values: ValueMap
) -> list[ComparisonView]:
    views = []
    for comparison in experiment.comparisons:
        runs = [run for run in experiment.runs if run.comparison_id == comparison.id]
        own = {run.id for run in runs}
        views.append(
            comparison_view(comparison, runs, [b for b in boots if b.run_id in own], values)
        )
    return views


def _runs(session: Session, experiment: Experiment, boots: Sequence[Boot]) -> list[RunView]:
    now = database_now(session)
    return [
        _run_view(run, [b for b in boots if b.run_id == run.id], now) for run in experiment.runs
    ]


def _run_view(run: Run, boots: Sequence[Boot], now: datetime) -> RunView:
    done, total = _done_and_total(boots)
    current = next((b for b in boots if b.state in (BootState.BOOTING, BootState.MEASURING)), None)
    left = _remaining(run, boots, _boots_to_come(boots), current, now)
    faults = sum(b.state == BootState.LAB_FAULT for b in boots)
    faults += sum(len(result.lab_faults) for b in boots for result in b.results)
    return RunView(
        id=run.id,
        comparison=run.comparison.name,
        host=run.host.name,
        state=RunState(run.state),
        step=run.step,
        detail=_in_words(run, current),
        block=_block(boots, current),
        blocks=run.comparison.blocks,
        boots_done=done,
        boots_total=total,
        lab_faults=faults,
        error=run.error,
        started_at=run.started_at,
        finished_at=run.finished_at,
        seconds_left=left.seconds if left else None,
        seconds_left_low=left.low if left else None,
        seconds_left_high=left.high if left else None,
    )


def _boots_to_come(boots: Sequence[Boot]) -> int:
    """Boots that will still be made: an arm once found not effective is not booted again."""
    dropped = {boot.arm_id for boot in boots if boot.state == BootState.NOT_EFFECTIVE}
    return sum(boot.state in OPEN and boot.arm_id not in dropped for boot in boots)


def _block(boots: Sequence[Boot], current: Boot | None) -> int | None:
    """The block in hand; between two boots, that of the last one settled."""
    if current:
        return current.block
    settled = [boot.block for boot in boots if boot.state not in OPEN]
    return max(settled, default=None)


def _remaining(
    run: Run, boots: Sequence[Boot], boots_left: int, current: Boot | None, now: datetime
) -> Remaining | None:
    took = [
        (b.finished_at - b.started_at).total_seconds()
        for b in boots
        if b.state == BootState.EFFECTIVE and b.finished_at and b.started_at
    ]
    if run.state not in ("queued", "running"):
        return Remaining(0.0, 0.0, 0.0)
    since = (now - current.started_at).total_seconds() if current and current.started_at else 0.0
    return remaining(took, boots_left, since)


def _in_words(run: Run, current: Boot | None) -> str:
    if run.state != "running":
        return {"queued": "waiting for its host"}.get(run.state, run.state)
    if current is None:
        return {
            "prepare": "preparing the host",
            "restore": "restoring the host",
            "boot.arm": "writing the boot entry",
        }.get(run.step, "waiting")
    if current.state == BootState.BOOTING:
        doing = "verifying" if current.up_at else "booting"
        return f"{doing} {current.arm.name}"
    case = f": {current.job_detail}" if current.job_detail else ""
    return f"measuring {current.arm.name}{case}"


def _host_facts(experiment: Experiment, boots: Sequence[Boot]) -> dict[str, HostFacts]:
    facts: dict[str, HostFacts] = {}
    for run in experiment.runs:
        own = [b for b in boots if b.run_id == run.id and b.proof]
        releases = dict.fromkeys(str((b.proof or {}).get("kernel_release", "")) for b in own)
        known = facts.get(run.host.name)
        fingerprint = next((b.fingerprint.facts for b in own if b.fingerprint), {})
        facts[run.host.name] = HostFacts(
            name=run.host.name,
            host_class=run.host.host_class,
            emulated=run.host.emulated,
            processor=str(fingerprint.get("cpu_model") or ""),
            microcode=str(fingerprint.get("microcode") or ""),
            kernels=list(dict.fromkeys([*(known.kernels if known else []), *releases])),
            smt=str(fingerprint.get("smt") or ""),
            governor=str(fingerprint.get("governor") or ""),
        )
    return facts


def _point(boot: Boot, case: Case, metric: str, values: ValueMap) -> BootPoint:
    entry = values.get((boot.id, case.id, metric))
    iterations = entry.values if entry else []
    return BootPoint(
        boot_id=boot.id,
        block=boot.block,
        order=boot.place,
        arm_id=boot.arm_id,
        arm=boot.arm.name,
        state=BootState(boot.state),
        counts=boot.state == BootState.EFFECTIVE and bool(iterations),
        mean=sum(iterations) / len(iterations) if iterations else None,
        iterations=iterations,
        warmup=entry.warmup if entry else [],
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
    gathered: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for iteration in result.iterations:
        gathered[iteration.metric][0 if iteration.warmup else 1].append(iteration.value)
    return {
        name: MetricValues(
            unit=case.metrics[name]["unit"],
            direction=case.metrics[name]["direction"],
            warmup=warmup,
            values=values,
            mean=sum(values) / len(values),
        )
        for name, (warmup, values) in gathered.items()
        if values
    }
