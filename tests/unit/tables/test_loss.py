"""The loss matrix: what counts as crossed, which way a loss points, and how it is printed."""

from __future__ import annotations

import csv
import io

import pytest

from mitigauge.core.documents.csv_text import as_csv
from mitigauge.core.documents.plain_text import width
from mitigauge.core.documents.table_markdown import table_markdown
from mitigauge.core.documents.table_text import table_text
from mitigauge.reporting.pages.schemas import ArmView
from mitigauge.reporting.tables import loss_table
from mitigauge.reporting.tables.loss import loss_of, losses, slices_of
from tests.loss_views import ARMS, CLAIMS, crossed, experiment
from tests.matrix_views import DEMO, HOSTILE, arm


def test_modes_of_two_families_are_crossed_in_the_order_of_the_arms() -> None:
    [one] = slices_of(crossed())
    assert one.axes == ("ibrs", "ibpb")
    assert (one.modes(0), one.modes(1)) == (["off", "retpoline", "entry"], ["off", "on"])
    assert ("off", "on") not in one.arms


@pytest.mark.parametrize(
    "arms",
    [
        [arm(1, "a", "ibrs/off", is_baseline=True), arm(2, "b", "ibrs/entry")],
        # One family is in one mode only.
        [ARMS[0], arm(2, "b", "ibrs/entry+ibpb/off")],
        # An arm says nothing of the second family.
        [*ARMS, arm(9, "c", "ibrs/always")],
    ],
)
def test_what_is_not_crossed_has_no_matrix(arms: list[ArmView]) -> None:
    assert slices_of(crossed(arms=arms)) == []
    assert loss_of(experiment(crossed(arms=arms))).tables == []


def test_further_modes_and_kernels_get_a_table_each() -> None:
    more = [arm(n, f"x{n}", f"{of.mode}+pti/on", kernel="7.2") for n, of in enumerate(ARMS[1:], 10)]
    arms = [arm(1, "base", "ibrs/off+ibpb/off+pti/off", is_baseline=True), *more]
    assert [one.rest for one in slices_of(crossed(arms=arms))] == ["pti/off", "pti/on, kernel 7.2"]


def test_the_doubled_baseline_is_no_cell() -> None:
    double = arm(9, "unpatched-again", "ibrs/off+ibpb/off", is_aa=True)
    [one] = slices_of(crossed(arms=[double, *ARMS]))
    assert one.arms["off", "off"].id == 1


@pytest.mark.parametrize(
    ("direction", "low", "high", "expected"),
    [("lower", -1.0, 3.0, (-1.0, 3.0)), ("higher", -4.0, -3.0, (3.0, 4.0)),
     ("higher", None, None, (None, None))],
)  # fmt: skip
def test_a_loss_is_the_change_for_the_worse(
    direction: str, low: float | None, high: float | None, expected: tuple[float | None, ...]
) -> None:
    assert losses(direction, low, high) == expected  # type: ignore[type-var, arg-type]


def test_the_same_loss_of_time_and_of_throughput_has_the_same_sign() -> None:
    wall, throughput = loss_of(experiment()).tables
    assert (wall.metric, throughput.metric) == ("wall", "throughput")
    for table in (wall, throughput):
        found = {(c.first, c.second): c for c in table.blocks[0].cells}
        cell = found["retpoline", "on"]
        assert (cell.loss_percent, cell.low_percent, cell.high_percent) == (16.2, 15.0, 17.4)
        assert found["entry", "on"].state == "not_effective"
        assert found["entry", "on"].observed == ["Mitigation: Retpolines; IBPB: off"]
        assert found["off", "off"].loss_percent is None


def test_claims_stand_beside_their_own_host_s_cell_as_losses() -> None:
    [table] = loss_of(experiment(), CLAIMS, metric="throughput").tables
    real, emulated = ({(c.first, c.second): c for c in b.cells} for b in table.blocks)
    # The claim about another processor says nothing of a measured cell.
    assert [(c.label, c.low_percent) for c in real["retpoline", "off"].claims] == [("haswell", 4.0)]
    assert [c.label for c in emulated["retpoline", "on"].claims] == [
        "haswell", "skylake", "kabylake-u"
    ]  # fmt: skip


def test_so_many_tables_and_how_many_more() -> None:
    view = loss_of(experiment(), most=1)
    assert (len(view.tables), view.left_out, len(view.choices)) == (1, 1, 2)
    assert "1 more table" in table_text(loss_table.loss_table(view))


def test_the_text_fits_a_mail_and_says_what_is_emulated_and_not_effective() -> None:
    text = table_text(loss_table.loss_table(loss_of(experiment(), CLAIMS)))
    assert max(width(line) for line in text.splitlines()) <= 78
    assert "+16.2%    [+15.0, +17.4]  4  worse" in text
    assert "12.0 s" in text
    assert "EMULATED" in text
    assert "entry, on: not effective, the kernel said: Mitigation: Retpolines" in text
    told = [line.split() for line in text.splitlines() if "+19.0%" in line]
    assert told == [["retpoline", "on", "+16.2%", "+16.0%", "+19.0%", "+19.0%"]]


def test_markdown_and_csv_have_every_cell() -> None:
    view = loss_of(experiment(), CLAIMS)
    markdown = table_markdown(loss_table.loss_table(view))
    assert markdown.count("| retpoline | on |") == 4
    rows = list(
        csv.DictReader(
            io.StringIO("".join(as_csv(loss_table.LOSS_COLUMNS, loss_table.loss_rows(view))))
        )
    )
    assert len(rows) == 2 * 2 * len(ARMS)
    wanted = {"host": "hsw-01", "metric": "throughput", "first": "retpoline", "second": "on"}
    [one] = [row for row in rows if wanted.items() <= row.items()]
    assert (one["loss_percent"], one["processor"]) == ("16.2", "Xeon E5-2690 v3")


def test_nothing_crossed_says_how_to_cross() -> None:
    assert "cross: [ibrs, ibpb]" in table_text(loss_table.loss_table(loss_of(DEMO)))


def test_hostile_names_forge_no_line() -> None:
    facts = {
        name: fact.model_copy(update={"processor": HOSTILE, "host_class": HOSTILE})
        for name, fact in experiment().host_facts.items()
    }
    view = loss_of(experiment(host_facts=facts), CLAIMS)
    text = table_text(loss_table.loss_table(view))
    assert "\x1b" not in text
    assert max(width(line) for line in text.splitlines()) <= 78
    assert "<script>" not in table_markdown(loss_table.loss_table(view))
