"""Which backups stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from mitigauge.upkeep.backups.rule import to_stay

# A Wednesday.
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
DAILY = [NOW - timedelta(days=days) for days in range(120)]


def days_ago(stay: set[datetime]) -> list[float]:
    return sorted((NOW - at) / timedelta(days=1) for at in stay)


def test_all_of_the_last_days_stay_and_the_latest_of_each_of_the_last_eight_weeks() -> None:
    sundays = [3 + 7 * week for week in range(7)]
    assert days_ago(to_stay(DAILY, NOW, 14)) == [*range(14), *(d for d in sundays if d >= 14)]


# Enough that none of those below is among the latest of all.
RECENT = [NOW - timedelta(minutes=minutes) for minutes in range(8)]


def test_of_a_week_with_several_the_latest_stays() -> None:
    taken = [NOW - timedelta(days=30, hours=hours) for hours in (0, 5, 9)]
    assert to_stay([*taken, *RECENT], NOW, 1) == {taken[0], *RECENT}


def test_the_latest_eight_of_all_stay_however_old() -> None:
    old = [NOW - timedelta(days=400 + 10 * n) for n in range(10)]
    assert to_stay(old, NOW, 14) == set(old[:8])


def test_a_clock_a_year_ahead_lets_none_of_the_latest_go() -> None:
    ahead = NOW + timedelta(days=365)
    assert set(DAILY[:7]) <= to_stay([*DAILY, ahead], ahead, 14)


def test_nothing_stays_of_nothing() -> None:
    assert to_stay([], NOW, 14) == set()


def test_a_week_begins_on_monday_in_utc_wherever_a_time_was_written() -> None:
    east = timezone(timedelta(hours=9))
    # Monday there, Sunday in UTC.
    sunday = datetime(2026, 11, 2, 3, tzinfo=east)
    monday = datetime(2026, 11, 2, 12, tzinfo=UTC)
    assert to_stay([sunday, monday, *RECENT], NOW, 1) == {sunday, monday, *RECENT}


@given(
    st.lists(st.floats(0, 800)),
    st.floats(0, 100),
)
def test_who_asks_again_after_removing_hears_the_same(ages: list[float], days: float) -> None:
    taken = [NOW - timedelta(days=age) for age in ages]
    stay = to_stay(taken, NOW, days)
    assert stay <= set(taken)
    assert to_stay(stay, NOW, days) == stay
    assert not taken or max(taken) in stay
