"""Profiles of an experiment's cases: stored, compared, and put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.errors import NotFound
from mitigauge.experiments import repository as experiments
from mitigauge.experiments.tables import Arm, Case, Run
from mitigauge.profiles import repository
from mitigauge.profiles.comparing import Group, Sides, boot_profile, diff_payload, unit_of
from mitigauge.profiles.diff import Basis, BootProfile, FunctionDiff, bases_of, diff_functions
from mitigauge.profiles.schemas import (
    ArmProfilesView,
    CaseProfilesView,
    CounterView,
    FunctionChange,
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


def case_diff(
    session: Session,
    *,
    experiment_id: int,
    case_id: int,
    host: str,
    a: str,
    b: str,
    side: str,
    basis: Basis | None,
    merged: bool,
) -> bytes:
    """The diff of arm *b* against arm *a* of one case on one host, as a payload."""
    place = _place(session, experiment_id, case_id, host)
    arm_a, arm_b = _arms(place.run, a, b)
    sides = Sides(
        Group(a, _profiles(session, place, arm_a, side)),
        Group(b, _profiles(session, place, arm_b, side)),
        title=place.case.title,
        host=host,
        emulated=place.run.host.emulated,
        experiment=experiment_id,
        case=case_id,
    )
    return diff_payload(session, sides, basis=basis, merged=merged)


def imported_diff(
    session: Session, *, tree: str, a: str, b: str, basis: Basis | None, merged: bool
) -> bytes:
    """The diff of two groups of imported profiles, as a payload."""
    sides = Sides(
        Group(a, repository.profiles_labelled(session, tree, a)),
        Group(b, repository.profiles_labelled(session, tree, b)),
        title=tree,
    )
    return diff_payload(session, sides, basis=basis, merged=merged)


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
    whole = compare_groups(_totals(base, basis)[None], _totals(boots, basis)[None])
    view.difference = float(whole.b[0] - whole.a[0])
    view.low, view.high = _known(whole.low[0]), _known(whole.high[0])
    functions = diff_functions(base, boots, basis=basis)
    view.functions = _explaining(session, functions, view.difference)
    return view


def _totals(boots: Sequence[BootProfile], basis: Basis) -> Floats:
    return np.array([boot.counts.sum() * boot.scale(basis) for boot in boots])


def _explaining(session: Session, functions: FunctionDiff, whole: float) -> list[FunctionChange]:
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
