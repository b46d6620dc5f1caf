"""Any stored numbers and any pattern of boots have an answer: no exception, no warning."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mitigauge.core.stats.boot_means import mean_of
from mitigauge.core.stats.exploratory import judge_exploratory
from mitigauge.core.stats.modality import two_groups
from mitigauge.core.stats.noise import NoiseSplit, recommended_iterations, split_noise
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.verdicts import judge_many

LARGEST = sys.float_info.max
ODD = [0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1e-160, 1.0, 1e100, -1e100, 1e308, LARGEST, -LARGEST]
NUMBERS = st.one_of(
    st.sampled_from(ODD),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0.9, 1.1),
)
ARMS = ["base", "b", "c", "d", "e", "f"]
BOOTS = st.dictionaries(
    st.sampled_from(ARMS),
    st.dictionaries(st.integers(1, 9), st.lists(NUMBERS, min_size=1, max_size=3), max_size=9),
    max_size=len(ARMS),
)
CASES = st.lists(
    st.builds(
        Question,
        boots=BOOTS,
        direction=st.sampled_from(["lower", "higher"]),
        unit=st.sampled_from(["ns", "count", "percent", ""]),
        delta_percent=st.sampled_from([1e-9, 1.0, 99.9]),
        planned_blocks=st.sampled_from([None, 1, 4, 9, 64]),
        ended=st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


def told(answer: ArmVerdict | NoiseSplit, *names: str) -> None:
    for name in names:
        value = getattr(answer, name)
        assert value is None or math.isfinite(value), (name, value)


def one(*values: float, unit: str = "ns") -> list[Question]:
    blocks = {n: [value] * 3 for n, value in enumerate(values)}
    return [Question({"base": blocks, "b": blocks}, "lower", unit, ended=True)]


@pytest.mark.long("150 made cases, judged whole")
@settings(max_examples=150)
@given(cases=CASES)
@example(cases=one(1e308, 1e308, 1e308))
@example(cases=one(1e308, -1e308, 5e-324, 1.0, unit="count"))
@example(cases=one(5e-324, LARGEST, 5e-324, LARGEST))
@pytest.mark.parametrize("judge", [judge_many, judge_exploratory])
def test_every_question_has_an_answer(judge: Any, cases: list[Question]) -> None:
    answers = judge(cases, baseline="base", alpha=0.01)
    assert len(answers) == len(cases)
    for case, answer in zip(cases, answers, strict=True):
        assert set(answer) == {"base", *case.boots}
        for verdict in answer.values():
            assert verdict.verdict in {"better", "worse", "same", "undecided", None}
            told(verdict, "mean", "effect_percent", "ci_low_percent", "ci_high_percent",
                 "mde_percent", "p", "q")  # fmt: skip
            assert verdict.p is None or 0 <= verdict.p <= 1


@settings(max_examples=150)
@given(boots=BOOTS, unit=st.sampled_from(["ns", "count"]))
@example(boots={"base": {1: [1e100, -1e100, 1e-300], 2: [1.0]}}, unit="ns")
@example(boots={"base": {1: [1e308] * 3, 2: [1e308, -1e308]}}, unit="count")
def test_noise_is_told_or_unknown(boots: Any, unit: str) -> None:
    split = split_noise(boots, baseline="base", unit=unit)
    told(split, "boot_mean", "boot", "iteration")
    assert 3 <= recommended_iterations(split, boot_cost_s=60.0, iteration_cost_s=1.0) <= 15


@settings(max_examples=150)
@given(values=st.lists(NUMBERS, max_size=40))
@example(values=[1e308] * 6 + [-1e308] * 6)
@example(values=[1e-200] * 6 + [2e-200] * 6)
def test_groups_are_told_or_there_are_none(values: list[float]) -> None:
    found = two_groups(values)
    assert found is None or (math.isfinite(found.low) and math.isfinite(found.high))
    if values == [1e-200] * 6 + [2e-200] * 6:
        assert found is not None


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
@example(values=[1e308] * 3)
@example(values=[LARGEST] * 7)
def test_a_mean_lies_between_the_values(values: list[float]) -> None:
    smallest, largest, mean = min(values), max(values), mean_of(values)
    # But for the last digit: the sum of equal numbers is rounded too.
    assert smallest <= mean <= largest or any(
        math.isclose(mean, bound, rel_tol=1e-15) for bound in (smallest, largest)
    )


def test_the_mean_of_three_1e308_is_1e308() -> None:
    assert mean_of([1e308] * 3) == 1e308
    assert mean_of([LARGEST, -LARGEST, 3.0]) == 1.0
