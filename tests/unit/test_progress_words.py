"""What the progress display says of a run."""

from __future__ import annotations

from cli.progress import run_words
from mitigauge.measurement.runs.states import RunState
from tests.matrix_views import run


def test_a_run_says_where_it_stands_and_how_long_it_takes() -> None:
    words = run_words(
        run(
            "vmscape-iperf",
            "lab-amd",
            state=RunState.RUNNING,
            detail="booting ibpb",
            block=2,
            boots_done=4,
            lab_faults=1,
            seconds_left_low=110.0,
            seconds_left_high=200.0,
        )
    )
    assert words == (
        "lab-amd vmscape-iperf: block 2/4, boot 4/12, booting ibpb, 1 lab fault, about 2-3 min left"
    )


def test_without_a_finished_boot_there_is_no_estimate() -> None:
    waiting = run("knob", "alpha", state=RunState.QUEUED, detail="waiting for its host")
    assert run_words(waiting).endswith(
        "waiting for its host, no estimate before the first boot is done"
    )


def test_a_run_that_ended_says_why_instead_of_an_estimate() -> None:
    words = run_words(run("knob", "alpha", state=RunState.FAILED, error="host lost", lab_faults=2))
    assert words == "alpha knob: boot 12/12, host lost, 2 lab faults"
