"""A cover letter's tables, asked what their readers would ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.reporting.letters.reply.cover_letter import (
    LARGEST_CHARACTERS,
    LONGEST_LINE,
    findings,
    tables_in,
)
from tests.measuring import within_processor_s

# The form of the table in question, with figures of its own.
BARE = """\
iPerf between host and guest:

| iPerf user-net  | IBPB   | BHB Clear |
|-----------------|--------|-----------|
| UDP 1-vCPU_p1   | -11.0% |  2.0%     |
| TCP 1-vCPU_p1   | -9.0%  | -1.0%     |
| TCP 1-vCPU_p1   | -7.0%  | -3.0%     |
| UDP 4-vCPU_p16  | -3.0%  |           |

Thanks.
"""
GOOD = """\
Throughput relative to vmscape=off on the same kernel, higher is better, mean of 8 boots with its
95 % interval:

case             IBPB                    BHB clear
---------------------------------------------------------
UDP, 1 vCPU      -11.0% [-11.8, -10.2]   2.0% [1.1, 2.9]
TCP, 1 vCPU      -9.0% [-9.4, -8.6]      -1.0% [-1.7, -0.3]
"""
MMTESTS = """\
hackbench-process-pipes
                          6.18.0-rc1             6.18.0-rc1
                             vanilla         sched-pick-v3r1
Amean     1        0.2340 (   0.00%)      0.2292 *   2.05%*
Amean     4        0.4120 (   0.00%)      0.4157 (  -0.90%)
Amean     4        0.4120 (   0.00%)      0.4157 (  -0.90%)
CoeffVar  4        3.1200 (   0.00%)      2.9100 (   6.73%)
"""
SCHBENCH = """\
Wakeup Latencies percentiles (usec) runtime 30 (s) (82341 total samples)
          50.0th: 8          (23471 samples)
          90.0th: 14         (30126 samples)
        * 99.0th: 47         (6911 samples)
        * 99.0th: 47         (6911 samples)
          min=1, max=2130
average rps: 2744.70
"""
HACKBENCH = """\
==================================================================
Test          : hackbench
Units         : Normalized time in seconds
Interpretation: Lower is better
==================================================================
Case:           tip[pct imp](CV)       patched[pct imp](CV)
 1-groups     1.00 [ -0.00]( 9.66)     0.97 [  3.11]( 8.42)
 2-groups     1.00 [ -0.00]( 4.54)     1.01 [ -0.71]( 3.90)
 2-groups     1.00 [ -0.00]( 4.54)     1.01 [ -0.71]( 3.90)
"""
NORMALISED = """\
case                    load            baseline(std%)  compare%( std%)
process-pipe            1-groups         1.00 ( 12.34)   +1.02 (  9.87)
process-pipe            2-groups         1.00 (  2.34)   -0.44 (  1.87)
process-pipe            2-groups         1.00 (  2.34)   -0.44 (  1.87)
"""
DIFFSTAT = """
 Documentation/admin-guide/hw-vuln/vmscape.rst |  5 +++
 .../admin-guide/kernel-parameters.txt         |  2 +
 lib/pattern.bin                               | Bin 0 -> 512 bytes
 3 files changed, 7 insertions(+)
"""


def test_a_table_with_all_a_reader_needs_is_asked_nothing() -> None:
    assert [row.label for [*rows] in tables_in(GOOD) for row in rows] == [
        "UDP, 1 vCPU",
        "TCP, 1 vCPU",
    ]
    assert findings(GOOD) == []


def test_what_nobody_says_is_asked() -> None:
    assert [(f.line, f.kind) for f in findings(BARE)] == [
        (5, "count"), (5, "interval"), (7, "repeated row"),
    ]  # fmt: skip


def test_a_row_that_stands_twice_names_both_lines() -> None:
    [repeated] = [f for f in findings(BARE) if f.kind == "repeated row"]
    assert repeated.line == 7
    assert "line 6" in repeated.text


def test_a_quoted_table_is_read_as_well() -> None:
    quoted = "\n".join(f"> {line}" for line in BARE.splitlines())
    assert findings(quoted) == findings(BARE)


@pytest.mark.parametrize(
    "text",
    [
        *("", "Hello,\n\nthis series does x.\n", "a  b\nc  d\n"),
        *(MMTESTS, SCHBENCH, HACKBENCH, NORMALISED, DIFFSTAT),
    ],
)
def test_of_a_table_that_is_not_surely_read_nothing_is_told(text: str) -> None:
    assert findings(text) == []
    assert findings(GOOD + "\n" + text) == []


@given(st.text(alphabet="| -+0123456789.%ab\n\t[]±", max_size=3000))
def test_no_text_breaks_it(text: str) -> None:
    findings(text)


@pytest.mark.parametrize(
    "part",
    [
        *("-", "|", " ", "=|", "1  ", " [1,", "|1", "9 ", "1 a ", "|\n", "a  1%\n", "-%", "\t"),
        *("-" * (LONGEST_LINE - 1) + "\n", "|" * LONGEST_LINE + "\n", " |-" * 133 + "x\n"),
    ],
)
def test_a_hostile_letter_costs_little(part: str) -> None:
    letter = (part * LARGEST_CHARACTERS)[:LARGEST_CHARACTERS]
    with within_processor_s(1):
        findings(letter)
