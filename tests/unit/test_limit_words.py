"""What limits say of an experiment, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from mitigauge.analysis.verdicts.limit_schemas import LimitCounts, LimitRow
from mitigauge.analysis.verdicts.limit_words import describe, line_of
from mitigauge.analysis.verdicts.metric_limits import Kept


def row(**more: Any) -> LimitRow:
    said = {
        "line": 1, "limit": "syscall/time_per_call at most 101 ns", "case": "syscall basic",
        "host": "spr-1", "arm": "after", "value": 103.04, "low": 102.9, "high": 103.2,
        "unit": "ns", "kept": Kept.BROKEN, "why": "",
    }  # fmt: skip
    return LimitRow.model_validate({**said, **more})


def counts(broken: int = 0, cannot_tell: int = 0, kept: int = 0) -> LimitCounts:
    return LimitCounts(broken=broken, cannot_tell=cannot_tell, kept=kept)


def test_the_first_broken_is_named() -> None:
    assert line_of(counts(1, 0, 3), [row()]) == (
        "limits: 1 broken of 4: syscall/time_per_call at most 101 ns: syscall basic, after on "
        "spr-1 is 103 [102.9, 103.2] ns"
    )
    assert line_of(counts(3, 1, 0), [row(), row(), row()]).endswith("; and 1 more")
    assert line_of(counts(3, 1, 0), [row()]).startswith("limits: 3 broken, 1 cannot tell of 4: ")


def test_without_a_broken_one_it_is_short_and_without_a_row_there_is_none() -> None:
    assert line_of(counts(0, 2, 1), []) == "limits: 2 cannot tell of 3"
    assert line_of(counts(0, 0, 3), []) == "limits: all 3 kept"
    assert line_of(counts(), []) == ""


def test_a_figure_that_is_not_there_and_an_emulated_host_are_said() -> None:
    said = describe(row(value=None, low=None, high=None, emulated=True, why="0 boots that count"))
    assert said.endswith("after on spr-1 (emulated): 0 boots that count")


@pytest.mark.parametrize(
    ("of", "worst"),
    [
        (counts(1, 1, 1), Kept.BROKEN),
        (counts(0, 1, 1), Kept.CANNOT_TELL),
        (counts(0, 0, 1), Kept.KEPT),
        (counts(), Kept.CANNOT_TELL),
    ],
)
def test_the_worst_of_them_decides(of: LimitCounts, worst: Kept) -> None:
    assert of.worst is worst
