"""Dunnett's probabilities against tables, SciPy and the cases with a closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from mitigauge.core.stats.dunnett import critical_value, loadings_of, p_values

HALF = 0.5**0.5

# Two-sided critical values for 1…6 treatments, Dunnett, Biometrics 20, 1964, tables II and III.
PUBLISHED = {
    (5, 0.05): [2.57, 3.03, 3.29, 3.48, 3.62, 3.73],
    (5, 0.01): [4.03, 4.63, 4.98, 5.22, 5.41, 5.56],
    (10, 0.05): [2.23, 2.57, 2.76, 2.89, 2.99, 3.07],
    (10, 0.01): [3.17, 3.53, 3.74, 3.88, 3.99, 4.08],
    (20, 0.05): [2.09, 2.38, 2.54, 2.65, 2.73, 2.80],
    (20, 0.01): [2.85, 3.13, 3.29, 3.40, 3.48, 3.55],
    (60, 0.05): [2.00, 2.27, 2.41, 2.51, 2.58, 2.64],
    (60, 0.01): [2.66, 2.90, 3.03, 3.12, 3.19, 3.25],
}


@pytest.mark.parametrize(("df", "alpha"), PUBLISHED)
def test_critical_values_are_the_published_ones(df: int, alpha: float) -> None:
    ours = [critical_value(alpha, df, (HALF,) * count) for count in range(1, 7)]
    assert ours == pytest.approx(PUBLISHED[df, alpha], abs=0.0101)


@pytest.mark.parametrize("df", [1, 3, 7, 30, 200])
@pytest.mark.parametrize("loading", [0.3, HALF, 0.98])
def test_two_arms_agree_with_scipys_bivariate_t(df: int, loading: float) -> None:
    shape = np.array([[1.0, loading**2], [loading**2, 1.0]])
    exact = stats.multivariate_t(shape=shape, df=df, seed=1)
    for t in (0.5, 1.7, 3.0):
        inside = exact.cdf([t, t], lower_limit=[-t, -t], maxpts=40_000)
        ours = p_values(np.array([t]), df, (loading, loading))[0]
        assert ours == pytest.approx(1 - inside, abs=5e-4)


@pytest.mark.parametrize(("df", "count"), [(3, 2), (6, 2), (12, 4), (40, 3)])
def test_independent_arms_follow_the_product_rule_given_the_scale(df: int, count: int) -> None:
    # λ = 0 leaves one integral over s, done here by SciPy's quantiles of χ².
    t = 2.7
    u = (np.arange(20_000) + 0.5) / 20_000
    s = np.sqrt(stats.chi2.ppf(u, df) / df)
    expected = np.mean(1 - (1 - 2 * stats.norm.sf(t * s)) ** count)
    assert p_values(np.array([t]), df, (0.0,) * count)[0] == pytest.approx(expected, rel=1e-4)


def test_small_probabilities_keep_their_relative_accuracy() -> None:
    # Far out the arms exclude one another: p tends to the Bonferroni sum.
    p = p_values(np.array([30.0]), 60, (HALF, HALF))[0]
    alone = 2 * special.stdtr(60, -30.0)
    assert alone < p <= 2 * alone
    assert p > 0


def test_a_balanced_one_way_layout_agrees_with_scipy() -> None:
    rng = np.random.default_rng(4)
    control, *treated = rng.normal(size=(4, 8)) + np.array([0.0, 0.4, 1.2, 1.6])[:, None]
    scipy = stats.dunnett(*treated, control=control, rng=np.random.default_rng(1))
    ours = p_values(np.asarray(scipy.statistic), 4 * 7, (HALF,) * 3)
    assert ours == pytest.approx(scipy.pvalue, abs=5e-4)


def test_gaps_are_close_to_the_multivariate_t_they_approximate() -> None:
    correlation = np.array([[1, 0.62, 0.45, 0.5], [0.62, 1, 0.5, 0.55], [0.45, 0.5, 1, 0.38]])
    correlation = np.vstack([correlation, [0.5, 0.55, 0.38, 1.0]])
    exact = stats.multivariate_t(shape=correlation, df=9, seed=3)
    t = 3.2
    inside = exact.cdf(np.full(4, t), lower_limit=np.full(4, -t), maxpts=200_000)
    ours = p_values(np.array([t]), 9, loadings_of(correlation))[0]
    assert ours == pytest.approx(1 - inside, rel=0.02)


def test_products_are_recovered_from_their_correlations() -> None:
    loadings = np.array([0.3, 0.5, 0.7, 0.9])
    correlation = np.outer(loadings, loadings)
    np.fill_diagonal(correlation, 1.0)
    assert loadings_of(correlation) == pytest.approx(loadings, abs=1e-6)


@pytest.mark.parametrize("count", [1, 2, 8])
@pytest.mark.parametrize("df", [1, 3, 15, 105])
def test_the_critical_value_has_its_probability(count: int, df: int) -> None:
    loadings = (HALF,) * count
    t = critical_value(0.01, df, loadings)
    assert p_values(np.array([t]), df, loadings)[0] == pytest.approx(0.01, rel=1e-6)
