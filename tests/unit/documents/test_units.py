"""Values are printed as people say them."""

from __future__ import annotations

import pytest

from mitigauge.core.documents.units import (
    detectable,
    humanise,
    humanise_interval,
    interval,
    percent,
)
from mitigauge.core.effect import digits_for


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.3184e9, "bit/s", "2.32 Gbit/s"),
        (108.2e6, "bit/s", "108 Mbit/s"),
        (999.9e6, "bit/s", "1.00 Gbit/s"),
        (369.7, "ns", "370 ns"),
        (7812.0, "ns", "7.81 µs"),
        (4.2e-7, "s", "420 ns"),
        (12.3, "s", "12.3 s"),
        (0.0, "s", "0 s"),
        (380.0, "ns/call", "380 ns/call"),
        (0.25, "percent", "0.250 %"),
        (17.0, "count", "17.0"),
        (0.0, "count", "0"),
        (1234.0, "count", "1230"),
        (3.5e12, "widgets", "3.50e+12 widgets"),
        (-42.0, "widgets", "-42.0 widgets"),
    ],
)
def test_values_take_the_unit_that_suits_them(value: float, unit: str, text: str) -> None:
    assert humanise(value, unit) == text


def test_effects_are_signed_and_a_rounded_zero_is_positive() -> None:
    assert percent(-10.44) == "-10.4%"
    assert percent(-0.04) == "+0.0%"
    assert interval(-12.06, 8.71) == "[-12.1, +8.7]"
    assert percent(1.23e9) == "+1.2e+09%"


def test_narrow_intervals_earn_a_second_decimal() -> None:
    assert digits_for(-0.2, 0.4) == 2
    assert digits_for(-2.0, 0.4) == 1
    assert digits_for(900.0, 1900.0) == 0
    assert digits_for(None, None) == 1


def test_an_end_just_off_zero_does_not_read_as_zero() -> None:
    assert digits_for(0.02, 5.0) == 2
    assert digits_for(-0.6, -0.004) == 3
    assert digits_for(0.0, 5.0) == 1
    assert digits_for(-1200.0, 0.3) == 1


def test_a_detectable_effect_beyond_all_measure_is_not_spelled_out() -> None:
    assert detectable(3.21) == "mde 3.2%"
    assert detectable(0.123, digits=2) == "mde 0.12%"
    assert detectable(4e34) == "mde >1000%"


def test_an_interval_that_says_nothing_is_not_spelled_out() -> None:
    assert interval(-100.0, 6.2e6, digits=0) == "[-100, >+1000]"
    assert interval(-100.0, 1000.0, digits=0) == "[-100, +1000]"
    assert interval(1200.0, 1500.0, digits=0) == "[+1200, +1500]"


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "text"),
    [
        (1153.6, 1063.8, 1243.4, "ns", "1.15 µs [1.06, 1.24]"),
        (20.16, 19.88, 20.45, "ns", "20.2 ns [19.9, 20.4]"),
        (-67381.5, -197719.0, 62956.0, "ns", "-67.4 µs [-198, 63.0]"),
        (4.21, 3.9, 4.53, "sessions", "4.21 sessions [3.90, 4.53]"),
        (4.21, 3.9, 4.53, "count", "4.21 [3.90, 4.53]"),
        (1.7e9, 1.6e9, 1.8e9, "bit/s", "1.70 Gbit/s [1.60, 1.80]"),
    ],
)
def test_both_ends_of_an_interval_are_in_the_unit_of_the_value(
    value: float, low: float, high: float, unit: str, text: str
) -> None:
    assert humanise_interval(value, low, high, unit) == text
