"""What a run says it is doing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mitigauge.experiments.run_views import in_words
from mitigauge.experiments.states import WAITS_FOR_TURN, BootState
from mitigauge.experiments.tables import Arm, Boot, Run
from mitigauge.fleet.tables import Host

MOMENT = datetime(2026, 11, 1, 9, 5, tzinfo=UTC)
ASIDE = Host(name="alpha", set_aside_at=MOMENT, probe_at=MOMENT, set_aside_reason="no answer")
BOOTED = Boot(state=BootState.MEASURING, arm=Arm(name="loop"), job_detail="")


@pytest.mark.parametrize(
    ("run", "boot", "said"),
    [
        (Run(state="queued", step="", host=Host(name="alpha")), None, "waiting for its host"),
        (
            Run(state="queued", step="", host=ASIDE),
            None,
            "waiting: alpha is set aside, next probe 09:05 UTC: no answer",
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
def test_a_run_says_what_it_does_or_waits_for(run: Run, boot: Boot | None, said: str) -> None:
    assert in_words(run, boot) == said
