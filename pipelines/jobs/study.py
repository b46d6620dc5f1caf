"""Studies of a revision: a kernel, an experiment, or an answer at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput
from mitigauge.jobs.states import JobState
from mitigauge.jobs.tables import Job
from mitigauge.kernels.repository import of_releases
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.submission import submit_text
from mitigauge.measurement.selection.cells import cells_of, selection_spec
from mitigauge.measurement.selection.documentation import (
    MOST_BYTES,
    PARAMETERS,
    Documentation,
    page_file,
)
from mitigauge.measurement.selection.findings import findings, grouped
from mitigauge.measurement.selection.views import selection_cells
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.series import service as series_service
from mitigauge.tracking.series.kept_profile import keep_profile
from mitigauge.tracking.series.spec_files import spec_text
from mitigauge.tracking.series.tables import SeriesRevision
from mitigauge.tracking.studies import counts, repository, service
from mitigauge.tracking.studies.costs import (
    interactions_of,
    more_sets,
    rows_of,
    with_others,
)
from mitigauge.tracking.studies.experiment_text import BASE, BEFORE, counting_of, counting_text
from mitigauge.tracking.studies.kernel_sets import booted, is_open, set_of, touched
from mitigauge.tracking.studies.schemas import (
    Body,
    CountedKernels,
    KernelSet,
    PatchCosts,
    SelectionGroup,
    Selections,
    Variants,
)
from mitigauge.tracking.studies.states import ENDED, StudyState
from mitigauge.tracking.studies.tables import Study
from mitigauge.tracking.studies.variants import rankings_of, variants_of
from pipelines.adapters.selection_machine import image_of
from pipelines.jobs.builders import builder_of
from pipelines.jobs.context import JobContext, JobDone
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order
from pipelines.selection_run import boot_cells
from pipelines.series_run import base_of, counted_hosts, hosts_in

# Kernels are built one after the other, and hosts may be busy with others.
LIMIT_S = 14 * 86_400.0
LOOK_S = 10.0
# So many kernels are booted while others are built; each experiment begins with minutes of
# preparing its host.
AHEAD = 4
# Experiments that may fail over one kernel.
MOST_TRIES = 2


@dataclass(frozen=True)
class StudyRunner:
    """Takes studies on."""

    builder: Callable[[JobContext], Builder] = builder_of
    limit_s: float = LIMIT_S

    def go_on(self, context: JobContext) -> JobDone:
        """One thing of it."""
        number = int(context.job.subject)
        with context.transaction() as session:
            study = service.find(session, number)
            body, state = study.body, study.state
        if state in ENDED:
            return JobDone(state=JobState.DONE)
        if isinstance(body, Selections):
            return self._select(context, number, body)
        return self._count(context, number, body)

    def put_off(self, session: Session, job: Job, why: str) -> None:
        """The study says why it waits."""
        study = service.find(session, int(job.subject))
        if study.state not in ENDED:
            study.why = why[: service.LONGEST_WHY]

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        """The study, and the experiment that it waits for, end with it."""
        study = repository.whole(session, int(job.subject))
        if study is not None:
            ended = StudyState.CANCELLED if state is JobState.CANCELLED else StudyState.FAILED
            service.end(session, study, ended, why)

    def _count(self, context: JobContext, number: int, body: PatchCosts | Variants) -> JobDone:
        if isinstance(body, PatchCosts) and body.warnings is None:
            self._look_for_warnings(context, number, body)
            return JobDone()
        if body.sets[0].skipped:
            first = body.sets[0].revision or "the base"
            raise InvalidInput(f"{first} has no kernel: {body.sets[0].skipped}")
        open_sets = [each for each in body.sets if is_open(each)]
        with context.transaction() as session:
            study = service.find(session, number)
            went_on = goes_on = _is_measuring(session, body)
            if not goes_on:
                goes_on = _submit(session, study, body, at_least=AHEAD if open_sets else 1)
                if not goes_on and not open_sets:
                    return _take_in(session, study, body, self.builder(context))
            elif not open_sets and study.state is not StudyState.MEASURING:
                why = f"experiment {body.experiments[-1]} goes on; all kernels are built"
                service.go_on(study, StudyState.MEASURING, why)
        if not open_sets:
            return JobDone(again_in_s=LOOK_S, idle=went_on)
        beside = " to build; hosts count others" if goes_on else ""
        what = f"kernel {open_sets[0].name}, {len(open_sets)} left{beside}"
        self._build(context, number, open_sets[0], what)
        return JobDone()

    def _look_for_warnings(self, context: JobContext, number: int, body: PatchCosts) -> None:
        """What the compiler says of each patch; nothing where the base itself does not build."""
        builder = self.builder(context)
        every = KernelSet(name="all", patches=max((each.patches for each in body.sets), key=len))
        with context.transaction() as session:
            study = service.find(session, number)
            service.go_on(study, StudyState.BUILDING, "the compiler's warnings about each patch")
            order = _order(study.revision, every, builder)
        context.progress("warnings")
        try:
            found = builder.new_warnings(order)
        except BuildFailed:
            found = []
        with context.transaction() as session:
            study = service.find(session, number)
            study.body = body.model_copy(update={"warnings": found})

    def _select(self, context: JobContext, number: int, body: Selections) -> JobDone:
        missing = next((each for each in body.kernels if is_open(each)), None)
        if missing is not None:
            self._build(context, number, missing, f"kernel {missing.name}")
            return JobDone()
        lacking = [each for each in body.kernels if each.skipped]
        if lacking:
            raise InvalidInput(f"{lacking[0].name} has no kernel: {lacking[0].skipped}")
        spec = selection_spec(body.spec)
        cells = cells_of(spec, [each.release for each in body.kernels])
        # What may fail is read before hundreds of boots, not after them.
        documents = self._documentation(context, number, body, spec.page)

        def heard(done: int) -> None:
            context.require_wanted()
            context.progress(f"boot {done + 1} of {len(cells)}")

        with context.transaction() as session:
            service.go_on(
                service.find(session, number), StudyState.MEASURING,
                f"{len(cells)} boots of emulated processors",
            )  # fmt: skip
        with tempfile.TemporaryDirectory() as made:
            images = self._images(context, body, Path(made))
            matrix = boot_cells(spec, cells, images, Path(made), heard=heard)
        found = findings(spec, matrix, documents)
        whole = body.model_copy(
            update={
                "asked": len(cells),
                "cells": selection_cells(spec, matrix, found),
                "groups": [
                    SelectionGroup(
                        finding=kind, kernel=each[0].cell.kernel, why=why,
                        cells=[f"{one.cell}" for one in each],
                    )
                    for kind, why, each in grouped(found)
                ],
            }
        )  # fmt: skip
        with context.transaction() as session:
            study = service.find(session, number)
            study.body = whole
            service.finish(session, study)
        return JobDone(state=JobState.DONE, why=f"{len(cells)} cells")

    def _documentation(
        self, context: JobContext, number: int, body: Selections, page: str
    ) -> dict[str, Documentation]:
        """Release → what of its documentation its source has."""
        builder = self.builder(context)
        with context.transaction() as session:
            revision = service.find(session, number).revision
            orders = [(each.release, _order(revision, each, builder)) for each in body.kernels]

        def text_of(order: Order, file: str) -> str:
            return builder.file_of(order, file, MOST_BYTES) or ""

        return {
            release: Documentation(
                parameters=text_of(order, PARAMETERS),
                page=text_of(order, page_file(page)) if page else "",
            )
            for release, order in orders
        }

    def _images(self, context: JobContext, body: Selections, made: Path) -> dict[str, Path]:
        blobs = self.builder(context).blobs
        with context.transaction() as session:
            found = of_releases(session, [each.release for each in body.kernels])
            packages = {str(each.release): each.package_sha256 for each in found}
        return {
            release: image_of(blobs.read(package), release, made)
            for release, package in packages.items()
            if package is not None
        }

    def _build(self, context: JobContext, number: int, wanted: KernelSet, what: str) -> None:
        """Build a set's kernel and note it; or why there is none."""
        builder = self.builder(context)
        with context.transaction() as session:
            study = service.find(session, number)
            service.go_on(study, StudyState.BUILDING, what)
            order = _order(study.revision, wanted, builder)
        context.progress(what)
        try:
            built = builder.build(order)
        except BuildFailed as error:
            noted = wanted.model_copy(update={"skipped": f"does not build: {error.message}"[:500]})
        else:
            with context.transaction() as session:
                kernel = session.get_one(Kernel, built)
                noted = wanted.model_copy(
                    update={"release": kernel.release, "content": kernel.content_digest or ""}
                )
        with context.transaction() as session:
            study = service.find(session, number)
            study.body = _with_set(study.body, noted)


def _with_set(body: Body, noted: KernelSet) -> Body:
    field = "sets" if isinstance(body, CountedKernels) else "kernels"
    sets = [noted if each.name == noted.name else each for each in getattr(body, field)]
    return body.model_copy(update={field: sets})


def _order(revision: SeriesRevision, wanted: KernelSet, builder: Builder) -> Order:
    series = revision.series
    profile = keep_profile(series, hosts_in(spec_text(series.spec)), builder.blobs)
    if wanted.revision:
        revision = next(each for each in series.revisions if each.label == wanted.revision)
    patches = series_service.patches_of(revision, builder.blobs)
    of = wanted.name if wanted.revision else f"{revision.label}-{wanted.name}"
    return Order(
        base_of(revision), profile,
        [patches[place - 1] for place in wanted.patches],
        label=f"{series.name}-{of}"[:60], loose=series.loose,
    )  # fmt: skip


def _is_measuring(session: Session, body: PatchCosts | Variants) -> bool:
    """Whether its last experiment goes on: there is one at a time."""
    return bool(body.experiments) and not run_rows.is_judged(session, body.experiments[-1])


def _submit(session: Session, study: Study, body: PatchCosts | Variants, *, at_least: int) -> bool:
    """Submit the experiment over kernels that none of its experiments booted.

    Those of one that failed (a host that could not be prepared) are in another one. A comparison
    has two arms: beside a single kernel one that was booted already. False, and no experiment,
    where fewer than *at_least* are left.
    """
    series = study.revision.series
    text, name = spec_text(series.spec), f"{series.spec}.yml"
    # Variants are compared where the series' own mode is in force, as revisions are.
    against = BASE if isinstance(body, PatchCosts) else BEFORE
    counting = counting_of(text, name, counted_hosts(text), Catalog().workloads, against=against)
    tried = repository.tried_kernels(session, body.experiments, MOST_TRIES)
    every = booted(body.sets)
    sets = [each for each in every if each.release not in tried]
    if len(sets) < at_least or len(every) < 2:
        return False
    if len(sets) == 1:
        sets = [*every[:1], *sets]
    label = f"study-{study.id}-{len(body.experiments) + 1}"
    experiment = submit_text(
        session, counting_text(counting, sets, name=label), name=label,
        submitted_by=study.asked_by,
    )  # fmt: skip
    study.body = body.model_copy(
        update={"mode": counting.mode, "experiments": [*body.experiments, experiment]}
    )
    why = f"experiment {experiment} counts {len(sets)} kernels"
    service.go_on(study, StudyState.MEASURING, why)
    return True


def _take_in(
    session: Session, study: Study, body: PatchCosts | Variants, builder: Builder
) -> JobDone:
    """Work out what was asked; or order more kernels."""
    read = counts.Counts(session, body, builder.blobs)
    if isinstance(body, Variants):
        titles = {each.label: each.title for each in study.revision.series.revisions}
        variants = variants_of(body.sets, titles, read.costs)
        rankings = rankings_of(body.sets, variants, read.costs)
        study.body = body.model_copy(update={"variants": variants, "rankings": rankings})
        service.finish(session, study)
        return JobDone(state=JobState.DONE)
    return _take_in_costs(session, study, body, read, builder.blobs)


def _take_in_costs(
    session: Session, study: Study, body: PatchCosts, read: counts.Counts, blobs: BlobStore
) -> JobDone:
    """Work out what each patch costs; or order the kernels of two patches that interact."""
    rows = rows_of(body.sets, _titles(study), read.costs, read.changed, read.size)
    texts = series_service.patches_of(study.revision, blobs)
    patches = [
        touched(patch.files, each.text)
        for patch, each in zip(study.revision.patches, texts, strict=True)
    ]
    more = more_sets(rows, body.sets, patches, read.changed, read.alike)
    if more:
        study.body = body.model_copy(update={"sets": [*body.sets, *more]})
        service.go_on(study, StudyState.BUILDING, f"{len(more)} more kernels")
        return JobDone()
    whole = [each for each in body.sets if len(each.patches) == len(study.revision.patches)]
    base = set_of(body.sets, [])
    study.body = body.model_copy(
        update={
            "rows": rows,
            "interactions": with_others(
                interactions_of(rows), body.sets, read.costs, read.changed, read.alike
            ),
            "whole": read.costs(base, whole[0]) if base and whole and whole[0].release else [],
        }
    )
    service.finish(session, study)
    return JobDone(state=JobState.DONE)


def _titles(study: Study) -> list[str]:
    return [patch.title for patch in study.revision.patches]
