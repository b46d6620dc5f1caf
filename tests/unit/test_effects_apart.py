"""Effects measured apart: what intervals give back, how often they cover, which rows differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from mitigauge.core.stats.effects_apart import (
    Differences,
    Estimates,
    StoredEffects,
    differences,
    estimates_of,
    is_on_log,
    judge,
    percent_of,
    residual_df,
)
from mitigauge.core.stats.question import Question
from mitigauge.core.stats.verdicts import judge_many

Array = NDArray[Any]


def estimates(value: Array | float, error: Array | float, df: float) -> Estimates:
    value, error = np.atleast_1d(value), np.atleast_1d(error)
    return Estimates(value * 1.0, error * 1.0, np.full(value.shape, df, dtype=np.float64))


def stored(found: list[Any], arms: int, blocks: int) -> StoredEffects:
    columns = np.array([(f.effect_percent, f.ci_low_percent, f.ci_high_percent) for f in found])
    df = max(blocks * arms - blocks - (arms - 1), 0)
    return StoredEffects(
        *columns.T,
        np.full(len(found), df, dtype=np.intp),
        np.full(len(found), arms - 1, dtype=np.intp),
    )


@pytest.mark.parametrize(("arms", "blocks"), [(2, 4), (3, 4), (4, 6)])
@pytest.mark.parametrize("unit", ["ns", "count"])
def test_a_standard_error_is_taken_back_from_the_interval(
    arms: int, blocks: int, unit: str
) -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(0, 0.01, (arms, blocks))
    values = 100 * np.exp(y) if unit == "ns" else 100 * (1 + y)
    boots = {arm: dict(enumerate(values[arm], start=1)) for arm in range(arms)}
    question = Question(boots, "lower", unit, 1.0, blocks, True, 1)
    [verdicts] = judge_many([question], baseline=0, looks=[blocks])
    effects = stored([verdicts[1]], arms, blocks)
    logs = np.log(values) if unit == "ns" else values / values[0].mean()
    centred = logs - logs.mean(0) - logs.mean(1)[:, None] + logs.mean()
    sigma = np.sqrt((centred**2).sum() / ((arms - 1) * (blocks - 1)))
    on_log = is_on_log(effects)
    assert on_log.tolist() == [unit == "ns"]
    found = estimates_of(effects, on_log)
    pooled = sigma * np.sqrt(2 / blocks)
    if arms == 2:
        assert found.error[0] == pytest.approx(pooled, rel=1e-5)
    else:
        # The arm's own differences scatter more than all arms together.
        assert found.error[0] >= pooled * (1 - 1e-5)
    assert found.value[0] == pytest.approx((logs[1] - logs[0]).mean(), rel=1e-6)


def test_the_difference_is_welchs() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 5), rng.normal(0.4, 3, 9)
    sides = [
        Estimates(np.array([x.mean()]), np.array([x.std(ddof=1) / len(x) ** 0.5]),
                  np.array([len(x) - 1.0]))
        for x in (a, b)
    ]  # fmt: skip
    found = differences(sides[0], sides[1])
    theirs = stats.ttest_ind(b, a, equal_var=False)
    low, high = theirs.confidence_interval(0.95)
    assert found.p[0] == pytest.approx(theirs.pvalue)
    assert found.df[0] == pytest.approx(theirs.df)
    assert (found.low[0], found.high[0]) == (pytest.approx(low), pytest.approx(high))


@settings(max_examples=200, deadline=None)
@given(
    a=st.floats(-0.5, 0.5), b=st.floats(-0.5, 0.5), error_a=st.floats(1e-6, 1),
    error_b=st.floats(1e-6, 1), df_a=st.integers(1, 60), df_b=st.integers(1, 60),
)  # fmt: skip
def test_a_difference_turns_round_with_its_sides(
    a: float, b: float, error_a: float, error_b: float, df_a: int, df_b: int
) -> None:
    one, other = estimates(a, error_a, df_a), estimates(b, error_b, df_b)
    there, back = differences(one, other), differences(other, one)
    assert there.value[0] == pytest.approx(-back.value[0])
    assert there.low[0] == pytest.approx(-back.high[0])
    assert there.p[0] == pytest.approx(back.p[0])
    # Neither surer than the surer side, nor than both together.
    assert min(df_a, df_b) * 0.999 <= there.df[0] <= (df_a + df_b) * 1.001
    assert there.error[0] >= max(error_a, error_b) * 0.999


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**31), arms=st.integers(2, 4), blocks=st.integers(4, 10),
    other_blocks=st.integers(4, 10), effect=st.floats(-0.2, 0.2),
)  # fmt: skip
def test_intervals_cover_the_true_difference_as_often_as_they_say(
    seed: int, arms: int, blocks: int, other_blocks: int, effect: float
) -> None:
    rng = np.random.default_rng(seed)
    count = 20_000
    sides = []
    for of_blocks, scatter, shift in ((blocks, 0.01, effect), (other_blocks, 0.03, effect + 0.02)):
        df = (arms - 1) * (of_blocks - 1)
        error = scatter * np.sqrt(2 / of_blocks)
        seen = error * np.sqrt(rng.chisquare(df, count) / df)
        sides.append(Estimates(rng.normal(shift, error, count), seen, np.full(count, float(df))))
    found = differences(*sides)
    covered = ((found.low <= 0.02) & (found.high >= 0.02)).mean()
    # Welch's t is exact to about 1 % of the 95 where degrees of freedom are few.
    assert 0.932 < covered < 0.967


def test_of_stored_verdicts_the_intervals_cover_too() -> None:
    rng = np.random.default_rng(11)
    count, arms, blocks = 400, 3, 5
    sides = []
    for shift in (0.0, 0.03):
        # What an experiment stores that was judged once, at its end.
        found = []
        for _ in range(count):
            y = rng.normal(0, 0.02, blocks) + rng.normal(0, 0.01, (arms, blocks))
            y[1] += shift
            boots = {arm: dict(enumerate(100 * np.exp(y[arm]), start=1)) for arm in range(arms)}
            found.append(Question(boots, "lower", "ns", 1.0, blocks, True, 1))
        verdicts = judge_many(found, baseline=0, looks=[blocks])
        effects = stored([each[1] for each in verdicts], arms, blocks)
        sides.append(estimates_of(effects, np.ones(count, dtype=np.bool_)))
    both = differences(*sides)
    covered = ((both.low <= 0.03) & (both.high >= 0.03)).mean()
    assert 0.91 < covered < 0.985


def test_of_unchanged_rows_hardly_any_family_has_one_that_differs() -> None:
    rng = np.random.default_rng(5)
    families = 400
    alarms = 0
    for _ in range(families):
        sides = []
        for _ in range(2):
            seen = 0.01 * np.sqrt(rng.chisquare(6, 60) / 6)
            sides.append(Estimates(rng.normal(0, 0.01, 60), seen, np.full(60, 6.0)))
        found = differences(*sides)
        judged = judge(found, blocks=np.full(60, 4, dtype=np.intp), delta=np.full(60, 0.01))
        alarms += bool(judged.differs.any())
    assert alarms / families < 0.08


def test_what_may_be_detected_is_found_about_as_often_as_said() -> None:
    rng = np.random.default_rng(6)
    found = differences(estimates(0.0, 0.01, 12), estimates(0.0, 0.01, 12))
    told = judge(found, blocks=np.array([4]), delta=np.array([0.01])).detectable[0]
    seen = 0.01 * np.sqrt(rng.chisquare(12, (2, 20_000)) / 12)
    a = Estimates(rng.normal(0, 0.01, 20_000), seen[0], np.full(20_000, 12.0))
    b = Estimates(rng.normal(told, 0.01, 20_000), seen[1], np.full(20_000, 12.0))
    # One row alone is judged at 5 %.
    assert 0.76 < (differences(a, b).p <= 0.05).mean() < 0.84


def quiet(value: float) -> Differences:
    return differences(estimates(0.0, 0.0, 3), estimates(value, 0.0, 3))


@pytest.mark.parametrize(
    ("value", "blocks", "differs"),
    [(0.0, 8, False), (0.009, 8, False), (0.02, 8, True), (0.02, 3, False), (-0.02, 4, True)],
)
def test_without_noise_a_row_differs_beyond_delta_from_four_blocks_on(
    value: float, blocks: int, differs: bool
) -> None:
    judged = judge(quiet(value), blocks=np.array([blocks]), delta=np.array([0.01]))
    assert judged.differs.tolist() == [differs]


def test_a_row_without_an_interval_is_no_question() -> None:
    nan = float("nan")
    a = Estimates(np.array([0.0, nan]), np.array([0.01, nan]), np.array([6.0, 0.0]))
    b = Estimates(np.array([0.2, 0.1]), np.array([0.01, 0.01]), np.array([6.0, 6.0]))
    found = differences(a, b)
    assert np.isnan([found.value[1], found.p[1], found.low[1]]).all()
    judged = judge(found, blocks=np.array([4, 4]), delta=np.array([0.01, 0.01]))
    assert judged.q[0] == pytest.approx(found.p[0])
    assert np.isnan([judged.q[1], judged.detectable[1]]).all()
    assert judged.differs.tolist() == [True, False]


def test_nothing_to_judge_is_nothing() -> None:
    none = np.empty(0)
    found = differences(Estimates(none, none, none), Estimates(none, none, none))
    assert judge(found, blocks=np.empty(0, dtype=np.intp), delta=none).differs.size == 0


def test_one_quiet_side_leaves_the_noise_and_freedom_of_the_other() -> None:
    found = differences(estimates(0.0, 0.0, 1), estimates(0.1, 0.02, 7))
    assert found.error[0] == pytest.approx(0.02)
    assert found.df[0] == pytest.approx(7)


def test_percent_is_of_factors_on_the_log_scale_and_of_points_on_the_linear_one() -> None:
    both = percent_of(np.array([0.1, 0.1]), np.array([True, False]))
    assert both.tolist() == [pytest.approx(100 * np.expm1(0.1)), pytest.approx(10.0)]


def test_gaps_leave_fewer_degrees_of_freedom() -> None:
    boots, blocks, contrasts = np.array([(18, 6, 2), (15, 6, 2), (2, 1, 1), (1, 1, 1)]).T
    assert residual_df(boots, blocks, contrasts).tolist() == [10, 7, 0, 0]
