"""The benchmark of the whole path of an alarm: what it counts, by hand-made series."""

from __future__ import annotations

import numpy as np
import pytest

from bench.truth.confirmed import NULL, STEPS, Path, false_share, fresh_boots, upward, worse
from bench.truth.made import LEVEL
from bench.truth.series import Known, Truth
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


def test_the_false_share_is_what_bayes_makes_of_both_rates() -> None:
    paths = [Path(kind, 1.0, 1000, 50, 5, 1.0) for kind in NULL]
    paths += [Path(kind, 1.0, 100, 100, 90, 20.0) for kind in STEPS]
    # 98 of 100 series at 0.5 %, 2 at 90 %.
    assert false_share(paths, 1.0, 0.02) == pytest.approx(0.0049 / (0.0049 + 0.018))
    assert paths[0].share[0] < 0.005 < paths[0].share[1]
