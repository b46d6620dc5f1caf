"""What a change of a trend is called, and by what unit and direction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mitigauge.tracking.trends.detection import Terms, read_all
from mitigauge.tracking.trends.repository import ValueRow

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def rows(levels: list[float]) -> list[ValueRow]:
    """A value a week, each with 0.01 % of its own."""
    return [
        ValueRow(
            1, week, 1, 1, 1, BEGAN + timedelta(weeks=week), level * (1 + (week % 3) * 1e-4), None,
            None, 4, False, "alpha", "7.2", {}, "off", False,
        )
        for week, level in enumerate(levels)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("direction", "after", "verdict"),
    [("lower", 105, "worse"), ("lower", 95, "better"), ("higher", 105, "better"),
     ("higher", 95, "worse")],
)  # fmt: skip
def test_the_metric_s_direction_says_what_is_better(
    direction: str, after: float, verdict: str
) -> None:
    terms = Terms(1, "iperf", "tcp", "bit/s", direction, 1.0)
    [read] = read_all([(terms, rows([100.0] * 12 + [after] * 12))])
    [change] = read.changes
    assert change.verdict == verdict
    assert change.effect_percent == pytest.approx(after - 100, abs=0.1)


def test_a_run_in_a_wrong_unit_is_marked_and_moves_no_level() -> None:
    levels = [100.0] * 12 + [105.0] * 12
    levels[5] *= 1e3
    [read] = read_all([(Terms(1, "spin", "x", "ns", "lower", 1.0), rows(levels))])
    [change] = read.changes
    assert (change.verdict, read.outliers) == ("worse", (5,))
    assert change.effect_percent == pytest.approx(5.0, abs=0.1)
