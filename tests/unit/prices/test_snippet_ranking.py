"""Pieces of assembly in the order of a tournament."""

from __future__ import annotations

import pytest

from mitigauge.analysis.prices.probe import Interval
from mitigauge.analysis.prices.snippet_ranking import ranked_snippets
from mitigauge.analysis.prices.snippets import Compared
from mitigauge.core.stats.tournament import Loser, Ranking, Tied


def shows(mean: float, low: float, high: float) -> Compared:
    return Compared(20, Interval(mean, low, high))


def test_the_winner_is_first_and_what_hides_less_is_last() -> None:
    shown = {"fast.s": shows(1.0, 0.95, 1.05), "slow.s": shows(0.93, 0.88, 0.98),
             "weak.s": shows(0.16, 0.15, 0.17)}  # fmt: skip
    found = Ranking(
        "fast.s", 6, 18, [Loser("slow.s", 4, 0.4, 0.3, 0.5)],
        [Tied("first.s", 0.005, -0.005, 0.015)], is_decided=True,
    )  # fmt: skip
    ranked = ranked_snippets("first.s", shown, found, margin=0.02)
    assert [(each.name, each.place, each.layouts) for each in ranked] == [
        ("fast.s", "winner", 6), ("first.s", "as good", 6), ("slow.s", "slower", 4),
        ("weak.s", "out: hides less", 0),
    ]  # fmt: skip
    assert ranked[2].more_percent == pytest.approx(40.0)
    assert [each.hides for each in ranked] == [
        "100 % [95, 105]", "all, by definition", "93 % [88, 98], perhaps less",
        "16 % [15, 17], less",
    ]  # fmt: skip


def test_what_may_be_slower_is_not_called_as_good() -> None:
    found = Ranking("a.s", 96, 192, [], [Tied("b.s", 0.001, -0.1, 0.1)], is_decided=False)
    ranked = ranked_snippets("a.s", {"b.s": shows(1.0, 0.95, 1.05)}, found, margin=0.02)
    assert [each.place for each in ranked] == ["winner", "cannot be told"]


def test_where_all_hide_less_the_first_stands_alone() -> None:
    ranked = ranked_snippets("a.s", {"b.s": shows(0.1, 0.05, 0.2)}, None, margin=0.02)
    assert [(each.name, each.place) for each in ranked] == [
        ("a.s", "winner"), ("b.s", "out: hides less"),
    ]  # fmt: skip


def test_what_hides_nothing_here_is_said_and_stays() -> None:
    untold = Compared(20, None)
    found = Ranking("a.s", 6, 12, [], [Tied("b.s", 0.0, -0.01, 0.01)], is_decided=True)
    assert ranked_snippets("a.s", {"b.s": untold}, found, margin=0.02)[1].hides == "cannot be told"
