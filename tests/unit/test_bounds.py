"""Where the hardware's own events cost nothing, a figure is a bound, and ranks nobody."""

from __future__ import annotations

import pytest

from mitigauge.analysis.verdicts.cells import Cell, cells_of
from mitigauge.analysis.verdicts.judgement import CaseQuestion, CountedBoot, Design, judge_run
from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.bounds import Bound, Uncounted, bound_of, carries
from mitigauge.core.stats.domain import Domain
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.modes.crossing import uncounted
from mitigauge.measurement.results.repository import Mean

FAMILIES = Catalog().families
OFF, IBPB, BHB = 1, 2, 3
NONE, MORE, FEWER, OTHER = Uncounted.NONE, Uncounted.MORE, Uncounted.FEWER, Uncounted.OTHER


@pytest.mark.parametrize(
    ("arm", "baseline", "found"),
    [
        ("vmscape/ibpb", "vmscape/off", MORE),
        ("vmscape/off", "vmscape/ibpb", FEWER),
        ("vmscape/bhb-clear", "vmscape/off", NONE),
        ("vmscape/bhb-clear", "vmscape/ibpb", FEWER),
        ("spectre-bhi/loop", "spectre-bhi/off", NONE),
        ("l1d-flush/always", "l1d-flush/cond", MORE),
        ("l1d-flush/cond", "l1d-flush/always", FEWER),
        ("ibrs/entry+ibpb/off", "ibrs/off+ibpb/on", OTHER),
        ("ibrs/entry+ibpb/on", "ibrs/off+ibpb/off", MORE),
        ("pti/on", "pti/off", MORE),
    ],
)
def test_modes_files_tell_which_events_are_not_counted(
    arm: str, baseline: str, found: Uncounted
) -> None:
    assert uncounted(arm, baseline, FAMILIES) is found


@pytest.mark.parametrize(
    ("events", "direction", "domain", "bound"),
    [
        (MORE, "lower", Domain.TIME, Bound.AT_LEAST),
        (MORE, "higher", Domain.RATE, Bound.AT_MOST),
        (FEWER, "lower", Domain.TIME, Bound.AT_MOST),
        (FEWER, "higher", Domain.RATE, Bound.AT_LEAST),
        (OTHER, "lower", Domain.TIME, Bound.NOTHING),
        (NONE, "lower", Domain.TIME, Bound.EXACT),
        (MORE, "lower", Domain.COUNT, Bound.EXACT),
    ],
)
def test_more_events_take_more_time(
    events: Uncounted, direction: str, domain: Domain, bound: Bound
) -> None:
    assert bound_of(events, direction, domain) is bound  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bound", "direction", "carried"),
    [
        (Bound.EXACT, "lower", {"worse", "better", "same", "undecided"}),
        (Bound.AT_LEAST, "lower", {"worse", "undecided"}),
        (Bound.AT_MOST, "lower", {"better", "undecided"}),
        (Bound.AT_LEAST, "higher", {"better", "undecided"}),
        (Bound.AT_MOST, "higher", {"worse", "undecided"}),
        (Bound.NOTHING, "lower", {"undecided"}),
    ],
)
def test_a_bound_carries_what_holds_of_the_true_change(
    bound: Bound, direction: str, carried: set[str]
) -> None:
    said = {v for v in ("worse", "better", "same", "undecided") if carries(bound, v, direction)}  # type: ignore[arg-type]
    assert said == carried


def judged(events: dict[int, Uncounted], ibpb_ns: float) -> dict[int, Cell]:
    """Twelve boots in which clearing the history costs 12 %, and the barrier what is given."""
    design = Design((OFF, IBPB, BHB), OFF, 4, uncounted=events)
    level = {OFF: 100.0, IBPB: ibpb_ns, BHB: 112.0}
    boots = [CountedBoot(arm * 10 + block, arm, block) for arm in level for block in (1, 2, 3, 4)]
    means = [
        Mean(b.id, 7, "t", level[b.arm_id] * (1 + 1e-4 * (b.block + b.arm_id) % 3e-4), 0, 0)
        for b in boots
    ]
    asked = [CaseQuestion(7, "t", CaseMetric("ns", "lower", "Time", primary=True))]
    found = judge_run(design, asked, boots, means, ended=True)
    return {cell.arm_id: cell for cell in cells_of(found, design, {})}


COUNTED = {OFF: NONE, IBPB: MORE, BHB: NONE}


def test_a_barrier_that_costs_nothing_here_is_at_least_what_is_measured() -> None:
    """The series exists since an IBPB costs more than the loop; counted, it looked cheaper."""
    cells = judged(COUNTED, 105.0)
    assert (cells[IBPB].verdict, cells[IBPB].bound) == ("worse", Bound.AT_LEAST)
    assert "the hardware's own events are not counted" in cells[IBPB].note
    assert (cells[BHB].verdict, cells[BHB].bound, cells[BHB].note) == ("worse", Bound.EXACT, "")


@pytest.mark.parametrize("ibpb_ns", [100.0, 95.0])
def test_a_barrier_is_never_the_same_or_better_where_it_is_not_counted(ibpb_ns: float) -> None:
    assert judged({}, ibpb_ns)[IBPB].verdict in ("same", "better")
    cell = judged(COUNTED, ibpb_ns)[IBPB]
    assert (cell.verdict, cell.bound) == ("undecided", Bound.AT_LEAST)


def test_a_baseline_with_a_barrier_lets_no_arm_be_worse() -> None:
    cells = judged({OFF: NONE, IBPB: OTHER, BHB: FEWER}, 105.0)
    assert (cells[BHB].verdict, cells[BHB].bound) == ("undecided", Bound.AT_MOST)
    assert (cells[IBPB].verdict, cells[IBPB].bound) == ("undecided", Bound.NOTHING)


def test_an_event_without_a_file_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "modes").mkdir()
    (tmp_path / "modes" / "x.yml").write_text(
        "family: x\ntitle: X\nfile: x\nmodes:\n  a: {events: [nope], expect: [{equals: A}]}\n"
    )
    with pytest.raises(InvalidInput, match="no event 'nope'"):
        _ = Catalog(tmp_path).families
