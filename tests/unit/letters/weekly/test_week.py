"""Weeks as ISO 8601 counts them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.letters.weekly.week import Week


def test_a_week_begins_on_monday_and_knows_its_neighbours() -> None:
    week = Week.parse("2026-W47")
    assert week.start == datetime(2026, 11, 16, tzinfo=UTC)
    assert week.end - week.start == timedelta(days=7)
    assert str(Week.parse("2026-W01").earlier()) == "2025-W52"
    assert str(Week.parse("2027-W01").earlier()) == "2026-W53"


def test_a_moment_is_in_the_week_of_its_utc() -> None:
    moment = datetime(2026, 11, 16, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    assert str(Week.of(moment)) == "2026-W46"


@pytest.mark.parametrize(
    "text", ["", "2026-47", "2026-W00", "2025-W53", "2026-W54", "2026-W4", "20260-W47", "W47"]
)
def test_what_is_no_week_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(InvalidInput, match="is no week") as refused:
        Week.parse(text)
    assert "2026-W47" in refused.value.hint


@pytest.mark.parametrize(
    ("week", "said"),
    [
        ("2026-W47", "Monday 16 to Sunday 22 November 2026"),
        ("2026-W40", "Monday 28 September to Sunday 4 October 2026"),
        ("2026-W53", "Monday 28 December 2026 to Sunday 3 January 2027"),
    ],
)
def test_a_week_in_words(week: str, said: str) -> None:
    assert Week.parse(week).in_words() == said
