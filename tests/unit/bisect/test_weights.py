"""Prior weights of candidates."""

from __future__ import annotations

from mitigauge.tracking.bisect.weights import UNREACHED, unreached_in_words, weight_of

COUNT = "counted on 7.2.12 on 2026-11-26"


def test_a_binary_that_stayed_has_no_weight_and_the_rest_is_even() -> None:
    assert weight_of(same_binary=False, unreached="") == 1.0
    assert weight_of(same_binary=True, unreached="") == 0.0
    assert weight_of(same_binary=True, unreached=COUNT) == 0.0


def test_what_the_case_is_counted_not_to_run_weighs_less_and_it_is_said() -> None:
    assert weight_of(same_binary=False, unreached=COUNT) == UNREACHED
    assert unreached_in_words("") == ""
    assert unreached_in_words(COUNT) == (
        "weighs 0.1 times as much: the case runs none of the functions that it changes "
        "(counted on 7.2.12 on 2026-11-26)"
    )
