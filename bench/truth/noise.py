"""Noise of boots: each function gives so many values with mean 0 and standard deviation 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.truth.series import Values

Noise = Callable[[np.random.Generator, int], Values]
MODES_APART = 6.0
SHARE_OF_SECOND_MODE = 0.3
WALK = 0.1
WEEKS_OF_SEASON = 26


def normal(rng: np.random.Generator, length: int) -> Values:
    """Independent and normal."""
    return rng.standard_normal(length)


def student(rng: np.random.Generator, length: int) -> Values:
    """Student's t with three degrees of freedom, whose variance is 3."""
    values: Values = rng.standard_t(3, length) / np.sqrt(3.0)
    return values


def alike(phi: float) -> Noise:
    """A stationary autoregression of the first order, AR(1)."""

    def noise(rng: np.random.Generator, length: int) -> Values:
        values = rng.standard_normal(length)
        values[1:] *= np.sqrt(1.0 - phi**2)
        for at in range(1, length):
            values[at] += phi * values[at - 1]
        return values

    return noise


def modes(rng: np.random.Generator, length: int) -> Values:
    """A host that boots into one of two states by chance, six deviations of either one apart."""
    share = SHARE_OF_SECOND_MODE
    second = rng.random(length) < share
    values = rng.standard_normal(length) + MODES_APART * (second - share)
    scatter = np.sqrt(1.0 + MODES_APART**2 * share * (1.0 - share))
    return np.asarray(values / scatter)


def season(rng: np.random.Generator, length: int) -> Values:
    """A swing of 26 weeks with as much variance as the normal noise on it."""
    angle = 2.0 * np.pi * (np.arange(length) / WEEKS_OF_SEASON + rng.random())
    return np.asarray(np.sin(angle) + np.sqrt(0.5) * rng.standard_normal(length))


def walk(rng: np.random.Generator, length: int) -> Values:
    """Normal noise on a level that moves each week by a tenth of it, up or down (random walk)."""
    level = np.cumsum(WALK * rng.standard_normal(length))
    return np.asarray(level - level[0] + rng.standard_normal(length))
