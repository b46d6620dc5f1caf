"""Change points: found where they are, told from outliers and from chance."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.core.stats.change_points import SHORTEST, _ratios, courses, wild

RNG = np.random.default_rng(5)
NOISE = RNG.normal(0.0, 0.001, 60)


def test_the_ratio_is_that_of_two_normal_likelihoods() -> None:
    """Written down by itself: twice the log of the ratio for a known deviation, at every place."""
    values = RNG.normal(size=14)
    for place, ratio in enumerate(_ratios(values), SHORTEST):
        one, two = values[:place], values[place:]
        apart = [np.square(part - part.mean()).sum() for part in (values, one, two)]
        assert ratio**2 == pytest.approx(apart[0] - apart[1] - apart[2], rel=1e-9)


def test_a_step_is_found_at_its_place_with_its_size() -> None:
    values = NOISE[:40] + np.where(np.arange(40) < 25, 0.0, 0.05)
    (change,) = courses([values], smallest=0.01)[0].changes
    assert (change.at, change.earliest, change.latest, change.until) == (25, 25, 25, None)
    assert change.low < 0.05 < change.high
    assert change.p < 1e-6


def test_a_level_that_comes_back_is_one_change() -> None:
    values = NOISE[:40] + np.where((np.arange(40) >= 15) & (np.arange(40) < 25), 0.05, 0.0)
    (change,) = courses([values], smallest=0.01)[0].changes
    assert (change.at, change.until) == (15, 25)


def test_one_value_off_is_an_outlier() -> None:
    values = NOISE[:40].copy()
    values[20] += 0.2
    course = courses([values], smallest=0.01)[0]
    assert (course.changes, course.outliers) == ((), (20,))


def with_wild(places: list[int], factor: float, before: int, after: int) -> np.ndarray:
    """Logarithms of *before* values at 100 and *after* at 105, some of them times *factor*."""
    rng = np.random.default_rng([before, after, *places])
    values = np.log(np.repeat([100.0, 105.0], [before, after]))
    values += rng.normal(0.0, 0.001, before + after)
    values[places] += np.log(factor)
    return values


FACTORS = (1e-3, 0.1, 0.5, 0.9, 1.1, 2.0, 10.0, 1e3, 1e6)


@pytest.mark.parametrize("factor", FACTORS)
def test_one_wild_value_anywhere_hides_no_step(factor: float) -> None:
    """It was missed in 147 of 200 draws. The last factors are a run in a wrong unit."""
    series = [with_wild([place], factor, 10, 8) for place in range(18)]
    for place, course in enumerate(courses(series, smallest=0.00995)):
        (change,) = course.changes
        assert abs(change.at - 10) <= 1, place
        assert np.exp(change.difference) == pytest.approx(1.05, abs=0.005)
        assert place in course.outliers


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(
    "places",
    [[19, 20], [20, 21], [0, 35], [0, 1], [34, 35], [3, 30], [5, 6, 7], [19, 20, 21], [18, 19, 20],
     [0, 1, 2], [33, 34, 35], [2, 15, 28]],
    ids=str,
)  # fmt: skip
def test_two_and_three_wild_values_hide_no_step(places: list[int], factor: float) -> None:
    (course,) = courses([with_wild(places, factor, 20, 16)], smallest=0.00995)
    (change,) = course.changes
    assert change.until is None
    assert abs(change.at - 20) <= 1 + len(places)
    assert np.exp(change.difference) == pytest.approx(1.05, abs=0.005)
    assert set(places) <= set(course.outliers)


def test_a_short_level_is_no_outlier() -> None:
    values = np.concatenate([NOISE, NOISE + 0.0, NOISE])[:160]
    values = values + np.where((np.arange(160) >= 80) & (np.arange(160) < 86), 0.05, 0.0)
    (course,) = courses([values], smallest=0.01)
    assert [(c.at, c.until) for c in course.changes] == [(80, 86)]


def test_what_a_third_of_the_values_do_is_no_outlier() -> None:
    values = NOISE + np.where(np.arange(60) % 5 < 2, 0.2, 0.0)
    assert not wild(values, 0.01).any()


def test_a_change_below_what_counts_is_none() -> None:
    values = NOISE[:40] + np.where(np.arange(40) < 20, 0.0, 0.008)
    assert courses([values], smallest=0.01)[0].changes == ()
    assert len(courses([values], smallest=0.005)[0].changes) == 1


def test_equal_values_and_few_values_show_nothing() -> None:
    series = [np.ones(30), np.array([]), np.array([1.0]), np.arange(5.0)]
    assert all(course.changes == () for course in courses(series))


def test_chance_is_rarely_called_a_change() -> None:
    values = np.random.default_rng(11).normal(size=(3000, 52))
    changed = sum(bool(course.changes) for course in courses(list(values)))
    assert changed <= 12  # 0.1 % are expected; 0.4 % would be far beyond that


def test_the_same_values_give_the_same_answer_alone_and_among_others() -> None:
    values = NOISE[:40] + np.where(np.arange(40) < 25, 0.0, 0.003)
    others = list(np.random.default_rng(2).normal(size=(50, 40)))
    assert courses([values])[0] == courses([*others, values])[-1]


def test_neighbours_that_are_alike_raise_the_bar() -> None:
    rng = np.random.default_rng(8)
    noise = rng.normal(size=(400, 80))
    for at in range(1, 80):
        noise[:, at] += 0.6 * noise[:, at - 1]
    changed = np.mean([bool(course.changes) for course in courses(list(noise))])
    white = np.mean([bool(course.changes) for course in courses(list(RNG.normal(size=(400, 80))))])
    assert changed <= white + 0.1
