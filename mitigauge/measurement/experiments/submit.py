"""Storing what a spec asks for."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.domain import domain_of
from mitigauge.kernels import repository as kernel_rows
from mitigauge.kernels import service as kernels
from mitigauge.kernels.recipe import is_ours
from mitigauge.kernels.states import KernelState
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.spec_model import (
    BUILT,
    ArmSpec,
    ComparisonSpec,
    ExperimentSpec,
    FactorialSpec,
    WorkloadSpec,
    cases_of,
)
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.experiments.tables import (
    Arm,
    Case,
    Comparison,
    Experiment,
    FactorialPlan,
    Knob,
)
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.modes.crossing import outdoes, uncounted, wanted_by
from mitigauge.measurement.workloads.definitions import Workload


def store_experiment(
    session: Session,
    spec: ExperimentSpec,
    spec_text: str,
    *,
    catalog: Catalog,
    submitted_by: str,
) -> Experiment:
    """Store what a checked spec asks for: comparisons, arms and cases, not yet their runs.

    A spec without a seed gets a random one, which is stored like a given one.
    """
    experiment = Experiment(
        name=spec.name,
        question=spec.question.strip(),
        environment=spec.environment,
        seed=spec.seed if spec.seed is not None else secrets.randbits(62),
        spec_text=spec_text,
        submitted_by=submitted_by,
        state=ExperimentState.QUEUED,
    )
    session.add(experiment)
    session.flush()
    releases = kernel_releases(session, spec)
    for position in range(len(spec.comparisons)):
        _store_comparison(session, experiment, spec, position, catalog, releases)
    session.refresh(experiment, ["comparisons"])
    return experiment


def _store_comparison(
    session: Session,
    experiment: Experiment,
    spec: ExperimentSpec,
    position: int,
    catalog: Catalog,
    releases: Mapping[str, str],
) -> None:
    wanted = spec.comparisons[position]
    comparison = Comparison(
        experiment_id=experiment.id,
        position=position,
        name=wanted.name,
        blocks=spec.blocks_of(wanted),
        layouts=wanted.layouts,
        factorial=_factorial(wanted.factorial),
        arms=_arms(session, wanted, catalog, releases),
        cases=_cases(wanted.workloads, catalog),
    )
    session.add(comparison)
    session.flush()


def _factorial(wanted: FactorialSpec | None) -> FactorialPlan | None:
    if wanted is None:
        return None
    knobs = [Knob(name=name, low=low, high=high) for name, (low, high) in wanted.knobs.items()]
    return FactorialPlan(knobs=knobs, pairs=list(wanted.wanted_pairs))


def kernel_releases(session: Session, spec: ExperimentSpec) -> dict[str, str]:
    """Release of each kernel that an arm calls by its label.

    Raises NotFound and InvalidInput where there is no such kernel, or it is not built, and for a
    release like ours that is not in our table: no build of it could be proven.
    """
    named = {arm.kernel for comparison in spec.comparisons for arm in comparison.arms}
    _require_known(session, {name for name in named if is_ours(name)})
    found: dict[str, str] = {}
    for name in sorted(name for name in named if name.startswith(BUILT)):
        kernel = kernels.show(session, name.removeprefix(BUILT))
        if kernel.state != KernelState.BUILT or kernel.release is None:
            raise InvalidInput(
                f"kernel {name} is {kernel.state}",
                hint="`mitigauge kernel show` says why; `mitigauge kernel build` builds it.",
            )
        found[name] = kernel.release
    return found


def _require_known(session: Session, releases: Collection[str]) -> None:
    for release in sorted(set(releases) - set(kernel_rows.built(session, releases))):
        raise InvalidInput(
            f"kernel {release} was not built here, or its package was removed",
            hint="`mitigauge kernel list` shows what was; `mitigauge kernel import` brings in "
            "another service's package.",
        )


def _arms(
    session: Session, wanted: ComparisonSpec, catalog: Catalog, releases: Mapping[str, str]
) -> list[Arm]:
    arms = [_arm(arm, i, wanted, catalog) for i, arm in enumerate(wanted.arms)]
    if _share_boots(wanted, catalog):
        for arm in arms:
            arm.boot_method = BootMethod.WITHIN
    within = arms[0].boot_method
    for again, slowed_percent in wanted.doubles:
        double = _arm(again, len(arms), wanted, catalog)
        double.boot_method = double.boot_method or within
        double.slowed_percent = slowed_percent
        # By another way to boot it is a question of its own, and no false alarm.
        double.is_aa = bool(slowed_percent) or wanted.aa is True
        how = "once more" if double.is_aa else "by kexec"
        how = f"slowed by {slowed_percent} %" if slowed_percent else how
        double.title = f"{double.title}, {how}"
        arms.append(double)
    for arm in arms:
        arm.kernel = releases.get(arm.kernel, arm.kernel)
        if wanted.layouts > 1:
            arm.builds = list(kernels.in_layouts(session, arm.kernel, wanted.layouts))
            arm.kernel = arm.builds[0]
    baseline = next(arm for arm in arms if arm.is_baseline)
    for arm in arms:
        arm.uncounted = uncounted(arm.full_mode, baseline.full_mode, catalog.families)
        same_kernel = arm.kernel == baseline.kernel
        arm.outdoes_baseline = same_kernel and outdoes(
            arm.full_mode, baseline.full_mode, catalog.families
        )
    return arms


def _share_boots(wanted: ComparisonSpec, catalog: Catalog) -> bool:
    """Whether a block's arms are applied within one boot: none of them needs one of its own."""
    modes = [wanted_by(arm.mode, catalog.families) for arm in wanted.arms]
    one_kernel = len({arm.kernel for arm in wanted.arms}) == 1
    boots_asked = any(arm.boot for arm in wanted.arms) or wanted.aa == "kexec"
    return one_kernel and not boots_asked and all(mode.at_runtime for mode in modes)


def _arm(arm: ArmSpec, position: int, comparison: ComparisonSpec, catalog: Catalog) -> Arm:
    mode = wanted_by(arm.mode, catalog.families)
    return Arm(
        position=position,
        name=arm.name,
        family=mode.family,
        mode=mode.mode,
        title=mode.title,
        family_title=mode.family_title,
        kernel=arm.kernel,
        is_baseline=arm.name == comparison.baseline,
        boot_method=comparison.method_of(arm),
        settings=mode.settings,
        lab_cmdline=" ".join(mode.lab_cmdline),
        expect=list(mode.expect),
        events=[catalog.events[name].title for name in mode.events],
    )


def _cases(wanted: Sequence[WorkloadSpec], catalog: Catalog) -> list[Case]:
    cases: list[Case] = []
    for selection in wanted:
        workload = catalog.workloads[selection.workload]
        for parameters in cases_of(workload, selection):
            cases.append(_case(workload, selection, parameters, position=len(cases)))
    return cases


def expected_seconds(
    workload: Workload, selection: WorkloadSpec, parameters: Mapping[str, str | int | float]
) -> float:
    """How long a case should take in each boot, by its workload's file: seconds."""
    iterations = _iterations(workload, selection)
    total = workload.seconds_of(parameters, iterations + _warmup(workload, selection))
    if selection.profile:
        total += workload.profiled_seconds_of(parameters, iterations)
    return total


def _iterations(workload: Workload, selection: WorkloadSpec) -> int:
    return selection.iterations or workload.defaults.iterations


def _warmup(workload: Workload, selection: WorkloadSpec) -> int:
    return workload.defaults.warmup if selection.warmup is None else selection.warmup


def _case(
    workload: Workload,
    selection: WorkloadSpec,
    parameters: Mapping[str, str | int | float],
    position: int,
) -> Case:
    defaults = workload.defaults
    metrics = {}
    for name, metric in workload.metrics_of(parameters).items():
        metrics[name] = CaseMetric(
            unit=metric.unit,
            direction=metric.direction,
            title=metric.title or name,
            primary=selection.is_primary(name, by_itself=metric.primary),
            delta_percent=metric.delta_percent,
            counter=metric.counter,
            threads=metric.threads,
            domain=metric.domain or domain_of(metric.unit),
        )
    return Case(
        position=position,
        workload=workload.name,
        title=workload.title_of(parameters),
        parameters=dict(parameters),
        iterations=_iterations(workload, selection),
        warmup=_warmup(workload, selection),
        timeout_s=selection.timeout_s or defaults.timeout_s,
        expected_s=expected_seconds(workload, selection, parameters),
        profile_hz=selection.profile.hz if selection.profile else None,
        profile_guest=selection.profile.guest if selection.profile else False,
        profile_off_cpu=selection.profile.off_cpu if selection.profile else False,
        collect=selection.collect,
        metrics=metrics,
    )
