"""The tournament of a study's variants: their kernels in several layouts, then an experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.jobs.states import JobState
from mitigauge.kernels.recipe import LAYOUTS, layout_named, layouts
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.submission import submit_text
from mitigauge.tracking.series.spec_files import spec_text
from mitigauge.tracking.studies import service
from mitigauge.tracking.studies.experiment_text import Timing, timing_of, timing_text
from mitigauge.tracking.studies.schemas import KernelSet, TimedVariants, VariantBuild, Variants
from mitigauge.tracking.studies.states import StudyState
from mitigauge.tracking.studies.tables import Study
from mitigauge.tracking.studies.variants import rivals_of
from pipelines.jobs.context import JobContext, JobDone
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order
from pipelines.series_run import counted_in

OrderOf = Callable[[Study, KernelSet], Order]


def planned(study: Study, body: Variants) -> TimedVariants | None:
    """Who is timed, and what has to be built for it.

    None where the series' spec has no tournament, or fewer than two variants are left. One that
    cannot be held says why in its *words*.
    """
    rivals = rivals_of(body.sets, body.variants)
    try:
        timing = _timing(study)
        if timing is None or len(rivals) < 2:
            return None
        several = layouts(timing.layouts)
        # Before hours of building, not after them.
        text = timing_text(timing, rivals, name=_name(study))
        check_text(text, name=_name(study), catalog=Catalog())
    except InvalidInput as error:
        return TimedVariants(words=f"nothing, {error}")
    names = [each.name for each in rivals]
    to_build = [VariantBuild(name=name, layout=each.name) for name in names for each in several]
    return TimedVariants(names=names, to_build=to_build)


def _timing(study: Study) -> Timing | None:
    """What the spec says, with as many layouts as blocks where it does not say how many."""
    spec = study.revision.series.spec
    timing = timing_of(spec_text(spec), f"{spec}.yml")
    if timing is None or timing.layouts:
        return timing
    is_counted = counted_in(timing.environment).issuperset(timing.comparison.get("hosts", []))
    # Alignment moves no counted time.
    several = 1 if is_counted else min(timing.blocks, len(LAYOUTS))
    return replace(timing, layouts=several)


def go_on(
    context: JobContext, number: int, body: Variants, timed: TimedVariants, *,
    builder: Builder, order_of: OrderOf,
) -> JobDone:  # fmt: skip
    """One build of it, its experiment, or what came of that."""
    if timed.to_build:
        _build(context, number, body, timed, builder, order_of)
        return JobDone()
    with context.transaction() as session:
        study = service.find(session, number)
        if not timed.experiment:
            return _submit(session, study, body, timed)
        if not run_rows.is_judged(session, timed.experiment):
            return JobDone(again_in_s=service.LOOK_S, idle=True)
        return _finish(session, study, body, timed, _result(session, timed.experiment))


def _build(
    context: JobContext, number: int, body: Variants, timed: TimedVariants, builder: Builder,
    order_of: OrderOf,
) -> None:  # fmt: skip
    """Build the next one; a variant of which one layout does not build is not timed."""
    [wanted, *left] = timed.to_build
    of = next(each for each in body.sets if each.name == wanted.name)
    what = f"kernel {of.name} in layout {wanted.layout}, {len(timed.to_build)} left"
    with context.transaction() as session:
        study = service.find(session, number)
        service.go_on(study, StudyState.BUILDING, what)
        order = replace(order_of(study, of), layout=layout_named(wanted.layout))
    context.progress(what)
    try:
        builder.build(order)
    except BuildFailed as error:
        lacking = f"{of.revision}: in layout {wanted.layout} it does not build: {error.message}"
        noted = TimedVariants(
            names=[name for name in timed.names if name != of.name],
            to_build=[each for each in left if each.name != of.name],
            lacking=[*timed.lacking, lacking[:500]],
        )
    else:
        noted = timed.model_copy(update={"to_build": left})
    with context.transaction() as session:
        study = service.find(session, number)
        study.body = body.model_copy(update={"timed": noted})


def _submit(session: Session, study: Study, body: Variants, timed: TimedVariants) -> JobDone:
    sets = [each for each in body.sets if each.name in timed.names]
    try:
        experiment = _submitted(session, study, sets)
    except InvalidInput as error:
        return _finish(session, study, body, timed, f"nothing, {error}")
    noted = timed.model_copy(update={"experiment": experiment})
    study.body = body.model_copy(update={"timed": noted})
    service.go_on(
        study, StudyState.MEASURING, f"experiment {experiment} times {len(sets)} variants"
    )
    return JobDone(again_in_s=service.LOOK_S)


def _name(study: Study) -> str:
    return f"study-{study.id}-timed"


def _submitted(session: Session, study: Study, sets: Sequence[KernelSet]) -> int:
    timing = _timing(study)
    if timing is None:
        raise InvalidInput("the spec has no tournament any more")
    if len(sets) < 2:
        raise InvalidInput("fewer than two variants build in all layouts")
    text = timing_text(timing, sets, name=_name(study))
    with session.begin_nested():
        return submit_text(session, text, name=_name(study), submitted_by=study.asked_by)


def _result(session: Session, number: int) -> str:
    experiment = session.get_one(Experiment, number)
    said = experiment.headline or "nothing came of it"
    if experiment.state is not ExperimentState.FINISHED:
        said = f"{experiment.state}; {said}"
    runs = run_rows.runs_of(session, number)
    if any(run.clock is Clock.COUNTED for run in runs):
        return f"{said} (emulated, time counts instructions)"
    return f"{said} (emulated)" if any(run.host.emulated for run in runs) else said


def _finish(
    session: Session, study: Study, body: Variants, timed: TimedVariants, words: str
) -> JobDone:
    noted = timed.model_copy(update={"words": words})
    study.body = body.model_copy(update={"timed": noted})
    service.finish(session, study)
    return JobDone(state=JobState.DONE)
