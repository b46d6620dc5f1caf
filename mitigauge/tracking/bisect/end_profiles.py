"""In which functions the ends differ, and how much of the difference each makes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.compare import (
    FunctionDiff,
    bases_of,
    diff_functions,
    with_names,
)
from mitigauge.analysis.profiles.diff.service import boot_profile, renamed_symbols
from mitigauge.analysis.profiles.store.functions import KERNEL_MARK
from mitigauge.analysis.profiles.store.repository import names_of
from mitigauge.kernels import renames
from mitigauge.tracking.bisect import repository
from mitigauge.tracking.bisect.question import arm_name
from mitigauge.tracking.bisect.tables import Bisection, BisectionStep

SIGNIFICANT_Q = 0.05
MOST_FUNCTIONS = 200


def shares_of(session: Session, bisection: Bisection, step: BisectionStep) -> dict[str, float]:
    """Function → its share (0…1) of the difference between both ends' profiles in *step*.

    Of functions whose own cost differs significantly (q ≤ 0.05), the largest ones. Empty where no
    function does, or where an end has no profile.
    """
    first, last = 0, len(bisection.candidates)
    sides = [
        repository.profiles_of(session, step.experiment_id, step.case_id, arm_name(point))
        for point in (first, last)
    ]
    before, after = ([boot_profile(profile) for profile in side] for side in sides)
    trees = {(profile.tree_id, profile.event) for side in sides for profile in side}
    if not before or not after or len(trees) != 1:
        return {}
    releases = [_release(bisection, point) for point in (first, last)]
    renamed = renames.between(session, *releases)
    before = [with_names(boot, renamed_symbols(session, renamed)) for boot in before]
    [basis, *_] = bases_of([*before, *after])
    found = _shares(session, diff_functions(before, after, basis=basis))
    # A patch that renames a function names both.
    return found | {was: found[now] for was, now in renamed.items() if now in found}


def _release(bisection: Bisection, position: int) -> str:
    point = next(point for point in bisection.points if point.position == position)
    return str(point.kernel.release) if point.kernel else point.release


def _shares(session: Session, functions: FunctionDiff) -> dict[str, float]:
    own = functions.own
    difference = np.abs(own.b - own.a)
    with np.errstate(invalid="ignore"):
        significant = np.flatnonzero((own.q <= SIGNIFICANT_Q) & (difference > 0))
    whole = float(difference[significant].sum())
    if not significant.size or not np.isfinite(whole) or whole <= 0:
        return {}
    largest = significant[np.argsort(-difference[significant], kind="stable")][:MOST_FUNCTIONS]
    names: Mapping[int, str] = names_of(session, functions.symbol[largest].tolist())
    return {
        names[int(functions.symbol[at])].removesuffix(KERNEL_MARK): float(difference[at]) / whole
        for at in largest.tolist()
    }
