"""The benchmark of the whole path of an alarm: what it counts, by hand-made series."""

from __future__ import annotations

import numpy as np
import pytest

from bench.truth.confirmed import STEPS, Decided, Path, fresh_boots, upward, worse
from bench.truth.made import LEVEL, NULL
from bench.truth.series import Known, Truth
from bench.truth.weeks import fleets
from bench.truth.year import Said


def stepped(size: float, place: int = 40) -> Known:
    values = np.full(78, LEVEL)
    values[place:] += size
    return Known("step 2", values, (Truth(place, place, size),), np.arange(78))


def test_a_step_for_the_better_is_turned_about_the_level() -> None:
    turned = upward(stepped(-3.0))
    assert turned.changes[0].size == 3.0
    assert np.allclose(turned.values, stepped(3.0).values)
    assert upward(stepped(3.0)).changes[0].size == 3.0


def test_only_alarms_for_the_worse_at_the_step_are_followed() -> None:
    of = stepped(3.0)
    said = [Said(40, 50), Said(10, 50), Said(44, 60), Said(46, 60)]
    assert worse(of, said) == [Said(40, 50), Said(44, 60)]
    assert worse(stepped(-3.0), [Said(40, 50)]) == []
    # Where nothing was changed, each place counts behind which values are larger.
    null = Known("normal", of.values, (), of.weeks)
    assert worse(null, [Said(40, 50), Said(10, 50)]) == [Said(40, 50)]


def test_fresh_boots_tell_a_large_effect_and_none() -> None:
    confirmed, boots = fresh_boots(50, 5.0, 1.0, "Gaussian")
    assert all(confirmed)
    assert boots < 50 * 40
    confirmed, boots = fresh_boots(200, 0.0, 1.0, "Gaussian")
    assert sum(confirmed) <= 6
    assert boots > 200 * 20


def test_a_path_counts_series_and_alarms() -> None:
    path = Path("normal", 1.0, ((Decided(3, True), Decided(9, False)), (), (Decided(9, False),)), 1)
    assert (path.series, path.alarms, path.confirmed) == (3, 3, 1)
    assert path.share[0] < 1 / 3 < path.share[1]


def paths(null: tuple[Decided, ...], step: tuple[Decided, ...], *, nulls: int = 5) -> list[Path]:
    quiet: tuple[Decided, ...] = ()
    found = [Path(kind, 1.0, (null, *[quiet] * (nulls - 1)), 1.0) for kind in NULL[:1]]
    found += [Path(kind, 1.0, (quiet,) * nulls, 1.0) for kind in NULL[1:]]
    return [*found, *(Path(kind, 1.0, (step,) * 10, 20.0) for kind in STEPS)]


def test_a_week_has_the_false_part_of_what_it_calls_confirmed() -> None:
    of = fleets(paths((Decided(7, True),), (Decided(7, True),)), 1.0, 0.2, 50)
    # 40 null series, one of which is confirmed, beside 10 that step: all in the seventh week.
    assert (of.true, of.false, of.held_back) == (10, 1, 0)
    assert len(of.shares) == 52
    assert of.shares[6] == pytest.approx(1 / 11)
    assert of.mean == pytest.approx(1 / 11 / 52)
    assert of.interval[0] <= of.mean <= of.interval[1]


def test_a_week_that_confirmed_too_few_calls_none_so() -> None:
    # One of eleven is below a fifth.
    refuted, confirmed = (Decided(7, False),), (Decided(7, True),)
    of = fleets(paths(confirmed, refuted), 1.0, 0.2, 50)
    assert (of.true, of.false, of.mean) == (0, 0, 0.0)
    assert 0.0 < of.interval[1] < 0.1
    # Two fleets of 25, each with five that step: one of six in one of them, none in the other.
    of = fleets(paths(confirmed, refuted), 1.0, 0.2, 25)
    assert len(of.shares) == 104
    assert of.false == 0


def test_a_true_one_is_held_back_among_many_that_are_refuted() -> None:
    refuted = tuple(Decided(7, False) for _ in range(50))
    of = fleets(paths(refuted, (Decided(7, True),)), 1.0, 0.2, 50)
    assert (of.true, of.held_back) == (0, 10)
