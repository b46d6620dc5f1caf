"""When a measuring job is looked at first: looking disturbs what is measured."""

from __future__ import annotations

import pytest

from mitigauge.experiments.tables import Boot, Case, Comparison, Run
from pipelines.steps.measure import (
    LONGEST_POLL_S,
    SHORTEST_POLL_S,
    first_look_s,
    next_look_s,
)


def boot(lasted_s: float | None, *, job_try: int = 1) -> Boot:
    """A boot whose job ran so long, or has not ended."""
    return Boot(job_try=job_try, job_lasted_s=lasted_s)


def run(*boots: Boot) -> Run:
    cases = [Case(expected_s=10.0), Case(expected_s=2.5)]
    made = Run(comparison=Comparison(cases=cases))
    made.boots = list(boots)
    return made


@pytest.mark.parametrize(
    "boots",
    [
        [],
        [boot(None)],
        # One that waited for its processor says little.
        [boot(86.0)],
        # A job that was begun again says nothing of how long one takes.
        [boot(30.0, job_try=2)],
    ],
)
def test_the_first_job_is_looked_at_when_its_workloads_say_it_should_be_done(
    boots: list[Boot],
) -> None:
    made = run(*boots)
    assert first_look_s(made, made.comparison.cases) == 12.5


def test_later_ones_when_the_quickest_of_the_earlier_ones_was_done() -> None:
    made = run(boot(30.0), boot(90.0), boot(34.0), boot(None))
    assert first_look_s(made, made.comparison.cases) == 30.0
    # Some cases only: the whole jobs of before are no measure.
    assert first_look_s(made, made.comparison.cases[:1]) == 10.0


def test_a_job_that_is_done_at_once_is_looked_at_at_once() -> None:
    made = run(boot(0.0))
    assert first_look_s(made, made.comparison.cases) == 0.0


def test_a_job_that_lasts_is_looked_at_ever_less_often() -> None:
    assert next_look_s(0.0) == SHORTEST_POLL_S
    assert next_look_s(30.0) == 10.0
    assert next_look_s(10_000.0) == LONGEST_POLL_S
