"""The block model against least squares done the long way."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.core.stats.block_model import fit_blocks


def long_way(y: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    arms, blocks = present.shape
    rows, values = [], []
    for arm, block in np.argwhere(present):
        row = np.zeros(blocks + arms - 1)
        row[block] = 1
        if arm:
            row[blocks + arm - 1] = 1
        rows.append(row)
        values.append(y[arm, block])
    x = np.array(rows)
    solution, *_ = np.linalg.lstsq(x, np.array(values), rcond=None)
    residual = np.array(values) - x @ solution
    df = len(values) - np.linalg.matrix_rank(x)
    covariance = np.linalg.inv(x.T @ x)[blocks:, blocks:]
    return solution[blocks:], float(np.sqrt(residual @ residual / df)), np.sqrt(np.diag(covariance))


@pytest.mark.parametrize("gaps", [[], [(1, 2)], [(0, 0), (1, 3), (2, 4)], [(0, 1), (1, 1)]])
def test_effects_and_errors_are_those_of_least_squares(gaps: list[tuple[int, int]]) -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=(3, 5)) + np.arange(5) * 2
    present = np.ones((3, 5), dtype=bool)
    for gap in gaps:
        present[gap] = False
    fit = fit_blocks(np.where(present, y, np.nan)[None], present)
    effects, sigma, errors = long_way(y, present)
    assert fit.effects[0] == pytest.approx(effects)
    assert fit.sigma[0] == pytest.approx(sigma)
    assert fit.unit_errors == pytest.approx(errors)


def test_complete_blocks_correlate_the_arms_by_one_half() -> None:
    fit = fit_blocks(np.zeros((1, 4, 6)), np.ones((4, 6), dtype=bool))
    assert fit.correlation[0, 1] == pytest.approx(0.5)
    assert fit.df == 15


def test_arms_without_a_path_to_the_baseline_are_left_out() -> None:
    present = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    fit = fit_blocks(np.where(present, 1.0, np.nan)[None], present)
    assert fit.contrasts.tolist() == [1]


def test_arms_may_be_compared_through_others() -> None:
    present = np.array([[1, 0], [1, 1], [0, 1]], dtype=bool)
    y = np.array([[1.0, np.nan], [3.0, 13.0], [np.nan, 18.0]])
    fit = fit_blocks(y[None], present)
    assert fit.effects[0] == pytest.approx([2.0, 7.0])
    assert fit.df == 0
    assert np.isnan(fit.sigma[0])
