"""A flame graph whose totals are exact counts and whose shape is that of sampled stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.compare import BootProfile
from mitigauge.analysis.profiles.diff.payload import (
    DiffHeader,
    DiffPruned,
    DiffSide,
    encoded,
    laid_out,
)
from mitigauge.analysis.profiles.diff.service import boot_profile, renamed_symbols, side_of
from mitigauge.analysis.profiles.diff.sides import Group, Sides, require_comparable
from mitigauge.analysis.profiles.exact.counted_group import CountedGroup, require_counted
from mitigauge.analysis.profiles.exact.stack_frames import (
    Frames,
    Functions,
    frames_of,
    functions_of,
)
from mitigauge.analysis.profiles.exact.stacks import (
    Attributed,
    attributed,
    sampled,
    symbols_of,
    totals_of,
)
from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.functions import KERNEL_MARK
from mitigauge.analysis.profiles.store.normalise import rules

UNIT = "instructions an operation"


def graph_payload(
    session: Session, sides: Sides, counted: tuple[CountedGroup, CountedGroup], *, merged: bool
) -> bytes:
    """Both sides as :mod:`mitigauge.analysis.profiles.diff.payload` has them, without intervals.

    Raises :class:`NotFound` for a side without counts or without samples, and
    :class:`InvalidInput` for sides that cannot be compared.
    """
    told = [each.operation for each in require_counted(*counted)]
    require_comparable(sides)
    groups = (sides.a, sides.b)
    layout = repository.layout_of(session, sides.a.profiles[0].tree_id)
    renamed = renamed_symbols(session, sides.renamed)
    if renamed:
        layout = layout.with_names(renamed)
    boots = [[boot_profile(profile) for profile in group.profiles] for group in groups]
    stacks = [sampled(layout, of, merged=merged) for of in boots]
    stored = repository.names_of(session, symbols_of(layout, stacks))
    # Also those that B's samples do not have, and no number stands for.
    names = {symbol: renamed_as(name, sides.renamed) for symbol, name in stored.items()}
    one, other = (
        attributed(layout, of, names, totals_of(operation, _Shown(renames, merged=merged)))
        for of, operation, renames in zip(stacks, told, (sides.renamed, {}), strict=True)
    )
    frames = frames_of(layout, one, other, names)
    places, body = laid_out(_arrays(frames, functions_of(frames)))
    was = {now: before for before, now in sides.renamed.items()}
    before = {at: renamed_as(name, was) for at, name in enumerate(frames.names)}
    header = DiffHeader(
        a=_side(sides.a, boots[0], told[0].boots, one),
        b=_side(sides.b, boots[1], told[1].boots, other),
        exact=True,
        basis="operation",
        bases=["operation"],
        unit=UNIT,
        title=sides.title,
        host=sides.host,
        emulated=sides.emulated,
        counted=sides.counted,
        event=sides.a.profiles[0].event,
        merged=merged,
        rules_version=rules().version,
        names=frames.names,
        raw_names={},
        renamed={str(at): name for at, name in before.items() if name != frames.names[at]},
        pruned=DiffPruned(nodes=frames.pruned_frames, a=frames.pruned[0], b=frames.pruned[1]),
        experiment=sides.experiment,
        case=sides.case,
        where=sides.system,
        wheres=[sides.system],
        svg_by=None,
        arrays=places,
    )
    return encoded(header, body)


def renamed_as(name: str, names: Mapping[str, str]) -> str:
    """The name by *names*; a function of the kernel may stand with a mark behind it."""
    bare = name.removesuffix(KERNEL_MARK)
    return names[bare] + name[len(bare) :] if bare in names else name


class _Shown:
    """The name that stacks have for a function of the ledger."""

    def __init__(self, renamed: Mapping[str, str], *, merged: bool) -> None:
        self._renamed = renamed
        self._rules = rules() if merged else None

    def __call__(self, name: str) -> str:
        now = self._renamed.get(name, name)
        return self._rules.function(now) if self._rules else now


def _side(
    group: Group, boots: list[BootProfile], counted_boots: int, found: Attributed
) -> DiffSide:
    """Samples as the profiles have them; boots and total as they were counted."""
    told = side_of(group, boots, "raw")
    return told.model_copy(update={"boots": counted_boots, "total": found.total})


def _arrays(frames: Frames, functions: Functions) -> dict[str, NDArray[Any]]:
    """As the viewer reads them. Doubles: an operation may run many millions of instructions."""
    return {
        "parent": frames.parent,
        "symbol": frames.name,
        "a": frames.a,
        "b": frames.b,
        **_unknown("", len(frames.parent)),
        "flags": frames.flags,
        "f_symbol": functions.name,
        "f_self_a": functions.own[0],
        "f_self_b": functions.own[1],
        **_unknown("fs_", len(functions.name)),
        "f_total_a": functions.total[0],
        "f_total_b": functions.total[1],
        **_unknown("ft_", len(functions.name)),
    }


def _unknown(prefix: str, size: int) -> dict[str, NDArray[Any]]:
    """Neither an interval nor a q: totals are not sampled."""
    return {prefix + name: np.full(size, np.nan, np.float32) for name in ("low", "high", "q")}
