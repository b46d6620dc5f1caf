"""The counter table: what stands in it, what is absent, and how it is printed."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.documents.csv_text import as_csv
from mitigauge.core.documents.plain_text import width
from mitigauge.core.documents.table_markdown import table_markdown
from mitigauge.core.documents.table_text import table_text
from mitigauge.core.effect import Verdict
from mitigauge.reporting.letters.report.matrix import render_text
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView, ClaimView
from mitigauge.reporting.pages.schemas import CellView, ComparisonView, ExperimentView, HostFacts
from mitigauge.reporting.tables import counter_table
from mitigauge.reporting.tables.counters import counters_of, has_counters
from tests.matrix_views import DEMO, HOSTILE, arm, baseline, measured, row, run, view

ARMS = [
    arm(2, "ah-inner", "spectre-bhi/loop", kernel="7.2-ah"),
    arm(1, "al-inner", "spectre-bhi/loop", is_baseline=True, kernel="7.2-al"),
    arm(3, "al-inner-sub-ax", "spectre-bhi/loop"),
]
OF = {"workload": "syscall", "direction": "lower", "host": "rkl-01"}
NOTHING = [CellView(arm_id=i, state="no_data", n=0, blocks=0, mean=None) for i in (2, 1, 3)]


def cells(mean: float, *effects: float) -> list[CellView]:
    shown = [
        measured(i, effect, effect - 0.8, effect + 0.8, Verdict.WORSE).model_copy(
            update={"mean": mean * (1 + effect / 100)}
        )
        for i, effect in zip((2, 3), effects, strict=True)
    ]
    return [shown[0], baseline(mean), shown[1]]


def counter(metric: str, unit: str, shown: list[CellView], **changes: Any) -> Any:
    of = {**OF, "metric": metric, "metric_title": metric, "unit": unit, "primary": False}
    return row("syscall basic", shown, **{**of, "counter": True, **changes})


def experiment(**changes: Any) -> ExperimentView:
    rows = [
        counter("cycles", "cycles/op", cells(388.0, 25.2, 4.7)),
        counter("branch_misses", "misses/op", cells(2.4, -88.3, 58.8)),
        counter("uops_issued_any", "uops/op", NOTHING),
        counter("time_per_call", "ns", cells(81.0, 25.9, 4.9), primary=True, counter=False),
        counter("other", "ns", cells(81.0, 1.0, 2.0), counter=False),
    ]
    comparison = ComparisonView(
        id=1, name="variants", family_title="BHI", hosts=["rkl-01"], arms=ARMS, rows=rows,
        emulated=False,
    )  # fmt: skip
    facts = {"rkl-01": HostFacts(name="rkl-01", host_class="rocket-lake", processor="i9-11900K")}
    return view([comparison], [run("variants", "rkl-01")], host_facts=facts, **changes)


CLAIMS = [
    ClaimSourceView(
        name="mail", title="A mail", citation="A mail", published=None,
        claims=[
            ClaimView(
                title="syscall", metric="cycles", baseline="spectre-bhi/loop",
                mode="spectre-bhi/loop", arm="ah-inner", low_percent=25.2, high_percent=25.2,
                outcome=outcome, reason="said", host="rkl-01", case_id=1, arm_id=2,
            )
            for outcome in (ClaimOutcome.REPRODUCED, ClaimOutcome.OTHER_PROCESSOR)
        ],
    )
]  # fmt: skip


def test_the_primary_metric_stands_above_counters_and_what_is_not_counted_is_absent() -> None:
    [table] = counters_of(experiment()).tables
    assert [row.metric for row in table.rows] == ["time_per_call", "cycles", "branch_misses"]
    assert table.absent == ["uops_issued_any"]
    assert [arm.name for arm in table.arms] == ["al-inner", "ah-inner", "al-inner-sub-ax"]
    assert [cell.arm_id for cell in table.rows[1].cells] == [1, 2, 3]
    assert [cell.change_percent for cell in table.rows[1].cells] == [None, 25.2, 4.7]


def test_the_claim_of_the_arm_stands_beside_its_cell() -> None:
    [table] = counters_of(experiment(), CLAIMS).tables
    [claim] = table.rows[1].cells[1].claims
    assert (claim.low_percent, claim.outcome) == (25.2, "reproduced")


def test_the_text_fits_a_mail_and_says_what_is_absent_but_never_zero() -> None:
    text = table_text(counter_table.counter_table(counters_of(experiment(), CLAIMS)))
    assert max(width(line) for line in text.splitlines()) <= 78
    assert "Absent: uops_issued_any: this host does not count them" in text
    [line] = [line for line in text.splitlines() if line.startswith("cycles") and "486" in line]
    assert line.split()[:6] == ["cycles", "388", "486", "+25.2%", "[+24.4,", "+26.0]"]


def test_markdown_and_csv_have_every_cell() -> None:
    found = counters_of(experiment(), CLAIMS)
    markdown = table_markdown(counter_table.counter_table(found))
    assert "486 +25.2% \\[+24.4, +26.0\\] n=4 worse (claimed +25.2%)" in markdown
    pieces = as_csv(counter_table.COUNTER_COLUMNS, counter_table.counter_rows(found))
    rows = list(csv.DictReader(io.StringIO("".join(pieces))))
    assert len(rows) == 9
    assert {row["arm"] for row in rows} == {arm.name for arm in ARMS}


def test_the_matrix_leaves_counters_to_their_table() -> None:
    text = render_text(experiment())
    assert "cycles" not in text
    assert "Not measured" not in text


@pytest.mark.parametrize("of", [{"case_id": 2}, {"host": "other"}])
def test_another_case_or_host_has_no_table(of: dict[str, Any]) -> None:
    found = counters_of(experiment(), **of)
    assert (found.tables, found.left_out) == ([], 1)


def test_an_experiment_that_counts_nothing_says_how_to() -> None:
    assert not has_counters(DEMO.comparisons)
    assert 'counters: "yes"' in table_text(counter_table.counter_table(counters_of(DEMO)))


def test_hostile_names_forge_no_line() -> None:
    facts = {"rkl-01": HostFacts(name="rkl-01", host_class=HOSTILE, processor=HOSTILE)}
    evil = experiment().model_copy(update={"host_facts": facts, "name": HOSTILE})
    text = table_text(counter_table.counter_table(counters_of(evil, CLAIMS)))
    assert "\x1b" not in text
    assert max(width(line) for line in text.splitlines()) <= 78
    assert "<script>" not in table_markdown(counter_table.counter_table(counters_of(evil)))
