"""Where the noise comes from, and how many iterations a boot deserves.

Boots scatter with σ²_boot, iterations within one with σ²_iter; the mean of k
iterations then scatters with σ²_boot + σ²_iter/k. For a given time the interval
is narrowest at (Kalibera & Jones, ISMM 2013)

    k = ⌈√((c_boot / c_iter) · (σ²_iter / σ²_boot))⌉
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.block_model import fit_blocks
from mitigauge.core.stats.boot_means import Arm, Boots, boot_means, mean_of
from mitigauge.core.stats.scale import scale_cases

FEWEST_ITERATIONS, MOST_ITERATIONS = 3, 15
# Of the largest mean: where the overall one is less, a percentage of it says nothing.
SMALLEST_SHARE = 1e-12
# Beyond so many times the mean an iteration's deviation is no noise, and its square no number.
LARGEST_DEVIATION = 1e100


@dataclass(frozen=True, slots=True)
class NoiseSplit:
    """Standard deviations in percent of the value; ``None`` where the boots cannot tell.

    ``boot_mean`` is what a boot's mean showed, ``boot`` what is left of it without
    the iterations' share. ``boot`` is 0 where the iterations explain all of it.
    """

    boot_mean: float | None
    boot: float | None
    iteration: float | None


def split_noise(boots: Boots[Arm], *, baseline: Arm, unit: str = "") -> NoiseSplit:
    """Split the noise of one case; *boots* as in :func:`mitigauge.core.stats.verdicts.judge`.

    Block and arm effects are taken out first, so that neither drift nor a real
    change counts as noise. Linear metrics are told in percent of the overall mean.
    """
    means = boot_means(boots, baseline=baseline)
    scaled = scale_cases(means.values[None], [unit])
    there = ~np.isnan(means.values)
    fit = fit_blocks(scaled.y, there)
    log = bool(scaled.log[0])
    # In units of the largest mean: a sum of the means themselves may be larger than any float.
    magnitude = float(scaled.magnitude[0])
    overall = abs(float(np.mean(means.values[there] / magnitude))) if there.any() else 0.0
    if overall < SMALLEST_SHARE:
        return NoiseSplit(None, None, None)
    to_share = 1.0 if log else 1.0 / overall
    within, share_of_iterations = _within_boots(boots, None if log else (magnitude, overall))
    boot_mean = float(fit.sigma[0]) * to_share if fit.df else None
    boot = None
    if boot_mean is not None and within is not None:
        boot = math.sqrt(max(0.0, boot_mean**2 - within * share_of_iterations))
    return NoiseSplit(
        boot_mean=_percent(boot_mean),
        boot=_percent(boot),
        iteration=_percent(None if within is None else math.sqrt(within)),
    )


def recommended_iterations(
    noise: NoiseSplit, *, boot_cost_s: float, iteration_cost_s: float
) -> int:
    """Iterations per boot for the next experiment, within 3…15; 3 while nothing is known.

    Raises :class:`InvalidInput` for costs that are not positive.
    """
    if boot_cost_s <= 0 or iteration_cost_s <= 0:
        raise InvalidInput(
            f"costs of {boot_cost_s} s a boot and {iteration_cost_s} s an iteration are no costs",
            hint="Give seconds above 0.",
        )
    if noise.boot is None or not noise.iteration:
        return FEWEST_ITERATIONS
    if noise.boot == 0:
        return MOST_ITERATIONS
    wanted = math.sqrt(boot_cost_s / iteration_cost_s) * noise.iteration / noise.boot
    if wanted >= MOST_ITERATIONS:
        return MOST_ITERATIONS
    return max(FEWEST_ITERATIONS, math.ceil(wanted))


def _within_boots(
    boots: Boots[Arm], overall: tuple[float, float] | None
) -> tuple[float | None, float]:
    """Pooled variance of an iteration, and the mean of 1/k.

    Relative to *overall*, a magnitude and the mean in units of it, or else to the boot's own
    mean; ``None`` where the iterations cannot tell it.
    """
    squares, freedom = 0.0, 0
    inverse: list[float] = []
    for of_arm in boots.values():
        for iterations in of_arm.values():
            values: Sequence[float] = (
                iterations if isinstance(iterations, Sequence) else [float(iterations)]
            )
            inverse.append(1.0 / len(values))
            mean = mean_of(values)
            base, share = (mean, 1.0) if overall is None else overall
            deviations = [(value / base - mean / base) / share for value in values]
            if not all(abs(deviation) < LARGEST_DEVIATION for deviation in deviations):
                return None, 1.0
            squares += math.fsum(deviation * deviation for deviation in deviations)
            freedom += len(values) - 1
    return (squares / freedom if freedom else None), math.fsum(inverse) / max(len(inverse), 1)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share
