"""Where a case's noise comes from, and how many iterations a boot deserves next time. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from mitigauge.core.stats.boot_means import mean_of
from mitigauge.core.stats.modality import TwoGroups, two_groups
from mitigauge.core.stats.noise import recommended_iterations, split_noise
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.measurement.runs.repository import BootLine
from mitigauge.measurement.runs.states import BootState
from mitigauge.reporting.pages.boot_schemas import NoiseView

# arm id → block → iterations of the boot that counts
ByArm = Mapping[int, Mapping[int, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds, medians over the boots that count."""

    boot_s: float  # what a boot costs each of its cases beside their iterations
    iteration_s: float


def costs_of(
    boots: Sequence[BootLine], seconds: Mapping[int, float], *, cases: int, passes: int
) -> Costs | None:
    """What a boot and an iteration of a case took; ``None`` before anything was measured.

    ``seconds[boot id]`` are what the case took within a boot; *passes* counts its iterations and
    warm-ups. What a boot took beside its measuring job is shared out among the *cases*.
    """
    shares, iterations = [], []
    for boot in boots:
        if boot.state != BootState.EFFECTIVE or not boot.started_at or not boot.finished_at:
            continue
        if boot.id in seconds and boot.job_lasted_s is not None:
            whole = (boot.finished_at - boot.started_at).total_seconds()
            shares.append(max(whole - boot.job_lasted_s, 0.0) / cases)
            iterations.append(seconds[boot.id] / passes)
    if not shares or median(shares) <= 0 or median(iterations) <= 0:
        return None
    return Costs(median(shares), median(iterations))


def noise_view(
    values: ByArm, arms: Sequence[Arm], declared: CaseMetric, costs: Costs | None
) -> NoiseView:
    """The noise of one case and metric on one host, in percent of its value."""
    baseline = next(arm.id for arm in arms if arm.is_baseline)
    boots = {arm: blocks for arm, blocks in values.items() if blocks}
    if baseline not in boots:
        return NoiseView()
    split = split_noise(boots, baseline=baseline, unit=declared.unit)
    wanted = None
    if costs and split.boot is not None and split.iteration is not None:
        wanted = recommended_iterations(
            split, boot_cost_s=costs.boot_s, iteration_cost_s=costs.iteration_s
        )
    names = {arm.id: arm.name for arm in arms}
    return NoiseView(
        boot_mean_percent=split.boot_mean,
        boot_percent=split.boot,
        iteration_percent=split.iteration,
        boot_cost_s=costs.boot_s if costs else None,
        iteration_cost_s=costs.iteration_s if costs else None,
        recommended_iterations=wanted,
        two_groups=[
            f"{names[arm]} ({groups.lower} and {groups.upper})"
            for arm in boots
            if (groups := _groups(boots, arm)) is not None
        ],
    )


def _groups(boots: Mapping[int, Mapping[int, Sequence[float]]], arm: int) -> TwoGroups | None:
    """The two groups of an arm's boots, which other arms of the same blocks do not have.

    What all arms share is taken out, as in a comparison; what only shows once that is done is of
    another arm. Whole numbers fall into groups by themselves.
    """
    means = {each: {b: mean_of(v) for b, v in blocks.items()} for each, blocks in boots.items()}
    own = means[arm]
    if all(value == round(value) for value in own.values()):
        return None
    beside = [
        value - fmean(of[block] for of in means.values() if block in of)
        for block, value in own.items()
    ]
    is_alone = len(means) == 1
    groups = two_groups(list(own.values()))
    return groups if groups and (is_alone or two_groups(beside)) else None
