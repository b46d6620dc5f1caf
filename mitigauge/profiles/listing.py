"""Stored profiles as lists: functions of a diff by what they differ, stacks of a group as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.errors import NotFound
from mitigauge.experiments.schemas import ExperimentView
from mitigauge.profiles import repository
from mitigauge.profiles.comparing import Sides, boot_profile, diff_sides
from mitigauge.profiles.diff import Basis, diff_functions
from mitigauge.profiles.schemas import FunctionRow, FunctionTable
from mitigauge.profiles.tables import Profile
from mitigauge.profiles.tree import Layout


def function_table(
    session: Session, sides: Sides, *, basis: Basis | None, limit: int
) -> FunctionTable:
    """The *limit* functions whose own cost differs most between both sides.

    Raises what :func:`mitigauge.profiles.comparing.diff_sides` raises.
    """
    diffed = diff_sides(session, sides, basis=basis, merged=True)
    half = len(sides.a.profiles)
    found = diff_functions(diffed.boots[:half], diffed.boots[half:], basis=diffed.basis)
    own = found.own
    largest = np.argsort(-np.abs(own.b - own.a), kind="stable")[:limit]
    names = repository.names_of(session, found.symbol[largest].tolist())
    rows = [
        FunctionRow(
            function=names[int(found.symbol[i])],
            a=float(own.a[i]),
            b=float(own.b[i]),
            difference=float(own.b[i] - own.a[i]),
            low=_number(own.low[i]),
            high=_number(own.high[i]),
            q=_number(own.q[i]),
            mark=_mark(own.a[i], own.b[i]),
        )
        for i in largest.tolist()
    ]
    return FunctionTable(
        title=sides.title,
        a=sides.a.label,
        b=sides.b.label,
        boots_a=half,
        boots_b=len(sides.b.profiles),
        host=sides.host,
        where=sides.where,
        emulated=sides.emulated,
        event=sides.a.profiles[0].event,
        basis=diffed.basis,
        unit=diffed.unit,
        functions=rows,
    )


def folded_group(session: Session, profiles: Sequence[Profile]) -> dict[bytes, int]:
    """Folded stacks of *profiles* of one tree, their counts added up, names as recorded."""
    layout = repository.layout_of(session, profiles[0].tree_id)
    weights: Counter[int] = Counter()
    for profile in profiles:
        counts = boot_profile(profile)
        places = layout.place[counts.nodes].tolist()
        weights.update(dict(zip(places, counts.counts.tolist(), strict=True)))
    paths = _Paths(session, layout)
    stacks: Counter[bytes] = Counter()
    for place, weight in weights.items():
        stacks[paths.of(place)] += weight
    return dict(stacks)


def place_of_case(view: ExperimentView, case: str, host: str) -> tuple[int, str]:
    """Number and host of the case called *case*, by number or title.

    *host* may be empty where the case has only one. Raises :class:`NotFound` with what there is.
    """
    rows = [row for comparison in view.comparisons for row in comparison.rows]
    found = [row for row in rows if case in (str(row.case_id), row.case)]
    if not found:
        known = sorted({f"{row.case_id} ({row.case})" for row in rows if row.profiled})
        raise NotFound(
            f"experiment {view.id} has no case {case!r}",
            hint=f"Its profiled cases: {', '.join(known) or 'none'}.",
        )
    hosts = sorted({row.host for row in found})
    if host and host in hosts:
        return found[0].case_id, host
    if host or len(hosts) > 1:
        what = f"was not planned on host {host!r}" if host else "ran on several hosts"
        raise NotFound(f"case {case!r} {what}", hint=f"Give --host: {', '.join(hosts)}.")
    return found[0].case_id, hosts[0]


class _Paths:
    """Stacks by place, as folded text; the root has none."""

    def __init__(self, session: Session, layout: Layout) -> None:
        self._layout = layout
        symbols = np.unique(layout.symbol[layout.symbol >= 0])
        self._names = repository.names_of(session, symbols.tolist())

    def of(self, place: int) -> bytes:
        frames = []
        while (above := int(self._layout.parent[place])) >= 0:
            frames.append(self._names[int(self._layout.symbol[place])])
            place = above
        return ";".join(reversed(frames)).encode()


def _mark(a: float, b: float) -> str:
    if a == 0 and b > 0:
        return "new"
    return "gone" if a > 0 and b == 0 else ""


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
