"""Builds that differ in layout alone are the replicates of kernels that are compared."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bench.stats.layouts import Truth, outcome_of
from mitigauge.core.stats.layouts import by_layout
from mitigauge.core.stats.verdicts import judge

BLOCKS = 12


def boots(
    layouts: int, *, spread: float, change: float = 0.0, seed: int = 1
) -> dict[str, dict[int, float]]:
    rng = np.random.default_rng(seed)
    builds = rng.normal(0, spread, (2, layouts))
    noise = rng.normal(0, 0.001, (2, BLOCKS))
    y = noise + builds[:, np.arange(BLOCKS) % layouts] + np.array([[0.0], [change]])
    return {arm: {b + 1: 100 * float(np.exp(v)) for b, v in enumerate(row)}
            for arm, row in zip(("base", "new"), y, strict=True)}  # fmt: skip


def test_the_figures_are_those_of_a_paired_t_test_over_layouts() -> None:
    measured = boots(4, spread=0.01, change=0.02)
    found = judge(measured, baseline="base", direction="lower", layouts=4, planned_blocks=BLOCKS,
                  looks=())["new"]  # fmt: skip
    y = np.log([list(measured[arm].values()) for arm in ("base", "new")])
    means = y.reshape(2, BLOCKS // 4, 4).mean(axis=1)
    paired = stats.ttest_rel(means[1], means[0])
    assert found.effect_percent == pytest.approx(100 * np.expm1(np.diff(means, axis=0).mean()))
    assert found.p == pytest.approx(float(paired.pvalue), rel=1e-4)
    assert found.n == BLOCKS
    assert "4 layouts of each kernel are the replicates" in found.note


def test_what_layouts_alone_make_is_no_verdict_and_would_be_one_without_them() -> None:
    measured = boots(3, spread=0.01, seed=3)
    asked = {"baseline": "base", "direction": "lower", "planned_blocks": BLOCKS}
    one = {arm: dict.fromkeys(of, of[1]) for arm, of in measured.items()}
    jitter = {arm: {b: v * (1 + 1e-4 * (b % 5)) for b, v in of.items()} for arm, of in one.items()}
    assert judge(jitter, **asked)["new"].verdict in ("better", "worse")  # type: ignore[arg-type]
    assert judge(measured, **asked, layouts=3)["new"].verdict == "undecided"  # type: ignore[arg-type]


def test_a_block_with_a_gap_counts_for_no_arm() -> None:
    y = np.arange(12, dtype=float).reshape(1, 2, 6)
    present = np.ones((2, 6), dtype=bool)
    present[1, 0] = False
    means, there = by_layout(y, present, range(1, 7), 3)
    assert means[0].tolist() == [[3.0, 2.5, 3.5], [9.0, 8.5, 9.5]]
    assert there.all()


def test_an_arm_that_never_came_up_takes_no_block_from_the_others() -> None:
    y = np.ones((1, 3, 4))
    present = np.array([[True] * 4, [False] * 4, [True] * 4])
    _, there = by_layout(y, present, range(1, 5), 2)
    assert there.tolist() == [[True, True], [False, False], [True, True]]


def test_blocks_of_one_layout_have_no_interval_and_it_is_said_why() -> None:
    measured = {arm: {1: 1.0 + i, 4: 1.1 + i} for i, arm in enumerate(("base", "new"))}
    found = judge(measured, baseline="base", direction="lower", layouts=3)["new"]
    assert (found.verdict, found.ci_low_percent) == ("undecided", None)
    assert "one layout" in found.note


@pytest.mark.parametrize("layouts", [3, 6])
def test_builds_of_one_source_are_seldom_told_apart(layouts: int) -> None:
    truth = Truth(layout_noise=3.0, contrasts=1, experiments=400, seed=5)
    own, ignored = outcome_of(truth, layouts), outcome_of(truth, 1)
    assert own.alarm < 0.03
    assert ignored.alarm > 0.4
