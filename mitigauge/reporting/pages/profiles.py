"""Profiles of an experiment's cases: stored, compared, and put into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.compare import (
    Basis,
    BootProfile,
    FunctionDiff,
    bases_of,
    diff_functions,
    with_names,
)
from mitigauge.analysis.profiles.diff.service import boot_profile, renamed_symbols, unit_of
from mitigauge.analysis.profiles.diff.sides import Group, Selection, Sides
from mitigauge.analysis.profiles.diff.significance import Floats, compare_groups
from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.tables import Profile, System
from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.kernels import renames
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages import profile_repository
from mitigauge.reporting.pages.profile_schemas import (
    ArmProfilesView,
    CaseProfilesView,
    CounterView,
    FunctionChange,
    ProfileGroupView,
)
from mitigauge.reporting.pages.schemas import ExperimentView

SIGNIFICANT_Q = 0.05
FUNCTIONS_SHOWN = 10
# Of the cases that a hint lists.
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case on a host within an experiment."""

    experiment_id: int
    case: Case
    run: Run


@dataclass(frozen=True, slots=True)
class PlannedArm:
    """An arm of a case on a host."""

    planned: PlannedCase
    arm: Arm


def case_sides(session: Session, a: Selection, b: Selection, *, system: System) -> Sides:
    """Both selections with their profiles.

    They may be of other experiments and hosts, but of one workload with the same
    parameters; else :class:`InvalidInput`.
    """
    one, other = planned_arms(session, a, b)
    runs = [one.planned.run, other.planned.run]
    return Sides(
        _group(session, one, a, b, system),
        _group(session, other, b, a, system),
        title=one.planned.case.title,
        host=a.host,
        emulated=any(run.host.emulated for run in runs),
        counted=any(run.clock == Clock.COUNTED for run in runs),
        experiment=a.experiment_id,
        case=a.case_id,
        system=system,
        systems=repository.systems_of_case(session, a.case_id),
        renamed=renames.between(session, one.arm.kernel, other.arm.kernel),
    )


def planned_arms(session: Session, a: Selection, b: Selection) -> tuple[PlannedArm, PlannedArm]:
    """What both selections name.

    Raises :class:`NotFound` for what was not planned, and :class:`InvalidInput` where they are not
    of one workload with the same parameters.
    """
    one, other = (_planned_arm(session, of) for of in (a, b))
    cases = one.planned.case, other.planned.case
    if (cases[0].workload, cases[0].parameters) != (cases[1].workload, cases[1].parameters):
        raise InvalidInput(
            f"{cases[0].title!r} and {cases[1].title!r} are different cases",
            hint="Choose groups with the same workload and parameters.",
        )
    return one, other


def _planned_arm(session: Session, of: Selection) -> PlannedArm:
    planned = planned_case(session, of.experiment_id, of.case_id, of.host)
    return PlannedArm(planned, arm_named(planned.run, of.arm))


def comparable_groups(
    session: Session, *, experiment_id: int, case_id: int, system: System
) -> list[ProfileGroupView]:
    """Every group whose profiles are of the same workload and parameters as this case's."""
    case, _ = experiment_rows.case(session, experiment_id, case_id)
    rows = profile_repository.groups_like(session, case, system)
    return [ProfileGroupView.model_validate(dict(row)) for row in rows]


def _group(
    session: Session, asked: PlannedArm, of: Selection, other: Selection, system: System
) -> Group:
    """The boots of a selection, named by what sets it apart from the *other* one."""
    profiles = profiles_of(session, asked.planned, asked.arm, system)
    return Group(label_of(of, other), profiles, of)


def label_of(of: Selection, other: Selection) -> str:
    """The name of a selection: its arm, with what else sets it apart from the *other* one."""
    label = of.arm
    if of.host != other.host:
        label += f" on {of.host}"
    if of.experiment_id != other.experiment_id:
        label += f" in experiment {of.experiment_id}"
    return label


def case_profiles(
    session: Session, *, experiment_id: int, case_id: int, host: str, system: System
) -> CaseProfilesView:
    """Every arm's profiles beside the baseline's: totals, functions that explain, counters."""
    planned = planned_case(session, experiment_id, case_id, host)
    comparison = planned.run.comparison
    stored = {arm.id: profiles_of(session, planned, arm, system) for arm in comparison.arms}
    every = [profile for profiles in stored.values() for profile in profiles]
    baseline = next(arm for arm in comparison.arms if arm.is_baseline)
    bases = bases_of([boot_profile(profile) for profile in every])
    event = every[0].event if every else ""
    return CaseProfilesView(
        experiment_id=experiment_id,
        case_id=case_id,
        host=host,
        system=system,
        event=event,
        unit=unit_of(bases[0], event) if every else "",
        arms=[
            _arm_view(
                session,
                arm,
                stored[arm.id],
                stored[baseline.id],
                bases[0],
                renamed_symbols(session, renames.between(session, baseline.kernel, arm.kernel)),
            )
            for arm in comparison.arms
        ],
    )


def find_case(session: Session, experiment_id: int, case: str, host: str) -> tuple[int, str]:
    """Number and host of the case called *case*, by number or title.

    *host* may be empty where the case has only one. Raises :class:`NotFound` with what there is.
    """
    comparisons = experiment_rows.experiment(session, experiment_id).comparisons
    every = [one for comparison in comparisons for one in comparison.cases]
    found = [one for one in every if case in (str(one.id), one.title)]
    if not found:
        raise NotFound(f"experiment {experiment_id} has no case {case!r}", hint=_known_cases(every))
    # Cases of several comparisons may have one title.
    on_host = {
        run.host.name: one.id
        for run in run_rows.runs_of(session, experiment_id)
        for one in found
        if one.comparison_id == run.comparison_id
    }
    if not host and len(on_host) == 1:
        [host] = on_host
    if host not in on_host:
        what = f"was not planned on host {host!r}" if host else "ran on several hosts"
        raise NotFound(
            f"case {case!r} {what}",
            hint=f"Give --host: {', '.join(sorted(on_host, key=natural_order))}.",
        )
    return on_host[host], host


def _known_cases(cases: Sequence[Case]) -> str:
    """Those that were profiled first: exact counts may be of the others too."""
    ordered = sorted(cases, key=lambda one: one.profile_hz is None)
    known = [
        f"{one.id} ({one.title}{'' if one.profile_hz is None else ', profiled'})" for one in ordered
    ]
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"Its cases: {', '.join(known[:MOST_NAMED]) or 'none'}{more}."


def profiles_beside(session: Session, view: ExperimentView) -> list[CaseProfilesView]:
    """What the profiles of every profiled case say, of those that have any."""
    rows = [row for comparison in view.comparisons for row in comparison.rows if row.profiled]
    shown = [
        case_profiles(session, experiment_id=view.id, case_id=case_id, host=host, system="host")
        for case_id, host in dict.fromkeys((row.case_id, row.host) for row in rows)
    ]
    return [case for case in shown if case.event]


def planned_case(session: Session, experiment_id: int, case_id: int, host: str) -> PlannedCase:
    """A case on a host. Raises :class:`NotFound` where it was not planned there."""
    case, comparison = experiment_rows.case(session, experiment_id, case_id)
    planned = run_rows.runs_of(session, experiment_id)
    runs = {run.host.name: run for run in planned if run.comparison_id == comparison.id}
    if host not in runs:
        raise NotFound(
            f"case {case_id} was not planned on host {host!r}",
            hint=f"Its hosts are {', '.join(runs)}.",
        )
    return PlannedCase(experiment_id, case, runs[host])


def arm_named(run: Run, name: str) -> Arm:
    """An arm of a run's comparison. Raises :class:`NotFound` with those that there are."""
    by_name = {arm.name: arm for arm in run.comparison.arms}
    if name not in by_name:
        raise NotFound(
            f"comparison {run.comparison.name!r} has no arm {name!r}",
            hint=f"Its arms are {', '.join(by_name)}.",
        )
    return by_name[name]


def profiles_of(session: Session, planned: PlannedCase, arm: Arm, system: System) -> list[Profile]:
    """Profiles of a case in an arm's boots that count."""
    return profile_repository.profiles_of_arm(
        session, case_id=planned.case.id, arm_id=arm.id, run_id=planned.run.id, system=system
    )


def _arm_view(
    session: Session,
    arm: Arm,
    profiles: Sequence[Profile],
    baseline: Sequence[Profile],
    basis: Basis,
    renamed: Mapping[int, int],
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
    boots = [boot_profile(p) for p in profiles]
    base = [with_names(boot_profile(p), renamed) for p in baseline]
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
    for name in sorted(names, key=natural_order):
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
