"""Dunnett's many-to-one comparison: P(max|Tᵢ| ≥ t) for multivariate t, by integration.

With correlations ρᵢⱼ = λᵢλⱼ (Dunnett, JASA 50, 1955; for complete blocks λ² = ½)

    P(max|Tᵢ| ≥ t) = ∫ f(s) ∫ φ(z) [1 − ∏ᵢ (1 − qᵢ(st, z))] dz ds
    qᵢ(x, z) = Φ((λᵢz − x)/√(1−λᵢ²)) + Φ((−λᵢz − x)/√(1−λᵢ²))

where s = √(χ²_df / df) has the density f. Incomplete blocks have correlations
that are no exact product; the closest product is taken (the factor analytic
approximation, Hsu, J. Comput. Graph. Stat. 1, 1992).

Both integrals use the trapezoidal rule, which converges geometrically for
smooth integrands that vanish at both ends; s runs on a logarithmic grid placed
by t, so that small probabilities keep their relative accuracy (10⁻⁷ and better).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mitigauge.core.stats import special
from mitigauge.core.stats.boot_means import Floats

Loadings = tuple[float, ...]

# Beyond, the grid in z is too coarse; a lower correlation only makes p larger (Šidák 1967).
_MAX_LOADING = 0.98
_SCALE_NODES = 96
# The integrand in z is even: half the line, its first node with half the weight.
_Z = np.arange(0.0, 9.01, 0.25)
_Z_WEIGHT = 2.0 * 0.25 * np.exp(-0.5 * _Z**2) / np.sqrt(2.0 * np.pi)
_Z_WEIGHT[0] /= 2.0
# So many at a time that the arrays of all nodes stay in a processor's cache.
_CHUNK = 32


def loadings_of(correlation: Floats) -> Loadings:
    """The λ whose products come closest to *correlation* off its diagonal, in rising order.

    Rounded to 12 digits, so that the order of arms cannot change a result.
    """
    count = correlation.shape[0]
    if count == 1:
        return (0.0,)
    off = correlation - np.diag(np.diag(correlation))
    loadings = np.full(count, np.sqrt(off.sum() / (count * (count - 1))))
    if count > 2:
        for _ in range(200):
            others = np.square(loadings).sum() - np.square(loadings)
            wanted = np.clip(off @ loadings / np.maximum(others, 1e-12), 0.0, _MAX_LOADING)
            step = 0.5 * (wanted - loadings)
            loadings = loadings + step
            if np.abs(step).max() < 1e-13:
                break
    return tuple(sorted(round(float(value), 12) for value in np.minimum(loadings, _MAX_LOADING)))


def p_values(t: Floats, df: int, loadings: Loadings) -> Floats:
    """Two-sided p of each statistic in *t* (any shape), adjusted for all ``len(loadings)`` arms."""
    size = np.abs(t)
    if len(loadings) == 1:
        return 2.0 * np.asarray(special.stdtr(df, -size), dtype=np.float64)
    flat = size.ravel()
    result = np.empty_like(flat)
    for start in range(0, flat.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        result[part] = _integrate(flat[part], df, loadings)
    return np.clip(result, 0.0, 1.0).reshape(size.shape)


@lru_cache(maxsize=4096)
def critical_value(alpha: float, df: int, loadings: Loadings) -> float:
    """The t that max|Tᵢ| reaches with probability *alpha* when no arm differs."""
    if len(loadings) == 1:
        return float(-special.stdtrit(df, alpha / 2.0))
    # Here, not above: it takes longer to import than all else of this package together.
    from scipy.optimize import brentq

    # Bonferroni bounds it from above, a single arm from below.
    low = float(-special.stdtrit(df, alpha / 2.0)) * 0.999
    high = float(-special.stdtrit(df, alpha / (2.0 * len(loadings)))) * 1.001

    def excess(t: float) -> float:
        return float(np.log(p_values(np.array([t]), df, loadings)[0] / alpha))

    return float(brentq(excess, low, high, xtol=1e-9))


def _integrate(t: Floats, df: int, loadings: Loadings) -> Floats:
    t = np.maximum(t, 1e-6)
    log_s, step = _log_scale_grid(t, df)
    scale = np.exp(log_s)
    half = df / 2.0
    log_density = (
        np.log(2.0) + half * np.log(half) - special.gammaln(half) + df * log_s - half * scale**2
    )
    outside = _probability_outside(t[:, None] * scale, loadings)
    total: Floats = (np.exp(log_density) * outside).sum(axis=1) * step
    return total


def _log_scale_grid(t: Floats, df: int) -> tuple[Floats, Floats]:
    """Nodes in log s for each t and their distance: where density times tail is not negligible."""
    spread = 7.5 / np.sqrt(2.0 * df)
    top = np.log1p(spread * (1.0 + 2.0 / df))
    # The integrand peaks near s² = df / (df + t²); below, it falls as s^df at the slowest.
    peak = -0.5 * np.log1p(t**2 / df)
    bottom = peak - np.minimum(spread * (1.0 + 4.0 / np.sqrt(df)), 26.0 / df + 1.0)
    highest = np.minimum(top, np.log(40.0 / t))
    step = (highest - bottom) / (_SCALE_NODES - 1)
    return bottom[:, None] + step[:, None] * np.arange(_SCALE_NODES), step


def _probability_outside(x: Floats, loadings: Loadings) -> Floats:
    """P(some |Xᵢ| > x) for normal Xᵢ = λᵢz + √(1−λᵢ²)eᵢ, per element of *x*."""
    log_inside = np.zeros((*x.shape, _Z.size))
    for loading in sorted(set(loadings)):
        rest = np.sqrt(1.0 - loading**2)
        tail = special.ndtr((loading * _Z - x[..., None]) / rest)
        tail += special.ndtr((-loading * _Z - x[..., None]) / rest)
        log_inside += loadings.count(loading) * np.log1p(-np.minimum(tail, 1.0 - 1e-16))
    weighted: Floats = -np.expm1(log_inside) @ _Z_WEIGHT
    return weighted
