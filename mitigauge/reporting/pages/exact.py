"""Exact counts of an experiment's cases, compared."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from sqlalchemy.orm import Session

from mitigauge.analysis.prices.processors import processors_of
from mitigauge.analysis.prices.repository import held_by_processor
from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.counted_group import CountedGroup
from mitigauge.analysis.profiles.exact.repository import CaseInArm
from mitigauge.analysis.profiles.exact.schemas import ExactTable
from mitigauge.analysis.profiles.exact.stored_counts import counted_of
from mitigauge.analysis.profiles.exact.table import PriceList, exact_table
from mitigauge.core.documents.paths import exact_path
from mitigauge.kernels import renames
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.pages import profile_repository
from mitigauge.reporting.pages.profiles import PlannedArm, label_of, planned_arms


def exact_difference(
    session: Session, a: Selection, b: Selection, *, function: str = ""
) -> ExactTable:
    """Both selections by exact counts, with the instructions of *function*.

    They may be of other experiments and hosts, but of one workload with the same parameters; else
    :class:`InvalidInput`. Where one has no counts, the answer says why.
    """
    one, other = planned_arms(session, a, b)
    return exact_table(
        one.planned.case.title,
        _group(session, one, a, b),
        _group(session, other, b, a),
        renamed=renames.between(session, one.arm.kernel, other.arm.kernel),
        function=function,
        prices=replace(price_list(), held=held_by_processor(session)),
    )


@cache
def price_list() -> PriceList:
    """The events and processors that come with the project."""
    catalog = Catalog()
    return PriceList(catalog.events, processors_of(catalog))


def counted_groups(
    session: Session, a: Selection, b: Selection
) -> tuple[CountedGroup, CountedGroup]:
    """The counted boots of both selections. Raises what :func:`exact_difference` raises."""
    one, other = planned_arms(session, a, b)
    return _group(session, one, a, b), _group(session, other, b, a)


def _group(session: Session, asked: PlannedArm, of: Selection, other: Selection) -> CountedGroup:
    counts = profile_repository.counts_of_arm(
        session,
        case_id=asked.planned.case.id,
        arm_id=asked.arm.id,
        run_id=asked.planned.run.id,
    )
    place = CaseInArm(asked.planned.run.id, asked.planned.case.id, asked.arm.id)
    told = [count.id for count in counts if count.instructions is not None]
    return CountedGroup(
        label=label_of(of, other),
        of=of,
        counted=counted_of(session, place, told) if told else None,
        missing=[count.detail for count in counts if count.detail],
    )


def first_difference(session: Session, experiment_id: int) -> str | None:
    """The page of the first exact difference of an experiment; None where it has none."""
    found = profile_repository.first_counted_pair(session, experiment_id)
    return None if found is None else exact_path(experiment_id, **found)
