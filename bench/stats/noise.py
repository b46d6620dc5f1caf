"""Simulated experiments with noise of known size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mitigauge.core.stats.boot_means import Floats

Draw = Callable[[np.random.Generator, tuple[int, int, int]], Floats]

BLOCKS = 16
ITERATIONS = 10


def _gaussian(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    return rng.standard_normal(shape)


def _heavy(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    spread: Floats = rng.standard_t(3, shape) / np.sqrt(3.0)
    return spread


def _bimodal(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    peaks = 4.0 * (rng.random(shape) < 0.5)
    spread: Floats = (rng.standard_normal(shape) + peaks) / np.sqrt(5.0)
    return spread


def _drifting(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    experiments, _, blocks = shape
    walk = np.cumsum(rng.standard_normal((experiments, 1, blocks)), axis=2)
    drifted: Floats = rng.standard_normal(shape) + 2.0 * walk
    return drifted


# Shapes of boot noise with a standard deviation of 1 within a block. Heavy: Student's t with
# 3 degrees of freedom; bimodal: two equal peaks 4 of their standard deviations apart; drifting:
# Gaussian, and all arms of a block moved by a random walk of 2 a block.
NOISES: dict[str, Draw] = {
    "Gaussian": _gaussian,
    "heavy": _heavy,
    "bimodal": _bimodal,
    "drifting": _drifting,
}


def simulate(
    noise: str,
    *,
    experiments: int,
    contrasts: int,
    boot_noise_percent: float,
    effect_percent: float,
    seed: tuple[int, ...],
    blocks: int = BLOCKS,
) -> Floats:
    """Times per operation, ``[experiment, arm, block, iteration]``; arm 0 is the baseline.

    *boot_noise_percent* is the standard deviation of a boot's mean, iterations'
    share included; boots and single iterations scatter alike. The first arm beside
    the baseline is slower by *effect_percent*, the others do not differ.
    """
    rng = np.random.default_rng(seed)
    shape = (experiments, contrasts + 1, blocks)
    sigma = boot_noise_percent / 100.0 / np.sqrt(1.0 + 1.0 / ITERATIONS)
    logs = sigma * NOISES[noise](rng, shape)
    logs[:, 1] += np.log1p(effect_percent / 100.0)
    iterations = sigma * rng.standard_normal((*shape, ITERATIONS))
    values: Floats = np.exp(logs[..., None] + iterations)
    return values
