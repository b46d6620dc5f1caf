"""Where a case's noise comes from, and how many iterations a boot deserves next time. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from mitigauge.experiments.boot_schemas import NoiseView
from mitigauge.experiments.judging import Judged
from mitigauge.experiments.states import BootState
from mitigauge.experiments.tables import Boot, Comparison
from mitigauge.stats.boot_means import mean_of
from mitigauge.stats.modality import two_groups
from mitigauge.stats.noise import recommended_iterations, split_noise


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds, medians over the boots that count."""

    boot_s: float  # what a boot costs each of its cases beside their iterations
    iteration_s: float


def costs_of(
    boots: Sequence[Boot], measuring_s: Mapping[tuple[int, int], float], case_id: int, passes: int
) -> Costs | None:
    """What a boot and an iteration of a case took; ``None`` before anything was measured.

    ``measuring_s[boot id, case id]`` are seconds; *passes* counts a case's iterations
    and warm-ups. A boot's own time is shared out among its cases.
    """
    shares, iterations = [], []
    for boot in boots:
        own = [s for (boot_id, _), s in measuring_s.items() if boot_id == boot.id]
        if boot.state != BootState.EFFECTIVE or not own or not boot.started_at:
            continue
        if boot.finished_at and (boot.id, case_id) in measuring_s:
            whole = (boot.finished_at - boot.started_at).total_seconds()
            shares.append(max(whole - sum(own), 0.0) / len(own))
            iterations.append(measuring_s[boot.id, case_id] / passes)
    if not shares or median(shares) <= 0 or median(iterations) <= 0:
        return None
    return Costs(median(shares), median(iterations))


def noise_view(judged: Judged, comparison: Comparison, costs: Costs | None) -> NoiseView:
    """The noise of one case and metric on one host, in percent of its value."""
    declared = judged.case.metrics[judged.metric]
    baseline = next(arm.id for arm in comparison.arms if arm.is_baseline)
    boots = {str(arm): blocks for arm, blocks in judged.values.items() if blocks}
    if str(baseline) not in boots:
        return NoiseView()
    split = split_noise(boots, baseline=str(baseline), unit=declared["unit"])
    wanted = None
    if costs and split.boot is not None and split.iteration is not None:
        wanted = recommended_iterations(
            split, boot_cost_s=costs.boot_s, iteration_cost_s=costs.iteration_s
        )
    names = {str(arm.id): arm.name for arm in comparison.arms}
    return NoiseView(
        boot_mean_percent=split.boot_mean,
        boot_percent=split.boot,
        iteration_percent=split.iteration,
        boot_cost_s=costs.boot_s if costs else None,
        iteration_cost_s=costs.iteration_s if costs else None,
        recommended_iterations=wanted,
        two_groups=[names[arm] for arm, blocks in boots.items() if _in_two(blocks)],
    )


def _in_two(blocks: Mapping[int, Sequence[float]]) -> bool:
    return two_groups([mean_of(values) for values in blocks.values()]) is not None
