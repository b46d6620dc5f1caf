"""From stored rows to what people see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy.orm import Session

from mitigauge.database import database_now
from mitigauge.experiments import repository
from mitigauge.experiments.boot_schemas import BootLine, WholeExperimentView
from mitigauge.experiments.boot_views import boot_head
from mitigauge.experiments.judging import ValueMap, value_map
from mitigauge.experiments.matrix import comparison_view
from mitigauge.experiments.run_views import done_and_total, run_view
from mitigauge.experiments.schemas import (
    ComparisonView,
    EventView,
    ExperimentSummary,
    ExperimentView,
    HostFacts,
    ProgressView,
    RunView,
)
from mitigauge.experiments.states import ExperimentState, RunState, Verdict
from mitigauge.experiments.tables import Boot, Event, Experiment


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
    comparisons = comparison_views(experiment, boots, values)
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
        values.setdefault(boot_id, {}).setdefault(case_id, {})[metric] = entry.counted
    return WholeExperimentView(
        **dict(view),
        boots=[
            BootLine(**boot_head(boot, runs[boot.run_id]), values=values.get(boot.id, {}))
            for boot in repository.boots_of(session, runs)
        ],
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
    done, total = done_and_total(boots)
    return {
        "id": experiment.id,
        "name": experiment.name,
        "question": experiment.question,
        "state": ExperimentState(experiment.state),
        "submitted_by": experiment.submitted_by,
        "emulated": any(run.host.emulated for run in experiment.runs),
        "hosts": list(dict.fromkeys(run.host.name for run in experiment.runs)),
        "created_at": experiment.created_at,
        "started_at": experiment.started_at,
        "finished_at": experiment.finished_at,
        "boots_done": done,
        "boots_total": total,
        "headline": headline,
    }


def comparison_views(
    experiment: Experiment, boots: Sequence[Boot], values: ValueMap
) -> list[ComparisonView]:
    """Every comparison of the experiment, judged from its *boots*."""
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
    return [run_view(run, [b for b in boots if b.run_id == run.id], now) for run in experiment.runs]


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
