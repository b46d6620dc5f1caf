"""A figure of each arm over its boots: intervals, changes, and figures beyond what was tried."""

from __future__ import annotations

import math

import pytest

from mitigauge.analysis.verdicts.over_boots import FigureQuestion, OverBoots, over_boots
from mitigauge.core.stats.boot_interval import boot_interval

BASE, OTHER, THIRD = 1, 2, 3


def asked(
    base: list[float | None],
    other: list[float | None],
    *,
    unit: str = "s",
    tried: float | None = None,
    layouts: int = 1,
) -> tuple[OverBoots, OverBoots]:
    boots = {arm: dict(enumerate(v, start=1)) for arm, v in ((BASE, base), (OTHER, other))}
    most = None if tried is None else {BASE: tried, OTHER: tried}
    [found] = over_boots(
        [FigureQuestion(boots, unit, "higher", most)], baseline=BASE, layouts=layouts
    )
    return found[BASE], found[OTHER]


def test_an_interval_is_student_s_over_boots_on_the_unit_s_scale() -> None:
    linear = boot_interval([10.0, 12.0, 14.0], "percent")
    # t(2, 0.975) = 4.3027, the standard error 2 / √3.
    assert linear.low == pytest.approx(12 - 4.302653 * 2 / math.sqrt(3))
    assert linear.high == pytest.approx(12 + 4.302653 * 2 / math.sqrt(3))
    factors = boot_interval([1.0, 4.0], "s")
    assert factors.mean == pytest.approx(2.0)
    assert factors.low is not None
    assert factors.high is not None
    assert factors.low * factors.high == pytest.approx(4.0)


def test_a_change_is_of_boots_within_blocks() -> None:
    # The machine warms up: blocks differ far more than arms do.
    base, other = asked([1.0, 2.0, 4.0, 8.0], [1.1, 2.21, 4.4, 8.8])
    assert base.change is None
    assert other.change == pytest.approx(10.1, abs=0.1)
    assert other.change_low is not None
    assert other.change_high is not None
    assert 9.5 < other.change_low < other.change_high < 10.8
    # Each by itself scatters with the machine.
    assert other.low is not None
    assert other.low < 1.0


def test_one_boot_has_no_interval() -> None:
    base, other = asked([1.0], [2.0])
    assert (base.low, base.high, base.note) == (None, None, "one boot: no interval")
    assert other.change == pytest.approx(100.0)
    assert other.change_low is None


def test_a_boot_that_cannot_tell_is_left_out_and_counted() -> None:
    base, other = asked([1.0, None, 1.2], [None, None, None])
    assert (base.boots, base.of, base.at_least) == (2, 3, False)
    assert (other.boots, other.of, other.value, other.note) == (0, 3, None, "no boot tells it")


@pytest.mark.parametrize(
    ("values", "value", "at_least", "note"),
    [
        ([4.0, 5.0, 6.0, 5.0], 5.0, False, ""),
        # Those that never reached it would be larger than any: the mean of the others is too low.
        ([4.0, 5.0, 6.0, None], 5.75, True, "reached in 3 of 4 boots"),
        ([4.0, None, None, 6.0], 6.5, True, "reached in 2 of 4 boots"),
        ([4.0, None, None, None], None, False, "reached in 1 of 4 boots"),
        ([None, None, None, None], None, False, "reached in 0 of 4 boots"),
    ],
)
def test_what_was_not_reached_is_never_dropped(
    values: list[float | None], value: float | None, at_least: bool, note: str
) -> None:
    _, other = asked([4.0, 4.1, 4.2, 4.3], values, unit="percent", tried=8.0)
    assert other.value == (None if value is None else pytest.approx(value))
    assert other.at_least is at_least
    assert note in other.note
    assert (other.low is None, other.change is None) == (bool(note), bool(note))


def test_a_censored_baseline_gives_no_change_and_spoils_no_other_arm() -> None:
    base, other = asked([4.0, None, 4.2, 4.3], [5.0, 5.1, 5.2, 5.3], tried=8.0)
    assert base.at_least
    assert (other.at_least, other.change) == (False, None)
    assert other.low is not None
    boots = {
        BASE: {1: 4.0, 2: 4.1, 3: 4.2}, OTHER: {1: 5.0, 2: None, 3: None},
        THIRD: {1: 5.0, 2: 5.1, 3: 5.3},
    }  # fmt: skip
    [found] = over_boots(
        [FigureQuestion(boots, "sessions", "higher", dict.fromkeys(boots, 8.0))], baseline=BASE
    )
    assert found[OTHER].value is None
    assert found[THIRD].change is not None
    assert found[THIRD].change > 20


def test_an_arm_without_boots_says_so() -> None:
    base, other = asked([1.0, 1.1], [])
    assert base.value is not None
    assert (other.of, other.note) == (0, "no boot that counts")


def test_layouts_not_their_boots_are_the_replicates() -> None:
    values: list[float | None] = [1.0, 2.0] * 8
    by_boot, _ = asked(values, values)
    by_layout, _ = asked(values, values, layouts=2)
    assert by_boot.low is not None
    assert by_boot.high is not None
    assert by_layout.low is not None
    assert by_layout.high is not None
    assert by_layout.high / by_layout.low > 10 * by_boot.high / by_boot.low
    one, _ = asked(values, values, layouts=1000)
    assert one.low is not None
