"""Steps in a level that is measured in blocks: marginal likelihoods. Pure.

With y the log of a boot's mean, one row for each boot,

    y = μ + X β + block + build + point + ε,
    ε ~ N(0, σ²/w),  block ~ N(0, ρ σ²),  build ~ N(0, ω σ²),  point ~ N(0, h σ²),

where X has one column for a single culprit (0 before it, 1 from it on), two for a pair, none where
no candidate is it. μ is flat, β ~ N(0, κ² σ²), and σ² has a scaled inverse χ² prior with ν₀ degrees
of freedom around s₀², which keeps a few identical values from being infinitely sure. Together the
steps rise by at least a floor, and each of two moves the level by as much, upwards or downwards: a
smaller change is nobody's culprit. Then, with
V = diag(1/w) + ρ B B' + ω L L' + h P P' and M = V⁻¹ − V⁻¹ 1 1' V⁻¹ / (1' V⁻¹ 1),

    C = X' M X,  t = X' M y,  R = y' M y − t' (C + I/κ²)⁻¹ t,
    log p(y | X, ρ, ω) = −½ log|V| − ½ log(1' V⁻¹ 1) − ½ log|I + κ² C|
                         − ½ (N − 1 + ν₀) log(ν₀ s₀² + R)
                         + log P(β large enough | y) − log P(β large enough) + constant

(the normal linear model with conjugate priors: Gelman et al., Bayesian Data Analysis, 3rd ed.,
chapter 14; O'Hagan & Forster, Kendall's Advanced Theory of Statistics 2B). All single culprits and
all pairs come from the same C and t, so they cost no more than one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import log_ndtr

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]

# Scatter of boots in counted time, the least that there is, and how much that is to be believed.
LEAST_DEVIATION = 5e-4
PRIOR_FREEDOM = 1.0
LOG_TWO = float(np.log(2.0))
BLOCK_RATIOS = (0.0, 0.1, 1.0, 10.0, 1e6)
BUILD_RATIOS = (0.0, 1.0, 10.0)


@dataclass(frozen=True, slots=True)
class Boots:
    """N boots: ``y``, and for each the index of its block, of its build and of its column.

    Columns are places that were measured, in order, then reverted ends. ``builds`` is ``None``
    where layout moves nothing.
    """

    y: Floats
    blocks: Whole
    columns: Whole
    builds: Whole | None
    width: int


@dataclass(frozen=True, slots=True)
class Scale:
    """``ratio``: κ², ``point``: h, both in units of σ²; ``floor`` of an effect, in log units.

    ``left``: from so much on, in log units, what stays of a change says that its revert fails.
    """

    ratio: float
    point: float
    floor: float
    left: float


@dataclass(frozen=True, slots=True)
class Gram:
    """Sums of squares and products over the boots, block, build and mean taken out.

    ``columns`` and ``y`` are A = Z' M Z and Z' M y over the columns, ``squares`` is y' M y.
    """

    columns: Floats
    y: Floats
    squares: float
    log_determinant: float
    covariance: Floats
    root: Floats


@dataclass(frozen=True, slots=True)
class Fits:
    """By hypothesis: log marginal likelihood, mean of each effect, variance of their sum, σ²."""

    log_likelihood: Floats
    effects: tuple[Floats, ...]
    variance: Floats
    noise: Floats


def covariance_of(
    boots: Boots, weights: Floats, block: float, build: float, point: float
) -> Floats:
    """V, in units of σ²."""
    covariance = np.diag(1.0 / weights)
    if block:
        covariance += block * (boots.blocks[:, None] == boots.blocks[None, :])
    if build and boots.builds is not None:
        covariance += build * (boots.builds[:, None] == boots.builds[None, :])
    if point:
        covariance += point * (boots.columns[:, None] == boots.columns[None, :])
    return covariance


def gram_of(boots: Boots, covariance: Floats) -> Gram:
    """A, Z' M y and y' M y for one V."""
    count = boots.y.size
    root = cholesky(covariance, lower=True, check_finite=False)
    right = np.zeros((count, boots.width + 2))
    right[:, 0] = 1.0
    right[:, 1] = boots.y
    right[np.arange(count), boots.columns + 2] = 1.0
    white = solve_triangular(root, right, lower=True, check_finite=False)
    ones = white[:, 0]
    norm = float(ones @ ones)
    rest = white[:, 1:] - np.outer(ones, ones @ white[:, 1:]) / norm
    products = rest.T @ rest
    return Gram(
        columns=products[1:, 1:],
        y=products[1:, 0],
        squares=float(products[0, 0]),
        log_determinant=2.0 * float(np.log(np.diag(root)).sum()) + float(np.log(norm)),
        covariance=covariance,
        root=root,
    )


def fit_none(gram: Gram, count: int) -> Fits:
    """No step at all."""
    residual = np.array([max(gram.squares, 0.0)])
    return Fits(
        _log_likelihood(gram, count, residual, np.zeros(1)),
        (),
        np.zeros(1),
        _noise(count, residual),
    )


def fit_singles(gram: Gram, steps: Floats, count: int, scale: Scale) -> Fits:
    """One step, upwards: *steps* ``[hypothesis, column]`` has its level in each column."""
    known = np.einsum("sp,pq,sq->s", steps, gram.columns, steps)
    t = steps @ gram.y
    precision = known + 1.0 / scale.ratio
    residual = np.maximum(gram.squares - t * t / precision, 0.0)
    noise = _noise(count, residual)
    effect = t / precision
    variance = noise / precision
    return Fits(
        _log_likelihood(gram, count, residual, np.log1p(scale.ratio * known))
        + _log_large_enough(effect, variance, noise * scale.ratio, scale.floor),
        (effect,),
        variance,
        noise,
    )


def fit_pairs(gram: Gram, steps: Floats, count: int, scale: Scale) -> Fits:
    """Two steps, upwards together: results are ``[first, second]``, of use above the diagonal."""
    products = steps @ gram.columns @ steps.T
    t = steps @ gram.y
    known = np.diag(products)
    two = _fit_two(
        gram, count, scale, (known[:, None], known[None, :], products), (t[:, None], t[None, :])
    )
    one, other = two.fits.effects
    large = (
        _log_large_enough(one + other, two.fits.variance, 2 * two.spread, scale.floor)
        + _log_either_way(one, two.variances[0], two.spread, scale.floor)
        + _log_either_way(other, two.variances[1], two.spread, scale.floor)
    )
    return replace(two.fits, log_likelihood=two.fits.log_likelihood + large)


def fit_reverts(
    gram: Gram, steps: Floats, ends: Floats, count: int, scale: Scale
) -> tuple[Fits, Fits]:
    """A step upwards, and what is left of it on the last end without its candidate.

    *steps* ``[revert, column]`` has the step, none in the column of its own revert; *ends* has that
    column alone. First where ``scale.left`` or more is left: the revert fails. Then where it is
    less, or the level falls below that of before. Effects are the step and what is left.
    """
    products = np.einsum("rp,pq,rq->r", steps, gram.columns, ends)
    known = [np.einsum("rp,pq,rq->r", of, gram.columns, of) for of in (steps, ends)]
    two = _fit_two(
        gram, count, scale, (known[0], known[1], products), (steps @ gram.y, ends @ gram.y)
    )
    step, left = two.fits.effects
    base = two.fits.log_likelihood + _log_large_enough(
        step, two.variances[0], two.spread, scale.floor
    )
    after = (left - scale.left) / np.sqrt(two.variances[1])
    before = -scale.left / np.sqrt(two.spread)
    fits = replace(two.fits, variance=two.variances[0])
    return (
        replace(fits, log_likelihood=base + log_ndtr(after) - log_ndtr(before)),
        replace(fits, log_likelihood=base + log_ndtr(-after) - log_ndtr(-before)),
    )


@dataclass(frozen=True, slots=True)
class _Two:
    """Two effects, as large as they may be: ``variances`` of each, ``spread`` of each before y."""

    fits: Fits
    variances: tuple[Floats, Floats]
    spread: Floats


def _fit_two(
    gram: Gram,
    count: int,
    scale: Scale,
    known: tuple[Floats, Floats, Floats],
    t: tuple[Floats, Floats],
) -> _Two:
    """*known*: the entries of C (first, second, between), *t*: those of t."""
    first, second = known[0] + 1.0 / scale.ratio, known[1] + 1.0 / scale.ratio
    between = known[2]
    determinant = np.maximum(first * second - between**2, 1e-300)
    one = (second * t[0] - between * t[1]) / determinant
    other = (first * t[1] - between * t[0]) / determinant
    residual = np.maximum(gram.squares - (one * t[0] + other * t[1]), 0.0)
    noise = _noise(count, residual)
    log_occam = np.log(determinant) + 2 * np.log(scale.ratio)
    fits = Fits(
        _log_likelihood(gram, count, residual, log_occam),
        (one, other),
        noise * np.maximum(first + second - 2 * between, 1e-300) / determinant,
        noise,
    )
    variances = noise * second / determinant, noise * first / determinant
    return _Two(fits, variances, noise * scale.ratio)


def _log_likelihood(gram: Gram, count: int, residual: Floats, log_occam: Floats) -> Floats:
    freedom = count - 1 + PRIOR_FREEDOM
    spread = freedom * np.log(PRIOR_FREEDOM * LEAST_DEVIATION**2 + residual)
    return np.asarray(-0.5 * (gram.log_determinant + log_occam + spread))


def _log_large_enough(mean: Floats, variance: Floats, prior: Floats, floor: float) -> Floats:
    """log P(effect ≥ floor | y) − log P(effect ≥ floor), *prior* being its variance before y."""
    after = log_ndtr((mean - floor) / np.sqrt(variance))
    return np.asarray(after - log_ndtr(-floor / np.sqrt(prior)))


def _log_either_way(mean: Floats, variance: Floats, prior: Floats, floor: float) -> Floats:
    """The same of an effect that may go either way: |effect| ≥ floor."""
    deviation = np.sqrt(variance)
    after = np.logaddexp(
        log_ndtr((mean - floor) / deviation), log_ndtr((-mean - floor) / deviation)
    )
    return np.asarray(after - LOG_TWO - log_ndtr(-floor / np.sqrt(prior)))


def _noise(count: int, residual: Floats) -> Floats:
    freedom = count - 1 + PRIOR_FREEDOM
    return np.asarray((PRIOR_FREEDOM * LEAST_DEVIATION**2 + residual) / freedom)
