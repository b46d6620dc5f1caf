"""A claim about kernels names its arms: another arm in the same mode does not answer it."""

from __future__ import annotations

from typing import Any

from mitigauge.analysis.claims.tables import Claim, ClaimSource
from mitigauge.reporting.pages.claims import set_beside
from tests.unit.tables.test_counters import experiment


def source(**changes: Any) -> ClaimSource:
    fields: dict[str, Any] = {
        "position": 0, "title": "syscall", "workload": "syscall", "parameters": {"test": "basic"},
        "metric": "cycles", "baseline": "spectre-bhi/loop", "mode": "spectre-bhi/loop",
        "low_percent": 25.2, "high_percent": 25.2, "processor": "", "note": "",
        "arm": "ah-inner", "baseline_arm": "al-inner",
    }  # fmt: skip
    claim = Claim(**(fields | changes))
    return ClaimSource(id=1, name="mail", title="A mail", citation="A mail", claims=[claim])


def answered(**changes: Any) -> list[tuple[int | None, str]]:
    found = set_beside([source(**changes)], experiment(), {1: {"test": "basic", "loops": 0}})
    return [(claim.arm_id, claim.outcome) for one in found for claim in one.claims]


def test_the_named_arm_answers() -> None:
    assert answered() == [(2, "reproduced")]
    assert answered(arm="al-inner-sub-ax", low_percent=4.7, high_percent=4.7) == [(3, "reproduced")]
    # Against the other variant the same claim does not hold.
    assert answered(arm="al-inner-sub-ax") == [(3, "contradicted")]


def test_an_arm_or_a_baseline_of_another_name_does_not() -> None:
    assert answered(arm="none") == []
    assert answered(baseline_arm="ah-inner") == []


def test_without_a_name_nobody_can_tell_which_arm_in_the_mode_is_meant() -> None:
    [one] = set_beside([source(arm="", baseline_arm="")], experiment(), {1: {"test": "basic"}})
    [claim] = one.claims
    assert (claim.outcome, claim.arm_id) == ("cannot_be_matched", None)
    assert claim.reason.startswith("the source does not say which arm (here ah-inner: +25.2%")
    assert "; al-inner-sub-ax: +4.7%" in claim.reason


def test_of_two_figures_of_one_name_none_is_matched() -> None:
    twice = source()
    twice.claims.append(source(low_percent=20.0, high_percent=20.0, note="second row").claims[0])
    found = set_beside([twice], experiment(), {1: {"test": "basic"}})
    assert [claim.outcome for claim in found[0].claims] == [
        "cannot_be_matched",
        "cannot_be_matched",
    ]
    words = "the source has 2 figures of one name (ours: +25.2%"
    assert found[0].claims[0].reason.startswith(words)
    assert found[0].claims[0].effect_percent is None


def test_of_two_cases_that_fit_none_is_picked_and_both_are_told() -> None:
    view = experiment()
    [comparison] = view.comparisons
    rows = [row.model_copy(update={"case_id": case}) for row in comparison.rows for case in (1, 2)]
    view = view.model_copy(update={"comparisons": [comparison.model_copy(update={"rows": rows})]})
    cases = {
        1: {"test": "basic", "loops": 10, "cpu": 1},
        2: {"test": "basic", "loops": 20, "cpu": 1},
    }
    [one] = set_beside([source()], view, cases)
    [claim] = one.claims
    assert (claim.outcome, claim.arm_id) == ("cannot_be_matched", None)
    assert claim.reason.startswith("the source does not say which loops (here 10: +")
    assert "; 20: +" in claim.reason
    [one] = set_beside([source(parameters={"test": "basic", "loops": 20})], view, cases)
    assert [(c.outcome, c.case_id) for c in one.claims] == [("reproduced", 2)]
