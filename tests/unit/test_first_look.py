"""When a measuring job is looked at first: looking disturbs what is measured."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mitigauge.experiments.tables import Boot, Case, Comparison, Result, Run
from pipelines.steps.measure import POLL_INTERVAL_S, first_look_s

STARTED = datetime(2026, 1, 1, tzinfo=UTC)


def boot(lasted_s: float | None, *, results: int = 2, job_try: int = 1) -> Boot:
    """A boot whose job took that long, or has not begun."""
    made = Boot(job_try=job_try)
    made.job_started_at = None if lasted_s is None else STARTED
    stored = STARTED + timedelta(seconds=lasted_s or 0)
    made.results = [Result(stored_at=stored) for _ in range(results if lasted_s else 0)]
    return made


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
        [boot(30.0, results=1)],
        # A job that was begun again says nothing of how long one takes.
        [boot(30.0, job_try=2)],
    ],
)
def test_the_first_job_is_looked_at_when_its_workloads_say_it_should_be_done(
    boots: list[Boot],
) -> None:
    made = run(*boots)
    assert first_look_s(made, made.comparison.cases) == 12.5


def test_later_ones_when_the_earlier_ones_were_done() -> None:
    made = run(boot(30.0), boot(90.0), boot(34.0), boot(None))
    assert first_look_s(made, made.comparison.cases) == 34.0 - POLL_INTERVAL_S
    # Some cases only: the whole jobs of before are no measure.
    assert first_look_s(made, made.comparison.cases[:1]) == 10.0


def test_a_job_that_is_done_at_once_is_looked_at_at_once() -> None:
    made = run(boot(0.5))
    assert first_look_s(made, made.comparison.cases) == 0.0
