"""The last lines of an experiment that ends while it is followed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from cli import progress
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs.states import RunState
from mitigauge.reporting.pages.schemas import EventView, ProgressView
from tests.matrix_views import run

END = EventView(
    id=7,
    at=datetime(2026, 11, 26, tzinfo=UTC),
    run_id=None,
    host="",
    kind="end",
    text="cancelled by hand",
)


class EndsBetween:
    """A service where the experiment ends after the first question of the first look."""

    def __init__(self) -> None:
        self.is_over = False

    def get(self, path: str, _kind: Any, after: int = 0) -> Any:
        over, self.is_over = self.is_over, True
        if path.endswith("/log"):
            return [END] if over and after < END.id else []
        return ProgressView(
            experiment_id=1,
            state=ExperimentState.CANCELLED if over else ExperimentState.RUNNING,
            runs=[run("knob", "alpha", state=RunState.CANCELLED if over else RunState.RUNNING)],
            boots_done=0,
            boots_total=12,
            seconds_left=None,
            last_event_id=END.id,
            is_over=over,
        )


@pytest.mark.parametrize("follow", [progress._follow_lines, progress._follow_live])
def test_an_end_between_both_questions_of_a_look_leaves_out_no_line(
    follow: Callable[[int], ProgressView],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    service = EndsBetween()
    monkeypatch.setattr(progress, "followed_answer", lambda _here, there: there(service))
    monkeypatch.setattr(progress, "INTERVAL_S", 0.0)
    assert follow(1).state is ExperimentState.CANCELLED
    assert capsys.readouterr().out.count(END.text) == 1
