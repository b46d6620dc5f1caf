"""Judging a run from what is stored of it, and storing what is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import repository as verdict_rows
from mitigauge.analysis.verdicts.cells import Cell, Missing, cells_of
from mitigauge.analysis.verdicts.judgement import (
    CaseQuestion,
    CountedBoot,
    Design,
    all_decided,
    judge_doubles,
    judge_run,
)
from mitigauge.analysis.verdicts.rebasing import ArmEvents, rebased_cells
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Comparison
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.results.repository import Mean
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.repository import BootLine
from mitigauge.measurement.runs.states import BootState, RunState
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import transaction


@dataclass(frozen=True, slots=True)
class Judgeable:
    """All that judging a run takes, as plain values."""

    design: Design
    asked: Sequence[CaseQuestion]
    boots: Sequence[BootLine]
    means: Sequence[Mean]
    ended: bool
    stopped_early: bool
    events: Mapping[int, ArmEvents] = field(default_factory=dict)
    """Of the arms, where events cost nothing."""

    @property
    def counted(self) -> list[CountedBoot]:
        """The boots that count."""
        return [
            CountedBoot(boot.id, boot.arm_id, boot.block)
            for boot in self.boots
            if boot.state == BootState.EFFECTIVE
        ]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of a run."""

    cells: Sequence[Cell]
    all_decided: bool
    is_of_knobs: bool = False
    """Of a factorial design, whose arms are no answers by themselves."""


def load(engine: Engine, run_id: int) -> Judgeable:
    """Read what judging the run takes, in one transaction that is over before it is judged."""
    with transaction(engine) as session:
        run = run_rows.run_line(session, run_id)
        comparison = experiment_rows.comparison(session, run.comparison_id)
        boots = run_rows.boot_lines(session, [run_id])
        counted = [boot.id for boot in boots if boot.state == BootState.EFFECTIVE]
        return Judgeable(
            design_of(comparison, emulated=run.host.emulated),
            [
                CaseQuestion(case.id, metric, declared)
                for case in comparison.cases
                for metric, declared in case.metrics.items()
            ],
            boots,
            result_rows.means_of(session, counted),
            ended=run.state == RunState.FINISHED,
            stopped_early=run.stopped_after is not None,
            events={
                arm.id: ArmEvents(arm.full_mode, frozenset(arm.events)) for arm in comparison.arms
            }
            if run.host.emulated
            else {},
        )


def judge(of: Judgeable) -> Judgement:
    """Judge a run; takes about a second for thousands of cases. Pure."""
    judged = judge_run(
        of.design,
        of.asked,
        of.counted,
        of.means,
        ended=of.ended,
        stopped_early=of.stopped_early,
    )
    cells = cells_of(judged, of.design, _missing(of.boots))
    return Judgement(cells, all_decided(judged, of.design), of.design.factorial)


def rebase(of: Judgeable) -> list[tuple[int, Cell]]:
    """What is said of a run's arms against each that is not the baseline, once it is over. Pure."""
    missing = _missing(of.boots)
    return list(rebased_cells(of.design, of.events, of.asked, of.counted, of.means, missing))


def store(session: Session, run: Run, judgement: Judgement, *, reason: str, over: bool) -> None:
    """Store what is said of the run; *over*: it is the last word unless something changes."""
    changed = verdict_rows.store_cells(session, run.id, judgement.cells, ended=over, reason=reason)
    if changed:
        run.verdict_changes += 1
        told = [] if judgement.is_of_knobs else verdict_rows.primary_verdicts(session, run.id)
        run.verdicts = told


def doubled_outcomes(of: Judgeable, run_id: int) -> list[dict[str, object]]:
    """Rows of :class:`AaOutcome` for the run's doubled baselines; none without one. Pure."""
    return [
        {
            "run_id": run_id,
            "case_id": asked.case_id,
            "metric": asked.metric,
            "slowed_percent": slowed_percent,
            "verdict": verdict.verdict or "undecided",
            "effect_percent": verdict.effect_percent,
            "p": verdict.p,
            "blocks": verdict.blocks,
        }
        for slowed_percent, asked, verdict in judge_doubles(
            of.design, of.asked, of.counted, of.means, ended=of.ended
        )
    ]


def design_of(comparison: Comparison, *, emulated: bool = False) -> Design:
    """The comparison's arms and budget as the statistics take them.

    *emulated*: by the host of its run, so that events of the hardware cost nothing.
    """
    return Design(
        [arm.id for arm in comparison.arms],
        next(arm.id for arm in comparison.arms if arm.is_baseline),
        comparison.blocks,
        {arm.id: arm.slowed_percent for arm in comparison.arms if arm.is_aa},
        comparison.layouts,
        frozenset(arm.id for arm in comparison.arms if arm.outdoes_baseline),
        comparison.factorial is not None,
        {arm.id: arm.uncounted for arm in comparison.arms} if emulated else {},
    )


def _missing(boots: Sequence[BootLine]) -> dict[int, Missing]:
    """Why arms have no values: that the mode was not in force, else the first reason there is."""
    found: dict[int, Missing] = {}
    for boot in boots:
        known = found.get(boot.arm_id)
        if boot.state == BootState.NOT_EFFECTIVE:
            if known is None or not known.not_effective:
                found[boot.arm_id] = Missing(not_effective=True, note=boot.reason)
        elif known is None or not (known.note or known.not_effective):
            found[boot.arm_id] = Missing(not_effective=False, note=boot.reason)
    return found
