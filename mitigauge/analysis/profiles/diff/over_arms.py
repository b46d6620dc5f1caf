"""Functions over several groups of boots at once, each against one baseline. Pure.

p and the intervals of each group are those of :func:`diff_functions`. q is Benjamini and
Hochberg's over the functions of all groups together, so that a table with more arms does not show
more false ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from mitigauge.analysis.profiles.diff.compare import Basis, BootProfile, diff_functions
from mitigauge.analysis.profiles.diff.significance import Comparison, Floats
from mitigauge.analysis.profiles.store.tree import Ints
from mitigauge.core.stats.multiplicity import q_values


@dataclass(frozen=True, slots=True)
class OverArms:
    """Functions by symbol, and for each group what they cost there against the baseline.

    ``a`` of each comparison is the baseline's mean, ``b`` the group's; None for a group without
    a profile.
    """

    symbol: Ints
    baseline_own: Floats
    baseline_total: Floats
    own: Sequence[Comparison | None]
    total: Sequence[Comparison | None]


def functions_over(
    baseline: Sequence[BootProfile], groups: Sequence[Sequence[BootProfile]], *, basis: Basis
) -> OverArms:
    """Compare every group with the *baseline*, which has a profile, function by function."""
    alone = diff_functions(baseline, baseline, basis=basis)
    found = [diff_functions(baseline, group, basis=basis) if group else None for group in groups]
    known = [alone.symbol, *(one.symbol for one in found if one is not None)]
    symbol = np.unique(np.concatenate(known)).astype(np.int32)
    own = [None if one is None else _spread(one.own, one.symbol, symbol) for one in found]
    total = [None if one is None else _spread(one.total, one.symbol, symbol) for one in found]
    return OverArms(
        symbol,
        _spread(alone.own, alone.symbol, symbol).a,
        _spread(alone.total, alone.symbol, symbol).a,
        _judged_together(own),
        _judged_together(total),
    )


def _spread(compared: Comparison, of: Ints, symbol: Ints) -> Comparison:
    """*compared* of the functions *of* as one of all functions *symbol*.

    What no boot of the pair has costs nothing on both sides, and is not judged.
    """
    at = np.searchsorted(symbol, of)

    def spread(name: str, values: Floats) -> Floats:
        whole = np.zeros(len(symbol)) if name in ("a", "b") else np.full(len(symbol), np.nan)
        whole[at] = values
        return whole

    parts = {each.name: getattr(compared, each.name) for each in fields(Comparison)}
    return Comparison(**{name: spread(name, values) for name, values in parts.items()})


def _judged_together(groups: Sequence[Comparison | None]) -> list[Comparison | None]:
    """The groups with q over all that has one in any of them."""
    asked: list[NDArray[np.bool_]] = [np.isfinite(one.q) for one in groups if one is not None]
    there = [one for one in groups if one is not None]
    if not there:
        return list(groups)
    pooled = np.concatenate([one.p[mask] for one, mask in zip(there, asked, strict=True)])
    q = iter(np.split(q_values(pooled), np.cumsum([mask.sum() for mask in asked])[:-1]))
    masks = iter(asked)

    def judged(one: Comparison) -> Comparison:
        whole = np.full(len(one.q), np.nan)
        whole[next(masks)] = next(q)
        return replace(one, q=whole)

    return [None if one is None else judged(one) for one in groups]
