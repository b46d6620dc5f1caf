"""Verdicts: the rules, the edges, and what must not matter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.verdicts import ArmVerdict, Question, judge, judge_many
from tests.measuring import within_processor_s

Boots = dict[str, dict[int, list[float]]]

NOISE = (0.21, -0.34, 0.05, 0.41, -0.17, -0.29, 0.33, -0.08, 0.12, -0.38, 0.27, 0.02)


def simulated(
    seed: int,
    effects: dict[str, float],
    *,
    blocks: int = 4,
    sigma: float = 0.0035,
    iterations: int = 3,
    drift: float = 0.0,
) -> Boots:
    rng = np.random.default_rng(seed)
    return {
        arm: {
            block: (
                100.0
                * math.exp(effect + drift * block + rng.normal(0, sigma))
                * np.exp(rng.normal(0, 1e-4, iterations))
            ).tolist()
            for block in range(1, blocks + 1)
        }
        for arm, effect in effects.items()
    }


def one(boots: Any, arm: str = "on", **options: Any) -> ArmVerdict:
    options = {"baseline": "off", "direction": "lower"} | options
    return judge(boots, **options)[arm]


def test_a_large_slowdown_is_worse_and_its_interval_excludes_zero() -> None:
    verdict = one(simulated(1, {"off": 0.0, "on": 0.18}, sigma=0.01))
    assert verdict.verdict == "worse"
    assert verdict.ci_low_percent is not None
    assert verdict.ci_low_percent > 0
    assert (verdict.n, verdict.blocks, verdict.decided_at_look) == (4, 4, 4)


def test_the_direction_says_which_is_worse() -> None:
    boots = simulated(1, {"off": 0.0, "on": 0.18}, sigma=0.01)
    assert one(boots, direction="higher").verdict == "better"


def test_one_arm_alone_is_the_paired_t_test() -> None:
    boots = simulated(5, {"off": 0.0, "on": 0.01}, blocks=6, sigma=0.02, iterations=1)
    logs = [np.log([v[0] for v in boots[arm].values()]) for arm in ("on", "off")]
    paired = stats.ttest_rel(*logs)
    low, high = paired.confidence_interval(0.95)
    verdict = one(boots, looks=())
    assert verdict.p == pytest.approx(paired.pvalue)
    assert verdict.ci_low_percent == pytest.approx(100 * math.expm1(low))
    assert verdict.ci_high_percent == pytest.approx(100 * math.expm1(high))


def test_iterations_are_averaged_and_never_counted() -> None:
    boots = simulated(6, {"off": 0.0, "on": 0.02}, sigma=0.01)
    many = {a: {b: v * 50 for b, v in of.items()} for a, of in boots.items()}
    assert one(many).p == pytest.approx(one(boots).p)


def test_quiet_alike_arms_are_the_same() -> None:
    verdict = one(simulated(3, {"off": 0.0, "on": 0.0}, blocks=16))
    assert verdict.verdict == "same"


def test_a_real_change_within_delta_is_said_to_be_small() -> None:
    boots = simulated(3, {"off": 0.0, "on": 0.004}, blocks=8, sigma=0.0005)
    verdict = one(boots, looks=())
    assert verdict.verdict == "worse"
    assert "within ±1 %" in verdict.note


def test_noise_leaves_an_arm_undecided_with_what_could_have_been_seen() -> None:
    verdict = one(simulated(2, {"off": 0.0, "on": 0.0}, sigma=0.05))
    assert verdict.verdict == "undecided"
    assert verdict.mde_percent is not None
    assert verdict.mde_percent > 10


def test_the_smallest_detectable_effect_is_detected_four_times_in_five() -> None:
    # The power of a t test, by SciPy's own noncentral t distribution.
    verdict = one(simulated(0, {"off": 0.0, "on": 0.0}, blocks=8, sigma=0.01), looks=())
    assert verdict.mde_percent is not None
    assert verdict.ci_high_percent is not None
    assert verdict.effect_percent is not None
    reach = math.log1p(verdict.ci_high_percent / 100) - math.log1p(verdict.effect_percent / 100)
    error = reach / stats.t.isf(0.025, 7)
    noncentrality = math.log1p(verdict.mde_percent / 100) / error
    critical = stats.t.isf(0.005, 7)
    assert stats.nct.sf(critical, 7, noncentrality) == pytest.approx(0.8, abs=1e-4)


def test_an_early_verdict_is_final_and_says_that_it_came_early() -> None:
    boots = simulated(4, {"off": 0.0, "on": 0.18}, blocks=16)
    verdict = one(boots)
    assert (verdict.verdict, verdict.decided_at_look, verdict.n) == ("worse", 4, 4)
    assert "decided after 4 of 16 blocks" in verdict.note
    assert "overstates" in verdict.note


def test_looks_to_come_are_announced() -> None:
    boots = simulated(4, {"off": 0.0, "on": 0.18}, blocks=3)
    verdict = one(boots, planned_blocks=8)
    assert verdict.verdict == "undecided"
    assert verdict.note == "3 of 8 blocks: next look after 4"
    assert verdict.effect_percent is not None


def test_a_single_look_waits_for_the_last_block() -> None:
    boots = simulated(4, {"off": 0.0, "on": 0.18}, blocks=6)
    assert one(boots, planned_blocks=8, looks=()).verdict == "undecided"
    assert one(boots, planned_blocks=6, looks=()).decided_at_look == 6


def test_one_block_shows_the_effect_and_no_interval() -> None:
    verdict = one({"off": {1: 100.0}, "on": {1: 103.0}})
    assert verdict.effect_percent == pytest.approx(3.0)
    assert (verdict.ci_low_percent, verdict.p, verdict.mde_percent) == (None, None, None)
    assert verdict.verdict == "undecided"
    assert verdict.note == "one block: no noise estimate, so no interval"


def test_a_single_boot_is_no_comparison() -> None:
    answer = judge({"off": {1: 100.0}}, baseline="off", direction="lower")
    assert list(answer) == ["off"]
    assert (answer["off"].n, answer["off"].mean) == (1, pytest.approx(100.0))


def test_without_a_baseline_nothing_is_compared() -> None:
    answer = judge({"on": {1: 5.0, 2: 6.0}}, baseline="off", direction="lower")
    assert answer["off"].n == 0
    assert answer["on"].note == "the baseline has no boot that counts"
    assert answer["on"].verdict == "undecided"


def test_an_arm_that_was_never_in_force_is_named_without_figures() -> None:
    boots = simulated(1, {"off": 0.0, "on": 0.1}) | {"bhb-clear": {}}
    verdict = one(boots, "bhb-clear")
    assert (verdict.n, verdict.mean, verdict.effect_percent) == (0, None, None)
    assert verdict.note == "no boot that counts"


def test_an_arm_missing_in_a_block_is_compared_in_the_others() -> None:
    boots = simulated(1, {"off": 0.0, "on": 0.18, "more": 0.3}, drift=0.5)
    del boots["on"][2]
    verdict = one(boots)
    assert (verdict.n, verdict.blocks) == (3, 3)
    # Drift of a factor 1.6 a block would swamp 18 % if blocks were not taken out.
    assert verdict.effect_percent == pytest.approx(100 * math.expm1(0.18), abs=1.5)


def test_arms_in_different_blocks_are_not_compared() -> None:
    verdict = one({"off": {1: 5.0}, "on": {2: 6.0, 3: 6.0}})
    assert verdict.note == "shares no block with the baseline"
    assert verdict.effect_percent is None


def test_an_arm_invalidated_halfway_keeps_the_blocks_it_had() -> None:
    boots = simulated(8, {"off": 0.0, "on": 0.1, "more": 0.1}, blocks=8)
    for block in range(5, 9):
        del boots["more"][block]
    assert one(boots, "more", looks=()).n == 4
    assert one(boots, "on", looks=()).n == 8


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e300, 1e-300])
def test_values_that_are_all_equal_are_the_same(value: float) -> None:
    boots = {arm: dict.fromkeys(range(1, 5), value) for arm in ("off", "on", "more")}
    verdict = one(boots)
    assert (verdict.verdict, verdict.effect_percent, verdict.p) == ("same", 0.0, 1.0)


def test_a_difference_without_noise_needs_four_blocks_that_agree() -> None:
    def counted(blocks: int, on: float) -> ArmVerdict:
        boots = {"off": dict.fromkeys(range(blocks), 200.0), "on": dict.fromkeys(range(blocks), on)}
        return one(boots, unit="count")

    assert counted(3, 210.0).verdict == "undecided"
    assert counted(4, 210.0).verdict == "worse"
    assert counted(4, 210.0).effect_percent == pytest.approx(5.0)
    assert counted(4, 201.0).verdict == "same"


def test_zeros_and_negatives_go_by_the_linear_scale() -> None:
    verdict = one({"off": {1: 4.0, 2: 6.0, 3: 5.0}, "on": {1: 8.0, 2: 0.0, 3: 4.0}})
    assert verdict.scale == "linear"
    assert verdict.effect_percent == pytest.approx(-20.0)
    assert verdict.mean == pytest.approx(4.0)


@pytest.mark.parametrize("unit", ["count", "percent", "ratio"])
def test_counts_and_proportions_are_linear_even_where_they_are_positive(unit: str) -> None:
    assert one({"off": {1: 4.0, 2: 6.0}, "on": {1: 8.0, 2: 7.0}}, unit=unit).scale == "linear"


def test_a_baseline_of_zero_has_no_percentage_but_a_verdict() -> None:
    blocks = dict(enumerate([7.0, 7.2, 6.9, 7.1]))
    verdict = one({"off": dict.fromkeys(range(4), 0.0), "on": blocks}, unit="count")
    assert verdict.verdict == "worse"
    assert verdict.effect_percent is None
    assert verdict.note == "baseline mean is 0: no percentage; difference +7.05 count"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers_are_refused_by_place(bad: float) -> None:
    with pytest.raises(InvalidInput, match=r"arm 'on', block 2, iteration 3"):
        one({"off": {1: [1.0], 2: [1.0]}, "on": {1: [1.0], 2: [1.0, 1.0, bad]}})


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 0.0},
        {"alpha": 0.5},
        {"delta_percent": 0.0},
        {"delta_percent": math.nan},
        {"planned_blocks": 0},
        {"direction": "sideways"},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        one({"off": {1: 1.0}, "on": {1: 1.0}}, **options)


def test_a_boot_without_values_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no value after warm-up"):
        one({"off": {1: [1.0]}, "on": {1: []}})


def test_wild_values_stay_finite() -> None:
    verdict = one({"off": {1: 1e-300, 2: 1e300}, "on": {1: 1e300, 2: 1e-300}})
    assert verdict.ci_high_percent is not None
    assert math.isfinite(verdict.ci_high_percent)
    assert verdict.verdict == "undecided"


def test_judging_together_is_judging_one_by_one() -> None:
    cases = [
        Question(simulated(seed, {"off": 0.0, "a": 0.01, "b": 0.0}, blocks=8), "lower")
        for seed in range(6)
    ]
    del cases[2].boots["a"][3]  # type: ignore[attr-defined]
    cases[3] = Question(
        {"off": {1: 0.0, 2: 1.0}, "a": {1: 2.0, 2: 3.0}, "b": {}}, "higher", "count"
    )
    together = judge_many(cases, baseline="off")
    for case, answer in zip(cases, together, strict=True):
        alone = judge(case.boots, baseline="off", direction=case.direction, unit=case.unit)
        assert all(alike(answer[arm], alone[arm]) for arm in alone)


@pytest.mark.measured
def test_three_thousand_cases_take_seconds() -> None:
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(0, 0.0035, (3000, 3, 16, 1)) + rng.normal(0, 1e-3, (3000, 3, 16, 5)))
    cases = [
        Question(
            {arm: dict(enumerate(values[i, a].tolist())) for a, arm in enumerate("abc")}, "lower"
        )
        for i in range(3000)
    ]
    # Some 1.5 s; more where others keep the processor's caches busy.
    with within_processor_s(6):
        answers = judge_many(cases, baseline="a")
    assert sum(answer["b"].verdict == "same" for answer in answers) > 2900


boot_tables = st.fixed_dictionaries(
    {
        arm: st.dictionaries(
            st.integers(1, 7),
            st.lists(st.floats(0.5, 2.0), min_size=1, max_size=3),
            max_size=7,
        )
        for arm in ("off", "a", "b")
    }
)


def figures(verdict: ArmVerdict) -> list[float | None]:
    return [
        verdict.effect_percent,
        verdict.ci_low_percent,
        verdict.ci_high_percent,
        verdict.p,
        verdict.mde_percent,
    ]


def alike(one_way: ArmVerdict, other_way: ArmVerdict) -> bool:
    pairs = list(zip(figures(one_way), figures(other_way), strict=True))
    return (one_way.verdict, one_way.n, one_way.note) == (
        other_way.verdict,
        other_way.n,
        other_way.note,
    ) and all(
        (a is None and b is None)
        or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6))
        for a, b in pairs
    )


@given(boot_tables, st.integers(-30, 30))
@settings(max_examples=150, deadline=None)
def test_a_change_of_unit_changes_nothing(boots: Boots, power: int) -> None:
    # Powers of two: exact, so that rounding cannot be the difference.
    scaled = {
        a: {b: [v * 2.0**power for v in values] for b, values in of.items()}
        for a, of in boots.items()
    }
    before = judge(boots, baseline="off", direction="lower")
    after = judge(scaled, baseline="off", direction="lower")
    assert all(alike(before[arm], after[arm]) for arm in before)


@given(boot_tables, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_neither_the_order_of_arms_nor_that_of_rows_matters(boots: Boots, random: Any) -> None:
    def shuffled(items: Any) -> list[Any]:
        items = list(items)
        random.shuffle(items)
        return items

    other = {
        a: {b: shuffled(values) for b, values in shuffled(of.items())}
        for a, of in shuffled(boots.items())
    }
    assert judge(boots, baseline="off", direction="lower") == judge(
        other, baseline="off", direction="lower"
    )


@given(boot_tables)
@settings(max_examples=100, deadline=None)
def test_names_of_arms_do_not_matter(boots: Boots) -> None:
    swapped = {"off": boots["off"], "a": boots["b"], "b": boots["a"]}
    before = judge(boots, baseline="off", direction="lower")
    after = judge(swapped, baseline="off", direction="lower")
    assert alike(before["a"], after["b"])
    assert alike(before["b"], after["a"])


@given(boot_tables)
@settings(max_examples=100, deadline=None)
def test_a_mirrored_direction_mirrors_the_verdict(boots: Boots) -> None:
    mirror = {"better": "worse", "worse": "better"}
    lower = judge(boots, baseline="off", direction="lower")
    higher = judge(boots, baseline="off", direction="higher")
    for arm in ("a", "b"):
        assert higher[arm].verdict == mirror.get(str(lower[arm].verdict), lower[arm].verdict)
        assert figures(higher[arm]) == figures(lower[arm])


@given(
    st.fixed_dictionaries(
        {
            arm: st.dictionaries(
                st.integers(1, 5), st.floats(allow_nan=False, allow_infinity=False), max_size=5
            )
            for arm in ("off", "a", "b")
        }
    ),
    st.sampled_from(["", "count"]),
)
@settings(max_examples=300, deadline=None)
def test_no_finite_numbers_crash_it_or_give_anything_but_numbers(boots: Any, unit: str) -> None:
    for verdict in judge(boots, baseline="off", direction="higher", unit=unit).values():
        assert all(f is None or math.isfinite(f) for f in [*figures(verdict), verdict.mean])


def test_a_run_that_ended_before_its_budget_gets_the_coming_look_now() -> None:
    boots = simulated(3, {"off": 0.0, "on": 0.02}, blocks=7, sigma=0.007)
    waiting = one(boots, planned_blocks=16)
    ended = one(boots, planned_blocks=16, ended=True)
    assert waiting.verdict == "undecided"
    assert (ended.verdict, ended.decided_at_look) == ("worse", 7)


def test_a_run_that_ended_with_its_budget_is_judged_as_ever() -> None:
    boots = simulated(3, {"off": 0.0, "on": 0.02}, blocks=8, sigma=0.01)
    assert one(boots, planned_blocks=8, ended=True) == one(boots, planned_blocks=8)


def test_a_verdict_that_stopped_a_run_stands_after_it() -> None:
    boots = simulated(4, {"off": 0.0, "on": 0.1}, blocks=4)
    assert one(boots, planned_blocks=16).verdict == "worse"
    assert one(boots, planned_blocks=16, ended=True).verdict == "worse"


@pytest.mark.parametrize(("own", "verdict"), [(1, "undecided"), (3, "undecided"), (4, "worse")])
def test_noise_of_other_arms_makes_no_sample_of_a_few_boots(own: int, verdict: str) -> None:
    boots = simulated(4, {"off": 0.0, "on": 0.05, "misspelt": 0.05}, blocks=12)
    boots["misspelt"] = {block: boots["misspelt"][block] for block in range(5, 5 + own)}
    answers = judge(boots, baseline="off", direction="lower")
    assert answers["on"].verdict == "worse"
    answer = answers["misspelt"]
    assert answer.verdict == verdict
    assert answer.effect_percent is not None
    if own < 4:
        boot = "1 boot" if own == 1 else f"{own} boots"
        assert answer.note == f"{boot} of 12 in blocks of the baseline: no verdict under 4"
    assert (answer.ci_low_percent is None) == (own == 1)


def test_an_arm_alike_in_one_boot_is_not_the_same_even_without_noise() -> None:
    boots = {arm: {block: [100.0] for block in range(1, 13)} for arm in ("off", "on")}
    boots["on"] = {7: [100.0]}
    boots["other"] = {block: [100.0] for block in range(1, 13)}
    answers = judge(boots, baseline="off", direction="lower")
    assert [answers[arm].verdict for arm in ("on", "other")] == ["undecided", "same"]


def test_two_boots_are_enough_where_no_more_than_four_are_planned() -> None:
    boots = {arm: {block: [100.0 + 0.01 * block] for block in (1, 2, 3)} for arm in ("off", "on")}
    assert judge(boots, baseline="off", direction="lower")["on"].verdict == "same"
    few = {**boots, "on": {1: [100.01]}}
    assert judge({**few, "third": boots["off"]}, baseline="off", direction="lower")[
        "on"
    ].verdict == "undecided"  # fmt: skip
