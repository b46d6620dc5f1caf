"""What a run says it is doing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.count_repository import CurrentBoot
from mitigauge.measurement.runs.states import WAITS_FOR_TURN, BootState
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.runs import in_words

MOMENT = datetime(2026, 11, 1, 9, 5, tzinfo=UTC)
NOW = MOMENT - timedelta(minutes=4)
ASIDE = Host(name="alpha", set_aside_at=MOMENT, probe_at=MOMENT, set_aside_reason="no answer")
RESERVED = Host(
    name="alpha", reserved_until=MOMENT, reserved_by="kim", reserved_reason="a new BIOS"
)
BY_HAND = Host(
    name="alpha", set_aside_at=MOMENT, set_aside_by="kim", set_aside_reason="a fan is loud"
)
BOOTED = CurrentBoot("loop", BootState.MEASURING, 1, up=True, started_at=MOMENT, job_detail="")


@pytest.mark.parametrize(
    ("run", "boot", "said"),
    [
        (Run(state="queued", step="", host=Host(name="alpha")), None, "waiting for its host"),
        (
            Run(state="queued", step="", host=ASIDE),
            None,
            "waiting: alpha is set aside, next probe 09:05 UTC: no answer",
        ),
        (
            Run(state="queued", step="", host=RESERVED),
            None,
            "waiting: alpha is reserved by kim until 2026-11-01 09:05 UTC: a new BIOS",
        ),
        (
            Run(state="queued", step="", host=BY_HAND),
            None,
            "waiting: alpha is set aside by kim: a fan is loud",
        ),
        (Run(state="running", step="judge"), None, "judging the blocks made so far"),
        (Run(state="running", step="prepare"), None, "preparing the host"),
        (Run(state="running", step="measure.poll"), BOOTED, "measuring loop"),
        (
            Run(state="running", step=WAITS_FOR_TURN),
            BOOTED,
            "waiting to measure loop: another host of the machine has its turn",
        ),
        (
            Run(state="running", step=WAITS_FOR_TURN),
            None,
            "waiting: another host of the machine has its turn",
        ),
    ],
)
def test_a_run_says_what_it_does_or_waits_for(
    run: Run, boot: CurrentBoot | None, said: str
) -> None:
    assert in_words(run, boot, NOW) == said
