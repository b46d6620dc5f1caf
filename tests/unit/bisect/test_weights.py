"""Prior weights from what patches touch."""

from __future__ import annotations

from mitigauge.bisect.weights import MOST_MORE, Touch, priors


def test_a_binary_that_stayed_has_no_weight_and_the_rest_is_even() -> None:
    assert priors([Touch(), Touch(same_binary=True), Touch()]) == (1.0, 0.0, 1.0)


def test_a_patch_weighs_more_the_more_of_the_difference_it_touches() -> None:
    touched = [Touch(functions=frozenset(names)) for names in (["a"], ["b"], ["a", "b"], ["c"])]
    shares = {"a": 0.2, "b": 0.7, "d": 0.1}
    a, b, both, neither = priors(touched, shares)
    assert neither == 1.0 < a < b < both <= 1.0 + MOST_MORE


def test_shares_that_are_none_change_nothing() -> None:
    shares = {"a": float("nan"), "b": -1.0, "c": 5.0, "d": float("inf")}
    assert priors([Touch(functions=frozenset("abcd"))], shares) == (1.0,)
    assert priors([Touch(True, frozenset("a"))], {"a": 1.0}) == (0.0,)
