"""Profiles of an experiment's cases: stored, compared, and put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.errors import InvalidInput, NotFound
from mitigauge.experiments import repository as experiments
from mitigauge.experiments.schemas import ExperimentView
from mitigauge.experiments.tables import Arm, Case, Run
from mitigauge.profiles import repository
from mitigauge.profiles.comparing import (
    Group,
    Selection,
    Sides,
    boot_profile,
    unit_of,
)
from mitigauge.profiles.diff import Basis, BootProfile, FunctionDiff, bases_of, diff_functions
from mitigauge.profiles.schemas import (
    ArmProfilesView,
    CaseProfilesView,
    CounterView,
    FunctionChange,
    ProfileGroupView,
)
from mitigauge.profiles.significance import Floats, compare_groups
from mitigauge.profiles.tables import Profile

SIGNIFICANT_Q = 0.05
FUNCTIONS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Place:
    """A case on a host within an experiment."""

    experiment_id: int
    case: Case
    run: Run


def case_sides(session: Session, a: Selection, b: Selection, *, side: str) -> Sides:
    """Both selections with their profiles.

    They may be of other experiments and hosts, but of one workload with the same
    parameters; else :class:`InvalidInput`.
    """
    places = [_place(session, of.experiment_id, of.case_id, of.host) for of in (a, b)]
    cases = [place.case for place in places]
    if (cases[0].workload, cases[0].parameters) != (cases[1].workload, cases[1].parameters):
        raise InvalidInput(
            f"{cases[0].title!r} and {cases[1].title!r} are different cases",
            hint="Choose groups with the same workload and parameters.",
        )
    return Sides(
        _group(session, places[0], a, b, side),
        _group(session, places[1], b, a, side),
        title=cases[0].title,
        host=a.host,
        emulated=any(place.run.host.emulated for place in places),
        experiment=a.experiment_id,
        case=a.case_id,
        where=side,
        wheres=repository.sides_of_case(session, a.case_id),
    )


def comparable_groups(
    session: Session, *, experiment_id: int, case_id: int, side: str
) -> list[ProfileGroupView]:
    """Every group whose profiles are of the same workload and parameters as this case's."""
    case, _ = experiments.case(session, experiment_id, case_id)
    rows = repository.groups_like(session, case, side)
    return [ProfileGroupView.model_validate(dict(row)) for row in rows]


def _group(session: Session, place: _Place, of: Selection, other: Selection, side: str) -> Group:
    """The boots of a selection, named by what sets it apart from the *other* one."""
    [arm] = _arms(place.run, of.arm)
    label = of.arm
    if of.host != other.host:
        label += f" on {of.host}"
    if of.experiment_id != other.experiment_id:
        label += f" in experiment {of.experiment_id}"
    return Group(label, _profiles(session, place, arm, side), of)


def imported_sides(session: Session, *, tree: str, a: str, b: str) -> Sides:
    """Two groups of imported profiles."""
    return Sides(
        Group(a, repository.profiles_labelled(session, tree, a)),
        Group(b, repository.profiles_labelled(session, tree, b)),
        title=tree,
    )


def case_profiles(
    session: Session, *, experiment_id: int, case_id: int, host: str, side: str
) -> CaseProfilesView:
    """Every arm's profiles beside the baseline's: totals, functions that explain, counters."""
    place = _place(session, experiment_id, case_id, host)
    comparison = place.run.comparison
    stored = {arm.id: _profiles(session, place, arm, side) for arm in comparison.arms}
    every = [profile for profiles in stored.values() for profile in profiles]
    baseline = next(arm for arm in comparison.arms if arm.is_baseline)
    bases = bases_of([boot_profile(profile) for profile in every])
    event = every[0].event if every else ""
    return CaseProfilesView(
        experiment_id=experiment_id,
        case_id=case_id,
        host=host,
        side=side,
        event=event,
        unit=unit_of(bases[0], event) if every else "",
        arms=[
            _arm_view(session, arm, stored[arm.id], stored[baseline.id], bases[0])
            for arm in comparison.arms
        ],
    )


def profiles_beside(session: Session, view: ExperimentView) -> list[CaseProfilesView]:
    """What the profiles of every profiled case say, of those that have any."""
    rows = [row for comparison in view.comparisons for row in comparison.rows if row.profiled]
    shown = [
        case_profiles(session, experiment_id=view.id, case_id=case_id, host=host, side="host")
        for case_id, host in dict.fromkeys((row.case_id, row.host) for row in rows)
    ]
    return [case for case in shown if case.event]


def _place(session: Session, experiment_id: int, case_id: int, host: str) -> _Place:
    case, comparison = experiments.case(session, experiment_id, case_id)
    experiment = experiments.experiment(session, experiment_id)
    runs = {run.host.name: run for run in experiment.runs if run.comparison_id == comparison.id}
    if host not in runs:
        raise NotFound(
            f"case {case_id} was not planned on host {host!r}",
            hint=f"Its hosts are {', '.join(runs)}.",
        )
    return _Place(experiment_id, case, runs[host])


def _arms(run: Run, *names: str) -> list[Arm]:
    by_name = {arm.name: arm for arm in run.comparison.arms}
    for name in names:
        if name not in by_name:
            raise NotFound(
                f"comparison {run.comparison.name!r} has no arm {name!r}",
                hint=f"Its arms are {', '.join(by_name)}.",
            )
    return [by_name[name] for name in names]


def _profiles(session: Session, place: _Place, arm: Arm, side: str) -> list[Profile]:
    return repository.profiles_of_arm(
        session, case_id=place.case.id, arm_id=arm.id, run_id=place.run.id, side=side
    )


def _arm_view(
    session: Session,
    arm: Arm,
    profiles: Sequence[Profile],
    baseline: Sequence[Profile],
    basis: Basis,
) -> ArmProfilesView:
    overheads = [p.overhead_percent for p in profiles if p.overhead_percent is not None]
    view = ArmProfilesView(
        arm_id=arm.id,
        arm=arm.name,
        is_baseline=arm.is_baseline,
        profiles=len(profiles),
        samples=sum(profile.samples for profile in profiles),
        overhead_percent=float(np.mean(overheads)) if overheads else None,
        functions=[],
        counters=_counters(profiles, [] if arm.is_baseline else baseline),
    )
    boots, base = [boot_profile(p) for p in profiles], [boot_profile(p) for p in baseline]
    if boots:
        view.total = float(np.mean(_totals(boots, basis)))
    if not boots or not base or arm.is_baseline:
        return view
    if basis != "share":  # of everything, that is everything on both sides
        whole = compare_groups(_totals(base, basis)[None], _totals(boots, basis)[None])
        view.difference = float(whole.b[0] - whole.a[0])
        view.low, view.high = _known(whole.low[0]), _known(whole.high[0])
    functions = diff_functions(base, boots, basis=basis)
    view.functions = _explaining(session, functions, view.difference)
    return view


def _totals(boots: Sequence[BootProfile], basis: Basis) -> Floats:
    return np.array([boot.counts.sum() * boot.scale(basis) for boot in boots])


def _explaining(
    session: Session, functions: FunctionDiff, whole: float | None
) -> list[FunctionChange]:
    """The functions whose own cost differs significantly, the largest difference first."""
    own = functions.own
    difference = own.b - own.a
    with np.errstate(invalid="ignore"):
        found = np.flatnonzero(own.q <= SIGNIFICANT_Q)
    found = found[np.argsort(-np.abs(difference[found]), kind="stable")][:FUNCTIONS_SHOWN]
    names = repository.names_of(session, functions.symbol[found].tolist())
    return [
        FunctionChange(
            function=names[int(functions.symbol[i])],
            difference=float(difference[i]),
            low=float(own.low[i]),
            high=float(own.high[i]),
            q=float(own.q[i]),
            percent_of_total=float(100.0 * difference[i] / whole) if whole else None,
        )
        for i in found.tolist()
    ]


def _counters(profiles: Sequence[Profile], baseline: Sequence[Profile]) -> list[CounterView]:
    """Counters that every profile of the arm has; a machine without any shows none."""
    names = set.intersection(*(set(p.counters) for p in profiles)) if profiles else set()
    views = []
    for name in sorted(names):
        values = np.array([profile.counters[name] for profile in profiles])
        view = CounterView(counter=name, mean=float(values.mean()), n=len(values))
        base = np.array([p.counters[name] for p in baseline if name in p.counters])
        if len(base) and base.mean():
            compared = compare_groups(base[None], values[None])
            scale = 100.0 / float(base.mean())
            view.difference_percent = float(compared.b[0] - compared.a[0]) * scale
            view.low_percent = _known(compared.low[0] * scale)
            view.high_percent = _known(compared.high[0] * scale)
        views.append(view)
    return views


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
