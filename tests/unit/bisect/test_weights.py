"""Prior weights from what patches touch."""

from __future__ import annotations

from mitigauge.tracking.bisect.weights import MOST_MORE, UNREACHED, Touch, priors, weight_in_words


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


def test_why_a_patch_weighs_more_names_its_functions_and_their_share() -> None:
    shares = {"entry": 0.5, "exit": 0.25, "idle": 0.25}
    said = weight_in_words(Touch(functions=frozenset({"exit", "entry", "other"})), shares)
    assert said.startswith("weighs 16 times as much: it touches entry, exit, 75% of")
    assert weight_in_words(Touch(functions=frozenset({"other"})), shares) == ""
    assert weight_in_words(Touch(True, frozenset({"entry"})), shares) == ""
    many = {f"f{at}": 0.1 for at in range(9)}
    assert "f0, f1, f2, f3 and 5 more" in weight_in_words(Touch(functions=frozenset(many)), many)


def test_what_the_case_is_counted_not_to_run_weighs_less_whatever_profiles_say() -> None:
    touch = Touch(functions=frozenset({"entry"}), unreached="counted on 7.2.12 on 2026-11-26")
    shares = {"entry": 1.0}
    assert priors([touch, Touch()], shares) == (UNREACHED, 1.0)
    assert weight_in_words(touch, shares) == (
        "weighs 0.1 times as much: the case runs none of the functions that it changes "
        "(counted on 7.2.12 on 2026-11-26)"
    )
    same = Touch(True, unreached="counted on 7.2.12 on 2026-11-26")
    assert (priors([same]), weight_in_words(same, {})) == ((0.0,), "")
