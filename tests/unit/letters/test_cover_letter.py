"""A cover letter's figures, asked what their readers would ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.reporting.letters.reply.cover_letter import findings, tables_in
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


def kinds(text: str, **earlier: str) -> list[str]:
    return [finding.kind for finding in findings(text, earlier)]


def test_a_table_with_all_a_reader_needs_is_asked_nothing() -> None:
    assert findings(GOOD) == []


def test_what_nobody_says_is_asked() -> None:
    assert set(kinds(BARE)) == {
        "baseline", "direction", "interval", "count", "repeated row", "missing figure",
    }  # fmt: skip


def test_a_row_that_stands_twice_names_both_lines() -> None:
    [twice] = [f for f in findings(BARE) if f.kind == "repeated row"]
    assert twice.line == 7
    assert "line 6" in twice.text


def test_figures_without_a_unit_are_asked_for_it() -> None:
    assert "unit" in kinds(BARE.replace("%", ""))
    assert "unit" not in kinds(BARE.replace("%", "").replace("| IBPB   |", "| IBPB, Mbit/s |"))


def test_a_table_that_was_never_measured_again_is_said_once() -> None:
    found = [f for f in findings(GOOD, {"v7": GOOD}) if f.kind == "not measured again"]
    assert len(found) == 1
    assert "All 2 rows have the figures of v7" in found[0].text


def test_rows_that_were_not_measured_again_are_named() -> None:
    older = GOOD.replace("-11.0% [-11.8", "-10.0% [-11.8")
    [found] = [f for f in findings(GOOD, {"v7": older}) if f.kind == "not measured again"]
    assert "'TCP, 1 vCPU' has the figures of v7" in found.text


@pytest.mark.parametrize("text", ["", "Hello,\n\nthis series does x.\n", "a  b\nc  d\n"])
def test_a_text_without_figures_says_so(text: str) -> None:
    assert kinds(text) == ["no table"]


def test_a_quoted_table_is_read_as_well() -> None:
    quoted = "\n".join(f"> {line}" for line in BARE.splitlines())
    [table] = tables_in(quoted)
    assert [row.label for row in table.rows][:2] == ["UDP 1-vCPU_p1", "TCP 1-vCPU_p1"]


def test_the_files_of_a_diffstat_are_no_table() -> None:
    stat = """
 Documentation/admin-guide/hw-vuln/vmscape.rst |  5 +++
 .../admin-guide/kernel-parameters.txt         |  2 +
 arch/x86/include/asm/entry-common.h           |  8 +---
 lib/pattern.bin                               | Bin 0 -> 512 bytes
 4 files changed, 10 insertions(+), 3 deletions(-)
"""
    assert kinds(stat) == ["no table"]
    assert findings(GOOD + stat) == findings(GOOD)


@given(st.text(alphabet="| -+0123456789.%ab\n\t[]±", max_size=3000))
def test_no_text_breaks_it(text: str) -> None:
    findings(text, {"v1": text})


def test_a_hostile_text_costs_little(tmp_path: Path) -> None:
    for text in ("|" * 500_000, "-" * 500_000, "1  " * 200_000, " [1," * 200_000, "|1" * 300_000):
        with within_processor_s(10):
            findings(text, {"v1": text})
