"""A case's functions over all its arms, sorted, searched and cut into pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.compare import Basis, BootProfile, bases_of, with_names
from mitigauge.analysis.profiles.diff.over_arms import OverArms, functions_over
from mitigauge.analysis.profiles.diff.service import boot_profile, renamed_symbols, unit_of
from mitigauge.analysis.profiles.diff.significance import Comparison, Floats
from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.tables import Profile, System
from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels import renames
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.reporting.pages.function_schemas import (
    ArmTotal,
    FunctionCost,
    FunctionOverArms,
    FunctionSort,
    FunctionsView,
    Measure,
)
from mitigauge.reporting.pages.profiles import planned_case, profiles_of

MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class FunctionQuery:
    """Which functions are wanted, and in which order.

    *arm* names the arm to sort by; empty: all of them, the largest difference, cost or the
    smallest q of any. *upwards* turns the order round.
    """

    measure: Measure = "self"
    sort: FunctionSort = "difference"
    arm: str = ""
    upwards: bool = False
    search: str = ""
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class _Column:
    arm: Arm
    profiles: Sequence[Profile]
    boots: list[BootProfile]
    names: Mapping[int, int]
    """The arm's own name of functions that stand under the baseline's, by number."""


def functions_view(
    session: Session,
    *,
    experiment_id: int,
    case_id: int,
    host: str,
    system: System,
    basis: Basis | None = None,
    asked: FunctionQuery,
) -> FunctionsView:
    """The functions of every arm's profiles of a case on a host.

    Raises :class:`NotFound` for a case, host or arm that there is not, and :class:`InvalidInput`
    for profiles of several events and for a basis that they lack.
    """
    planned = planned_case(session, experiment_id, case_id, host)
    experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
    arms = sorted(planned.run.comparison.arms, key=lambda arm: not arm.is_baseline)
    columns = [
        _column(session, arm, arms[0], profiles_of(session, planned, arm, system)) for arm in arms
    ]
    _require_arm(asked.arm, arms)
    events = sorted({profile.event for column in columns for profile in column.profiles})
    if len(events) > 1:
        raise InvalidInput(
            f"profiles of different events cannot be compared: {', '.join(events)}",
            hint="Look at two arms at a time, on their flame graph.",
        )
    boots = [boot for column in columns for boot in column.boots]
    bases = bases_of(boots) if boots else []
    chosen: Basis = basis or (bases[0] if bases else "share")
    if bases and chosen not in bases:
        raise InvalidInput(
            f"there is no {chosen} basis: the workload counts no operations",
            hint=f"Choose one of {', '.join(bases)}.",
        )
    view = FunctionsView(
        experiment_id=experiment_id,
        experiment=experiment.name,
        case_id=case_id,
        case=planned.case.title,
        host=host,
        emulated=planned.run.host.emulated,
        counted=planned.run.clock == Clock.COUNTED,
        system=system,
        systems=list(repository.systems_of_case(session, case_id)),
        event=events[0] if events else "",
        unit=unit_of(chosen, events[0]) if events else "",
        basis=chosen,
        bases=list(bases),
        measure=asked.measure,
        arms=[_total(column, chosen) for column in columns],
        functions=[],
        offset=asked.offset,
        found=0,
        most=0.0,
    )
    # Without a baseline there is nothing to be costlier than.
    if columns[0].boots:
        _fill(session, view, columns, chosen, asked)
    return view


def _column(session: Session, arm: Arm, baseline: Arm, profiles: Sequence[Profile]) -> _Column:
    """An arm's boots, functions that its kernel renamed under the baseline's names."""
    named = {} if arm is baseline else renames.between(session, baseline.kernel, arm.kernel)
    was = {now: was for was, now in renamed_symbols(session, named).items()}
    boots = [with_names(boot_profile(profile), was) for profile in profiles]
    return _Column(arm, profiles, boots, {old: new for new, old in was.items()})


def _require_arm(name: str, arms: Sequence[Arm]) -> None:
    names = [arm.name for arm in arms]
    if name and name not in names:
        raise NotFound(f"there is no arm {name!r}", hint=f"The arms are {', '.join(names)}.")


def _total(column: _Column, basis: Basis) -> ArmTotal:
    costs = [boot.counts.sum() * boot.scale(basis) for boot in column.boots]
    return ArmTotal(
        arm_id=column.arm.id,
        arm=column.arm.name,
        is_baseline=column.arm.is_baseline,
        profiles=len(column.profiles),
        total=float(np.mean(costs)) if costs else None,
    )


def _fill(
    session: Session,
    view: FunctionsView,
    columns: Sequence[_Column],
    basis: Basis,
    asked: FunctionQuery,
) -> None:
    """Put the asked functions into *view*."""
    baseline, *others = columns
    over = functions_over(baseline.boots, [column.boots for column in others], basis=basis)
    names = repository.names_of(session, over.symbol.tolist())
    texts = [names[symbol] for symbol in over.symbol.tolist()]
    judged = over.own if asked.measure == "self" else over.total
    costs = _costs(over, judged, asked.measure)
    rows = np.flatnonzero(_matching(texts, asked.search))
    rows = _ordered(rows, texts, judged, costs, [column.arm.name for column in columns], asked)
    view.found, view.most = len(rows), float(np.nanmax(costs, initial=0.0))
    shown = rows[asked.offset : asked.offset + min(asked.limit, MOST_ROWS)]
    own = repository.names_of(session, [new for column in others for new in column.names.values()])
    view.functions = [
        FunctionOverArms(
            function=texts[row],
            cells=[
                FunctionCost(
                    own=float(over.baseline_own[row]), total=float(over.baseline_total[row])
                ),
                *(
                    _cost(
                        row,
                        over,
                        place,
                        judged,
                        own.get(column.names.get(int(over.symbol[row]), -1), ""),
                    )
                    for place, column in enumerate(others)
                ),
            ],
        )
        for row in shown.tolist()
    ]


def _costs(over: OverArms, judged: Sequence[Comparison | None], measure: Measure) -> Floats:
    """Cost of every function in every arm, ``[function, arm]``; NaN without a profile."""
    first = over.baseline_own if measure == "self" else over.baseline_total
    unknown = np.full(len(over.symbol), np.nan)
    return np.stack([first, *(unknown if one is None else one.b for one in judged)], axis=1)


def _matching(names: Sequence[str], search: str) -> NDArray[np.bool_]:
    wanted = search.lower()
    return np.fromiter((wanted in name.lower() for name in names), np.bool_, len(names))


def _ordered(
    rows: NDArray[np.intp],
    names: Sequence[str],
    judged: Sequence[Comparison | None],
    costs: Floats,
    arms: Sequence[str],
    asked: FunctionQuery,
) -> NDArray[np.intp]:
    """*rows* in the asked order; equal ones by name, what is unknown last."""
    if asked.sort == "name":
        keys = np.argsort(np.argsort(np.array(names, dtype=object), kind="stable")).astype(float)
    else:
        keys = _keys(judged, costs, arms, asked)
    down = asked.sort in ("difference", "cost")
    key = -keys[rows] if down != asked.upwards else keys[rows]
    by_name = np.argsort(
        np.array([names[row] for row in rows.tolist()], dtype=object), kind="stable"
    )
    # NaN sorts last either way.
    return rows[by_name][np.argsort(key[by_name], kind="stable")]


def _keys(
    judged: Sequence[Comparison | None], costs: Floats, arms: Sequence[str], asked: FunctionQuery
) -> Floats:
    """What functions are sorted by: of one arm, or of all the most telling figure."""
    places = [arms.index(asked.arm)] if asked.arm else list(range(len(arms)))
    unknown = np.full(len(costs), np.nan)
    q = np.stack([unknown, *(unknown if one is None else one.q for one in judged)], axis=1)
    of: Floats = {"cost": costs, "difference": np.abs(costs - costs[:, :1]), "q": q}[asked.sort]
    # Of an arm without a profile nothing is known, and nothing of the others is lost by it.
    pick: np.ufunc = np.fmin if asked.sort == "q" else np.fmax
    keys: Floats = pick.reduce(of[:, places], axis=1)
    return keys


def _cost(
    row: int, over: OverArms, place: int, judged: Sequence[Comparison | None], name: str
) -> FunctionCost | None:
    own, total, asked = over.own[place], over.total[place], judged[place]
    if own is None or total is None or asked is None:
        return None
    return FunctionCost(
        own=float(own.b[row]),
        total=float(total.b[row]),
        difference=float(asked.b[row] - asked.a[row]),
        low=_known(asked.low[row]),
        high=_known(asked.high[row]),
        q=_known(asked.q[row]),
        name=name,
    )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
