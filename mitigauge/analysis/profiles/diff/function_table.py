"""Stored profiles as lists: functions of a diff by what they differ, stacks of a group as text."""

from __future__ import annotations

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.compare import Basis, diff_functions
from mitigauge.analysis.profiles.diff.schemas import FunctionRow, FunctionTable
from mitigauge.analysis.profiles.diff.service import diff_sides
from mitigauge.analysis.profiles.diff.sides import Sides
from mitigauge.analysis.profiles.store import repository


def function_table(
    session: Session, sides: Sides, *, basis: Basis | None, limit: int
) -> FunctionTable:
    """The *limit* functions whose own cost differs most between both sides.

    Raises what :func:`mitigauge.analysis.profiles.diff.service.diff_sides` raises.
    """
    diffed = diff_sides(session, sides, basis=basis, merged=True)
    half = len(sides.a.profiles)
    found = diff_functions(diffed.boots[:half], diffed.boots[half:], basis=diffed.basis)
    own = found.own
    largest = np.argsort(-np.abs(own.b - own.a), kind="stable")[:limit]
    names = repository.names_of(session, [*found.symbol[largest].tolist(), *diffed.renamed])
    were = {now: names[was] for was, now in diffed.renamed.items()}
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
            was=were.get(int(found.symbol[i]), ""),
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
        system=sides.system,
        emulated=sides.emulated,
        counted=sides.counted,
        event=sides.a.profiles[0].event,
        basis=diffed.basis,
        unit=diffed.unit,
        functions=rows,
    )


def _mark(a: float, b: float) -> str:
    if a == 0 and b > 0:
        return "new"
    return "gone" if a > 0 and b == 0 else ""


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
