"""Limits on metrics: what keeps them, what breaks them, and what cannot be told."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from mitigauge.analysis.verdicts.metric_limits import (
    Bounds,
    Kept,
    MetricLimit,
    judged_change,
    judged_level,
    level_of,
)
from mitigauge.core.stats.bounds import Bound


def limit(**more: Any) -> MetricLimit:
    return MetricLimit.model_validate({"workload": "syscall", "metric": "time_per_call", **more})


@pytest.mark.parametrize(
    ("low", "high", "kept"),
    [(90, 99, "pass"), (90, 100, "pass"), (95, 105, "cannot_tell"), (101, 105, "fail")],
)
def test_a_level_is_judged_by_its_whole_interval(low: float, high: float, kept: str) -> None:
    level = Bounds((low + high) / 2, low, high)
    assert judged_level(limit(at_most=100), level) == kept
    turned = Bounds(-level.value, -high, -low)
    assert judged_level(limit(at_least=-100), turned) == kept


@pytest.mark.parametrize(
    ("low", "high", "direction", "kept"),
    [
        (-3, 0.5, "lower", "pass"),
        (0.5, 1.5, "lower", "cannot_tell"),
        (1.5, 3, "lower", "fail"),
        (-0.5, 3, "higher", "pass"),
        (-3, -1.5, "higher", "fail"),
    ],
)
def test_a_change_is_judged_by_what_is_worse(
    low: float, high: float, direction: Any, kept: str
) -> None:
    change = Bounds((low + high) / 2, low, high)
    assert judged_change(limit(worse_by_percent=1), change, direction) == kept


@pytest.mark.parametrize(
    ("bound", "low", "high", "kept"),
    [
        # What costs nothing on an emulated host may cost more than the limit on a real one.
        ("at_least", -0.2, 0.3, "cannot_tell"),
        ("at_least", 1.5, 2, "fail"),
        ("at_most", -0.2, 0.3, "pass"),
        ("at_most", 1.5, 2, "cannot_tell"),
        ("nothing", -0.2, 0.3, "cannot_tell"),
        ("nothing", 1.5, 2, "cannot_tell"),
    ],
)
def test_a_change_that_is_a_bound_is_judged_by_what_it_bounds(
    bound: str, low: float, high: float, kept: str
) -> None:
    change = Bounds((low + high) / 2, low, high, Bound(bound))
    assert judged_change(limit(worse_by_percent=1), change, "lower") == kept
    turned = {"at_least": "at_most", "at_most": "at_least"}.get(bound, bound)
    other = Bounds(-change.value, -high, -low, Bound(turned))
    assert judged_change(limit(worse_by_percent=1), other, "higher") == kept


def test_a_limit_says_what_it_is() -> None:
    assert limit(at_most=120).in_words("ns") == "syscall/time_per_call at most 120 ns"
    assert limit(at_least=1.5).in_words() == "syscall/time_per_call at least 1.5"
    said = limit(worse_by_percent=1, than="before").in_words("%")
    assert said == "syscall/time_per_call worse than before by at most 1 %"


def test_without_an_interval_nothing_can_be_told() -> None:
    for level in (None, Bounds(50, None, None)):
        assert judged_level(limit(at_most=100), level) is Kept.CANNOT_TELL
        assert judged_change(limit(worse_by_percent=1), level, "lower") is Kept.CANNOT_TELL


def test_a_level_has_student_s_interval_over_boots() -> None:
    """Three boots: 4.303 standard errors, from a table of t."""
    level = level_of([9.0, 10.0, 11.0])
    assert level
    assert level.low
    assert level.high
    assert level.value == 10
    assert level.high - 10 == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert 10 - level.low == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert level_of([5.0]) == Bounds(5.0, None, None)
    assert level_of([]) is None


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"at_most": 1, "at_least": 2},
        {"at_most": math.nan},
        {"worse_by_percent": -1},
        {"at_most": 1, "unknown": 2},
        {"at_most": "many"},
        {"at_most": 1, "than": "before"},
    ],
)
def test_a_line_that_is_none_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        limit(**more)


def test_a_case_is_meant_by_the_parameters_that_are_said() -> None:
    of = limit(at_most=1, case={"test": "basic"})
    assert of.is_of({"test": "basic", "seconds": 1})
    assert not of.is_of({"test": "fork"})
    assert not of.is_of({})
