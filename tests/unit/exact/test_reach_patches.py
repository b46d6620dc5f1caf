"""Thirty patches whose builds, counts and real reach were recorded: which cases are measured."""

from __future__ import annotations

import pytest

from bench.exact.reach import COMMENTS, PATCHES, UNREACHED, number_of, plans, recorded, told

RECORDED = recorded()
# 06-pipe-without-readers.
BRANCH = 6
PLANS = {number_of(each.patch): each for each in plans(RECORDED)}


def test_every_patch_was_built_and_every_place_counted() -> None:
    names = {path.stem for path in PATCHES.glob("[0-9]*.patch")}
    assert set(RECORDED.changes) == names
    assert len(names) == 30
    assert set(RECORDED.reached) == set(RECORDED.runs)


@pytest.mark.parametrize("number", PLANS)
def test_a_case_that_gets_to_the_change_is_measured(number: int) -> None:
    assert PLANS[number].reaching <= PLANS[number].measured


@pytest.mark.parametrize("number", [*COMMENTS, *UNREACHED])
def test_no_case_is_measured_for_what_none_runs(number: int) -> None:
    assert PLANS[number].reaching == frozenset()
    assert PLANS[number].measured == frozenset()


def test_the_cases_tell_the_patches_apart() -> None:
    """Each of fourteen others is run by a case; only what all cases run is measured by all."""
    none = {*COMMENTS, *UNREACHED, BRANCH}
    others = [each for number, each in PLANS.items() if number not in none]
    assert all(each.measured for each in others)
    assert sum(each.measured == frozenset(RECORDED.runs) for each in others) <= 3


def test_two_cases_run_the_function_whose_branch_none_takes() -> None:
    """Functions are what is known: both cases are measured, to no end."""
    assert PLANS[BRANCH].reaching == frozenset()
    assert len(PLANS[BRANCH].measured) == 2


def test_the_report_tells_what_is_kept_and_saved() -> None:
    *_, kept, boots, measurements, none = told(RECORDED)
    assert "(100.0%)" in kept
    assert boots.startswith("boots saved: ")
    assert measurements.startswith("measurements saved: ")
    assert none == "'no case' right: 10 of 10"
