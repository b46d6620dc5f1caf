"""How lines became others: right for any two lists, and never for long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.tracking.series.edit_script import Budget, TooMany, opcodes
from tests.measuring import within_processor_s

LINES = st.lists(st.sampled_from("abcd"), max_size=30)


def rebuilt(old: list[str], new: list[str]) -> list[str]:
    """*new*, made of *old* by what is said of them."""
    made: list[str] = []
    at = 0
    for tag, a, b, c, d in opcodes(old, new, Budget()):
        assert a == at
        at = b
        assert c == len(made)
        if tag == "equal":
            assert old[a:b] == new[c:d] != []
        else:
            assert (a < b) == (tag in ("replace", "delete"))
            assert (c < d) == (tag in ("replace", "insert"))
        made += new[c:d]
    assert at == len(old)
    return made


@given(LINES, LINES)
def test_any_two_lists(old: list[str], new: list[str]) -> None:
    assert rebuilt(old, new) == new


@given(LINES, st.integers(0, 29), st.integers(0, 3))
def test_what_is_cut_out_is_all_that_differs(lines: list[str], at: int, count: int) -> None:
    new = lines[:at] + lines[at + count :]
    changed = [code for code in opcodes(lines, new, Budget()) if code[0] != "equal"]
    assert sum(b - a + d - c for _, a, b, c, d in changed) == len(lines) - len(new)


def test_what_differs_too_much_ends_soon() -> None:
    with within_processor_s(10), pytest.raises(TooMany):
        opcodes([f"a{n}" for n in range(50_000)], [f"b{n}" for n in range(50_000)], Budget())
    with within_processor_s(10), pytest.raises(TooMany):
        opcodes(["a", "b"] * 5000, ["b", "c", "b"] * 5000, Budget())


def test_what_is_spent_on_one_comparison_is_not_there_for_the_next() -> None:
    budget = Budget(10)
    assert opcodes(["a"], ["b"], budget) == [("replace", 0, 1, 0, 1)]
    with pytest.raises(TooMany):
        opcodes(["a", "b", "c"], ["d", "e", "f"], budget)
