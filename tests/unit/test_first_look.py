"""When a measuring job is looked at first: looking disturbs what is measured."""

from __future__ import annotations

import pytest

from mitigauge.measurement.experiments.tables import Case, Comparison
from mitigauge.measurement.runs.tables import Boot, Run
from pipelines.steps.measure import LEAD_S, first_look_s


def boot(lasted_s: float | None, *, job_try: int = 1) -> Boot:
    """A boot whose job ran so long, or has not ended."""
    return Boot(job_try=job_try, job_lasted_s=lasted_s)


def run(*boots: Boot, said_s: float = 1000.0) -> Run:
    """A run of two cases that should last *said_s* together."""
    cases = [Case(expected_s=said_s - 600.0), Case(expected_s=600.0)]
    made = Run(comparison=Comparison(cases=cases))
    made.boots = list(boots)
    return made


def test_a_short_job_is_looked_at_before_anything_is_measured() -> None:
    made = run(said_s=LEAD_S)
    assert first_look_s(made, made.comparison.cases) == 0.0


@pytest.mark.parametrize(
    "boots",
    [
        [],
        [boot(None)],
        # One that waited for its processor says little.
        [boot(8600.0)],
        # A job that was begun again says nothing of how long one takes.
        [boot(300.0, job_try=2)],
    ],
)
def test_a_long_job_is_looked_at_before_its_workloads_say_it_should_be_done(
    boots: list[Boot],
) -> None:
    made = run(*boots)
    assert first_look_s(made, made.comparison.cases) == 1000.0 - LEAD_S


def test_or_before_the_quickest_of_the_earlier_ones_was_done() -> None:
    made = run(boot(500.0), boot(900.0), boot(None))
    assert first_look_s(made, made.comparison.cases) == 500.0 - LEAD_S
    # Some cases only: the whole jobs of before are no measure.
    assert first_look_s(made, made.comparison.cases[1:]) == 600.0 - LEAD_S
