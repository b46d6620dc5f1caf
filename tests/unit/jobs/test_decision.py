"""What is to be done about a job next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mitigauge.jobs.blame import MOST_TRIES
from pipelines.jobs.decision import LOST_WORKERS_LIMIT, JobSituation, JobStep, decide

FRESH = JobSituation(
    standing=False, cancelled_by="", failures=0, error="", lost_workers=0, age_s=0.0, limit_s=60.0
)


def test_a_fresh_job_goes_on() -> None:
    assert decide(FRESH).step is JobStep.GO_ON


@pytest.mark.parametrize(
    ("changes", "step", "word"),
    [
        ({"cancelled_by": "ann"}, JobStep.CANCEL, "cancelled by ann"),
        ({"failures": MOST_TRIES, "error": "no disk"}, JobStep.GIVE_UP, "no disk"),
        ({"lost_workers": LOST_WORKERS_LIMIT}, JobStep.GIVE_UP, "ended its worker 3 times"),
        ({"age_s": 61.0}, JobStep.GIVE_UP, "took longer"),
    ],
)
def test_what_ends_a_job_is_said(changes: dict[str, object], step: JobStep, word: str) -> None:
    action = decide(replace(FRESH, **changes))
    assert (action.step, word in action.reason) == (step, True)


@pytest.mark.parametrize("changes", [{"failures": MOST_TRIES - 1}, {"lost_workers": 2}])
def test_one_less_goes_on(changes: dict[str, object]) -> None:
    assert decide(replace(FRESH, **changes)).step is JobStep.GO_ON


def test_the_services_own_jobs_never_end() -> None:
    worst = replace(FRESH, standing=True, failures=99, lost_workers=99, age_s=1e9, cancelled_by="x")
    assert decide(worst).step is JobStep.GO_ON


def test_who_cancels_is_heard_before_anything_else() -> None:
    both = replace(FRESH, cancelled_by="ann", failures=99, lost_workers=99, age_s=1e9)
    assert decide(both).step is JobStep.CANCEL
