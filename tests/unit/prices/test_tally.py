"""How often predictions held, and the rows as they are stored."""

from __future__ import annotations

from mitigauge.analysis.prices.levels import Checked
from mitigauge.analysis.prices.schemas import LONGEST_NAME, MOST_ROWS, stored_rows
from mitigauge.analysis.prices.tally import Tally, lines_of, tally


def row(measured: float, predicted: float, *, reach: float = 1.0, missing: str = "") -> Checked:
    """Both intervals reach so many ns to either side."""
    return Checked(
        "basic", "on", (measured, measured - reach, measured + reach),
        (predicted, predicted - reach, predicted + reach), [missing] if missing else [],
    )  # fmt: skip


ROWS = [row(10, 10.5), row(10, 20), row(10, -3), row(0.5, -0.5), row(30, 2, missing="ibpb")]


def test_what_holds_what_is_whole_and_what_has_a_sign_are_counted_apart() -> None:
    assert tally(ROWS) == Tally(
        held=2, checked=5, whole_held=2, whole=4, signs_right=3, signs=4
    )  # fmt: skip


def test_nothing_was_checked() -> None:
    assert tally([]) == Tally(0, 0, 0, 0, 0, 0)


def test_the_counts_are_told() -> None:
    assert lines_of(tally(ROWS)) == [
        "2 of 5 predictions hold; of those with every price, 2 of 4",
        "3 of 4 signs are right, of changes that are not zero",
    ]


def test_stored_rows_say_what_holds_and_lacks_a_price() -> None:
    first, *_, last = stored_rows(ROWS)
    assert (first.case, first.arm, first.holds, first.missing) == ("basic", "on", True, [])
    assert (first.measured.ns, first.measured.low, first.measured.high) == (10, 9, 11)
    assert first.predicted.ns == 10.5
    assert (last.holds, last.missing) == (False, ["ibpb"])


def test_stored_rows_are_bounded() -> None:
    long = Checked(900 * "x", "on", (1, 1, 1), (1, 1, 1), [])
    stored = stored_rows([long] * (MOST_ROWS + 5))
    assert len(stored) == MOST_ROWS
    assert len(stored[0].case) == LONGEST_NAME
