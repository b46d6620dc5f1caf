"""Which cases of a revision's spec are measured, by what each is known to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.coverage import Reach, ReachPlan
from mitigauge.analysis.profiles.exact.names import NAMES_SHOWN
from mitigauge.analysis.profiles.exact.reach import plan
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.catalog import Catalog
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.series.case_choice import MOST_CHANGED, CaseChoice, CaseReach
from mitigauge.tracking.series.spec_cases import (
    KernelComparison,
    SpecCase,
    kernel_comparisons,
    without_cases,
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """*text*: the spec with what is measured; empty: nothing is. *choices*: why."""

    text: str
    choices: list[CaseChoice]


def choose(session: Session, text: str, kernels: Mapping[str, Kernel], blobs: BlobStore) -> Chosen:
    """Leave out the cases that are known to run nothing of what differs between the kernels.

    Of comparisons of kernels in one mode; *kernels*: by release. A comparison with a kernel that
    is none of these stays as it is.
    """
    workloads = Catalog().workloads
    plans = {
        comparison.name: _plan(session, comparison, kernels, blobs)
        for comparison in kernel_comparisons(text, workloads)
        if set(comparison.kernels) <= set(kernels)
    }
    choices = [choice_of(name, plan) for name, plan in plans.items()]
    left_out = {name: plan.left_out for name, plan in plans.items() if plan.left_out}
    kept = without_cases(text, left_out, workloads) if left_out else text
    return Chosen(kept, choices)


def _plan(
    session: Session,
    comparison: KernelComparison,
    kernels: Mapping[str, Kernel],
    blobs: BlobStore,
) -> ReachPlan[SpecCase]:
    compared = [kernels[each] for each in comparison.kernels]
    return plan(session, compared, comparison.cases, blobs)


def choice_of(comparison: str, plan: ReachPlan[SpecCase]) -> CaseChoice:
    """A plan as it is stored; its names, which patches chose, are bounded and cleaned."""
    return CaseChoice(
        comparison=comparison,
        changed=[clean_text(name) for name in plan.functions[:MOST_CHANGED]],
        changed_count=len(plan.functions),
        objects=[clean_text(name) for name in plan.objects[:MOST_CHANGED]],
        object_count=len(plan.objects),
        measured=[_reach(case, plan.reach[case]) for case in plan.measured],
        left_out=[_reach(case, plan.reach[case]) for case in plan.left_out],
    )


def _reach(case: SpecCase, reach: Reach) -> CaseReach:
    known = reach.coverage
    runs = reach.functions
    return CaseReach(
        case=case.title,
        runs=None if runs is None else [clean_text(name) for name in runs[:NAMES_SHOWN]],
        why=clean_text(reach.why_open),
        kernel=known.kernel if known else "",
        counted_at=known.at if known else None,
    )
