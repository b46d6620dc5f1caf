"""Sequences side by side: every item once, in order, and as many together as can be."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.analysis.profiles.diff import align
from mitigauge.analysis.profiles.diff.align import aligned

Letters = st.text(alphabet="abc", max_size=14)


def shown(a: str, b: str) -> tuple[str, str]:
    """Both sides as two lines of the same length."""
    pairs = aligned(a, b)
    return (
        "".join("-" if i is None else a[i] for i, _ in pairs),
        "".join("-" if j is None else b[j] for _, j in pairs),
    )


@pytest.mark.parametrize(
    ("a", "b", "lines"),
    [
        ("", "", ("", "")),
        ("abc", "abc", ("abc", "abc")),
        ("abc", "", ("abc", "---")),
        ("", "abc", ("---", "abc")),
        ("abd", "abcd", ("ab-d", "abcd")),
        ("abcd", "abd", ("abcd", "ab-d")),
        ("axb", "ayb", ("ax-b", "a-yb")),
        ("xab", "abx", ("xab-", "-abx")),
    ],
)
def test_what_only_one_side_has_stands_alone(a: str, b: str, lines: tuple[str, str]) -> None:
    assert shown(a, b) == lines


def longest(a: str, b: str) -> int:
    """Length of a longest common subsequence, by its definition."""

    @cache
    def of(i: int, j: int) -> int:
        if not (i and j):
            return 0
        if a[i - 1] == b[j - 1]:
            return of(i - 1, j - 1) + 1
        return max(of(i - 1, j), of(i, j - 1))

    return of(len(a), len(b))


@given(Letters, Letters)
def test_every_item_stands_once_and_none_could_be_matched_besides(a: str, b: str) -> None:
    pairs = aligned(a, b)
    assert [i for i, _ in pairs if i is not None] == list(range(len(a)))
    assert [j for _, j in pairs if j is not None] == list(range(len(b)))
    both = [(i, j) for i, j in pairs if i is not None and j is not None]
    assert all(a[i] == b[j] for i, j in both)
    assert len(both) == longest(a, b)


def test_what_is_too_long_is_not_matched_but_for_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(align, "MOST_CELLS", 3)
    assert shown("abcd", "abxcd") == ("ab-cd", "abxcd")
    assert shown("pabq", "pbaq") == ("pab--q", "p--baq")


def test_four_thousand_instructions_a_side_take_no_minute() -> None:
    a = [str(number % 17) for number in range(4000)]
    b = [str(number % 19) for number in range(4000)]
    pairs = aligned(a, b)
    assert sum(None not in pair for pair in pairs) > 1000
