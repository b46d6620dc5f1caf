"""Experiments as people see them, from rows that were written to be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import repository as verdict_rows
from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.core.natural_order import natural_order
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.filter import ExperimentFilter
from mitigauge.measurement.experiments.tables import Event, Experiment
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import count_repository as run_counts
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.count_repository import BootCounts
from mitigauge.measurement.runs.ending import is_judged
from mitigauge.measurement.runs.host_time_repository import host_times
from mitigauge.measurement.runs.states import RunState
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.boot import boot_head
from mitigauge.reporting.pages.boot_schemas import BootLine, WholeExperimentView
from mitigauge.reporting.pages.experiment_list import page_of
from mitigauge.reporting.pages.experiment_list_repository import CHOICES, NEWEST, summaries_asked
from mitigauge.reporting.pages.limits import PAGE_SIZE
from mitigauge.reporting.pages.matrix import StoredCells, arm_views, rows_of
from mitigauge.reporting.pages.runs import run_view
from mitigauge.reporting.pages.schemas import (
    ComparisonHead,
    ComparisonView,
    EventView,
    ExperimentChoices,
    ExperimentHead,
    ExperimentPage,
    ExperimentSummary,
    ExperimentView,
    HostFacts,
    MatrixView,
    ProgressView,
    Recorded,
    RunView,
)
from mitigauge.storage.database.engine import database_now, driver_rows


def list_experiments(
    session: Session,
    wanted: ExperimentFilter | None = None,
    *,
    before: int | None = None,
    offset: int = 0,
    limit: int = PAGE_SIZE,
) -> ExperimentPage:
    """A page of experiments, newest first: those with an id below *before*, if it is given."""
    wanted = wanted or ExperimentFilter()
    statement, given = summaries_asked(wanted, before=before, offset=offset, limit=limit + 1)
    rows = driver_rows(session, statement, given)
    return page_of(rows, wanted, offset=offset, limit=limit)


def list_choices(session: Session) -> ExperimentChoices:
    """What experiments can be filtered by."""
    (row,) = driver_rows(session, CHOICES)
    return ExperimentChoices(
        **{name: sorted(words, key=natural_order) for name, words in row.items()}
    )


def newest_of_all(session: Session) -> Hashable:
    """Another value after every change of what experiments can be filtered by."""
    (row,) = driver_rows(session, NEWEST)
    return tuple(row.values())


def summaries(session: Session, experiments: Sequence[Experiment]) -> list[ExperimentSummary]:
    """One line for each experiment."""
    ids = [experiment.id for experiment in experiments]
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in run_rows.runs_of(session, *ids):
        runs[run.experiment_id].append(run)
    counts = run_counts.boot_counts(session, ids)
    return [
        ExperimentSummary(**_summary(e, runs[e.id], counts.get(e.id, BootCounts())))
        for e in experiments
    ]


def show_head(session: Session, experiment_id: int) -> ExperimentHead:
    """One experiment with runs and arms, without its matrices."""
    experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
    return _head(session, experiment, run_rows.runs_of(session, experiment_id))


def show_matrix(session: Session, experiment_id: int) -> MatrixView:
    """Every matrix of the experiment."""
    experiment = experiment_rows.experiment(session, experiment_id)
    runs = run_rows.runs_of(session, experiment_id)
    return MatrixView(experiment_id=experiment_id, rows=_rows(session, experiment, runs))


def matrix_changes(session: Session, experiment_id: int) -> int:
    """A number that grows with every change of the experiment's matrices.

    Raises :class:`NotFound` where there is no such experiment.
    """
    return run_rows.verdict_changes(session, experiment_id)


def stamp_once_over(session: Session, experiment_id: int) -> Hashable | None:
    """Another value after every change of what the head and the progress show.

    None while the experiment goes on: the time that is left changes by itself. Raises
    :class:`NotFound` where there is no such experiment.
    """
    experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
    if experiment.finished_at is None or experiment.concluded_at is None:
        return None
    last_event = experiment_rows.last_event_id(session, experiment_id)
    return run_rows.stamp(session, experiment_id), last_event


def show_experiment(session: Session, experiment_id: int) -> ExperimentView:
    """One experiment with its matrices."""
    return _view(session, experiment_id, run_rows.runs_of(session, experiment_id))


def show_rebased(session: Session, experiment_id: int, baseline: str) -> ExperimentView:
    """The matrices with the arm of that name in the baseline's place, where a comparison has it.

    Raises :class:`InvalidInput` where none has it, and where no run that is over was judged so.
    """
    runs = run_rows.runs_of(session, experiment_id)
    experiment = experiment_rows.experiment(session, experiment_id)
    chosen = {
        comparison.id: arm.id
        for comparison in experiment.comparisons
        for arm in comparison.arms
        if arm.name == baseline and not arm.is_aa
    }
    if not chosen:
        names = dict.fromkeys(
            arm.name for of in experiment.comparisons for arm in of.arms if not arm.is_aa
        )
        raise InvalidInput(
            f"experiment {experiment_id} has no arm {ascii(baseline)[:80]}",
            hint=f"Its arms are {', '.join(names)}.",
        )
    run_ids = [run.id for run in runs]
    planned = StoredCells(verdict_rows.current_of(session, run_ids), [])
    rebased = StoredCells(verdict_rows.rebased_of(session, run_ids, chosen.values()), [])
    head = _head(session, experiment, runs)
    comparisons = []
    for view, of in zip(head.comparisons, experiment.comparisons, strict=True):
        if of.id not in chosen:
            continue
        own = [run for run in runs if run.comparison_id == of.id]
        is_planned = any(arm.is_baseline and arm.id == chosen[of.id] for arm in of.arms)
        rows = rows_of(of, own, planned if is_planned else rebased)
        arms = [
            arm.model_copy(update={"is_baseline": arm.id == chosen[of.id]})
            for arm in view.arms
            if not arm.is_aa
        ]
        shown = {arm.id for arm in arms}
        for row in rows:
            row.cells = [cell for cell in row.cells if cell.arm_id in shown]
        comparisons.append(
            ComparisonView(**{**dict(view), "arms": arms}, rows=rows, is_rebased=not is_planned)
        )
    return ExperimentView(
        **{**dict(head), "comparisons": comparisons},
        chosen_baseline=baseline if any(each.is_rebased for each in comparisons) else "",
    )


def show_whole(
    session: Session, experiment_id: int, *, most: int | None = None
) -> WholeExperimentView:
    """One experiment with each of its boots and their values.

    Raises :class:`InvalidInput` where it has more than *most* rows of values.
    """
    planned = run_rows.runs_of(session, experiment_id)
    runs = {run.id: run for run in planned}
    boots = run_rows.boots_of(session, runs)
    if most is not None:
        _require_few_values(session, experiment_id, [boot.id for boot in boots], most)
    view = _view(session, experiment_id, planned)
    values: dict[int, dict[int, dict[str, list[float]]]] = {}
    for of in result_rows.measurements_of(session, [boot.id for boot in boots]):
        values.setdefault(of.boot_id, {}).setdefault(of.case_id, {})[of.metric] = of.counted
    return WholeExperimentView(
        **dict(view),
        boots=[
            BootLine(**boot_head(boot, runs[boot.run_id]), values=values.get(boot.id, {}))
            for boot in boots
        ],
    )


def _require_few_values(
    session: Session, experiment_id: int, boot_ids: Sequence[int], most: int
) -> None:
    """Refuse before anything is read what no answer could hold."""
    if result_rows.has_more_measurements(session, boot_ids, most):
        raise InvalidInput(
            f"experiment {experiment_id} has more than {most} rows of values, too many for one "
            "answer",
            hint=f"`mitigauge experiment iterations {experiment_id}` or /api/experiments/"
            f"{experiment_id}/iterations.jsonl gives them piece by piece.",
        )


def show_progress(session: Session, experiment_id: int) -> ProgressView:
    """Where the experiment is right now."""
    experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
    runs = _runs(session, run_rows.runs_of(session, experiment_id))
    left = [r.seconds_left for r in runs if r.state in (RunState.QUEUED, RunState.RUNNING)]
    known = [seconds for seconds in left if seconds is not None]
    return ProgressView(
        experiment_id=experiment.id,
        state=experiment.state,
        runs=runs,
        boots_done=sum(r.boots_done for r in runs),
        boots_left_out=sum(r.boots_left_out for r in runs),
        boots_total=sum(r.boots_total for r in runs),
        # Hosts run side by side, so the slowest one ends it.
        seconds_left=max(known) if known and len(known) == len(left) else None,
        last_event_id=experiment_rows.last_event_id(session, experiment_id),
        is_over=is_judged(experiment, runs),
    )


def list_events(
    session: Session, experiment_id: int, after: int = 0, limit: int = 500
) -> list[EventView]:
    """The event log from *after* on."""
    experiment_rows.experiment(session, experiment_id, with_cases=False)
    hosts = {run.id: run.host.name for run in run_rows.runs_of(session, experiment_id)}
    return [
        event_view(event, hosts)
        for event in experiment_rows.events_after(session, experiment_id, after, limit)
    ]


def event_view(event: Event, hosts: Mapping[int, str]) -> EventView:
    """One event with its host's name."""
    host = hosts.get(event.run_id, "") if event.run_id else ""
    return EventView(
        id=event.id, run_id=event.run_id, host=host, at=event.at, kind=event.kind, text=event.text
    )


def _summary(experiment: Experiment, runs: Sequence[Run], boots: BootCounts) -> dict[str, Any]:
    return {
        "id": experiment.id,
        "name": experiment.name,
        "question": experiment.question,
        "state": experiment.state,
        "submitted_by": experiment.submitted_by,
        "emulated": any(run.host.emulated for run in runs),
        "counted": any(run.clock == Clock.COUNTED for run in runs),
        "hosts": list(dict.fromkeys(run.host.name for run in runs)),
        "created_at": experiment.created_at,
        "started_at": experiment.started_at,
        "finished_at": experiment.finished_at,
        "boots_done": boots.taken,
        "boots_left_out": boots.left_out,
        "boots_total": boots.planned,
        "headline": experiment.headline,
        "worst_effect_percent": experiment.worst_effect_percent,
        "worst_bound": experiment.worst_bound,
        "recorded": _recorded(experiment),
    }


def _recorded(experiment: Experiment) -> Recorded | None:
    if experiment.recorded_at is None:
        return None
    return Recorded(at=experiment.recorded_at, host=experiment.recorded_from or "")


def _view(session: Session, experiment_id: int, runs: Sequence[Run]) -> ExperimentView:
    experiment = experiment_rows.experiment(session, experiment_id)
    head, rows = _head(session, experiment, runs), _rows(session, experiment, runs)
    comparisons = [ComparisonView(**dict(of), rows=rows[of.id]) for of in head.comparisons]
    return ExperimentView(**{**dict(head), "comparisons": comparisons})


def _head(session: Session, experiment: Experiment, runs: Sequence[Run]) -> ExperimentHead:
    shown = _runs(session, runs)
    boots = BootCounts(
        sum(r.boots_total for r in shown),
        sum(r.boots_done for r in shown),
        sum(r.boots_left_out for r in shown),
    )
    return ExperimentHead(
        **_summary(experiment, runs, boots),
        environment=experiment.environment,
        seed=experiment.seed,
        spec_text=experiment.spec_text,
        comparisons=_comparisons(session, experiment, runs),
        runs=shown,
        host_facts=_host_facts(session, runs),
    )


def _comparisons(
    session: Session, experiment: Experiment, planned: Sequence[Run]
) -> list[ComparisonHead]:
    run_ids = [run.id for run in planned]
    states = run_counts.states_by_arm(session, run_ids)
    observed = run_counts.observed_by_arm(session, run_ids)
    views = []
    for comparison in experiment.comparisons:
        runs = [run for run in planned if run.comparison_id == comparison.id]
        emulated = any(run.host.emulated for run in runs)
        families = dict.fromkeys(arm.family_title for arm in comparison.arms)
        views.append(
            ComparisonHead(
                id=comparison.id,
                name=comparison.name,
                family_title=" and ".join(families),
                hosts=[run.host.name for run in runs],
                arms=arm_views(comparison, states, observed, emulated=emulated),
                emulated=emulated,
                counted=any(run.clock == Clock.COUNTED for run in runs),
                factorial=comparison.factorial is not None,
            )
        )
    return views


def _rows(session: Session, experiment: Experiment, planned: Sequence[Run]) -> dict[int, Any]:
    run_ids = [run.id for run in planned]
    cells = StoredCells(
        verdict_rows.current_of(session, run_ids), verdict_rows.earlier_of(session, run_ids)
    )
    return {
        comparison.id: rows_of(
            comparison, [run for run in planned if run.comparison_id == comparison.id], cells
        )
        for comparison in experiment.comparisons
    }


def _runs(session: Session, runs: Sequence[Run]) -> list[RunView]:
    now = database_now(session)
    run_ids = [run.id for run in runs]
    counts = run_counts.run_counts(session, run_ids)
    current = run_counts.current_boots(session, run_ids)
    times = host_times(session, run_ids)
    return [
        run_view(run, counts[run.id], current.get(run.id), now, times.get(run.id)) for run in runs
    ]


def _host_facts(session: Session, runs: Sequence[Run]) -> dict[str, HostFacts]:
    run_ids = [run.id for run in runs]
    facts = run_counts.first_facts(session, run_ids)
    kernels = run_counts.kernels_by_run(session, run_ids)
    found: dict[str, HostFacts] = {}
    for run in runs:
        known, fingerprint = found.get(run.host.name), facts.get(run.id, {})
        releases = [*(known.kernels if known else []), *kernels.get(run.id, [])]
        found[run.host.name] = HostFacts(
            name=run.host.name,
            host_class=run.host.host_class,
            emulated=run.host.emulated,
            clock=run.clock,
            processor=str(fingerprint.get("cpu_model") or ""),
            microcode=str(fingerprint.get("microcode") or ""),
            kernels=list(dict.fromkeys(releases)),
            governor=str(fingerprint.get("governor") or ""),
        )
    return found
