"""What a case tells besides its metrics: stored once with its result, shown over boots by arm."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.documents.table_markdown import table_markdown
from mitigauge.core.documents.table_text import COLUMNS, table_text
from mitigauge.core.errors import NotFound
from mitigauge.measurement.runs.intake import TakenResult, store_results
from mitigauge.measurement.runs.tables import Boot
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.pages.detail_schemas import BreakdownLine, DetailsView, ReachedRow
from mitigauge.reporting.pages.details import first_detailed, show_details
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.tables.detail_table import DETAIL_COLUMNS, detail_rows, detail_table
from mitigauge.storage.database.engine import transaction
from tests.desktop_world import BLOCKS, DesktopWorld, make_desktops, recorded_case, result_of
from tests.made import make


def shown(engine: Engine, world: DesktopWorld) -> DetailsView:
    with transaction(engine) as session:
        return show_details(session, world.experiment, world.case, None)


def at(view: DetailsView, threshold: float) -> ReachedRow:
    assert view.curve is not None
    return next(row for row in view.curve.thresholds if row.threshold == threshold)


def line(view: DetailsView, breakdown: str, row: str, figure: str) -> BreakdownLine:
    found = next(one for one in view.breakdowns if one.name == breakdown)
    return next(one for one in found.lines if (one.row, one.figure) == (row, figure))


def test_every_arm_has_its_curve_over_boots_with_an_interval(engine: Engine) -> None:
    view = shown(engine, make_desktops(engine))
    assert view.curve is not None
    assert (view.declared, view.untold, view.emulated) == (True, 0, True)
    assert [arm.boots for arm in view.arms] == [BLOCKS, BLOCKS]
    base, other = view.curve.lines
    assert [point.load for point in base.points] == [1, 2, 3]
    assert base.points[0].value == pytest.approx(0.0)
    # Recorded were 431 %; beside others all took 0.95 and 0.75 times as long, by its scatter.
    assert base.points[2].value == pytest.approx(100 * (5.31 * 0.95 - 1), abs=12)
    assert other.points[2].value == pytest.approx(100 * (5.31 * 0.75 - 1), abs=12)
    for point in (*base.points[1:], *other.points[1:]):
        assert point.boots == BLOCKS
        assert point.low is not None
        assert point.high is not None
        assert point.low < point.value < point.high


def test_a_density_has_an_interval_and_its_change_against_the_baseline(engine: Engine) -> None:
    view = shown(engine, make_desktops(engine))
    row = at(view, 100)
    base, other = row.cells
    assert (row.is_own, at(view, 25).is_own) == (False, True)
    assert (base.boots, base.of, base.at_least, base.note) == (BLOCKS, BLOCKS, False, "")
    assert base.value is not None
    assert base.low is not None
    assert base.high is not None
    assert base.low < base.value < base.high
    assert base.change_percent is None
    # What slows down less carries more.
    assert other.change_percent is not None
    assert other.change_low is not None
    assert other.change_low > 0
    assert other.value == pytest.approx(base.value * (1 + other.change_percent / 100), rel=1e-6)


def test_a_density_that_some_boots_never_reached_is_a_lower_bound_and_says_so(
    engine: Engine,
) -> None:
    view = shown(engine, make_desktops(engine))
    base, other = at(view, 400).cells
    assert BLOCKS / 2 <= base.boots < BLOCKS, "the world has no boot of each kind"
    assert base.at_least
    assert base.low is None
    assert base.note == (
        f"reached in {base.boots} of {BLOCKS} boots; the others count as 3, the most tried"
    )
    assert base.value is not None
    assert 2.5 < base.value <= 3.0
    # All slow down less there than 400 %: no number, and not that of the baseline either.
    assert (other.boots, other.value, other.note) == (0, None, f"reached in 0 of {BLOCKS} boots")
    assert other.change_percent is None


def test_phases_and_actions_are_told_by_arm_with_their_changes(engine: Engine) -> None:
    view = shown(engine, make_desktops(engine))
    assert [one.name for one in view.breakdowns] == ["phases", "actions", "applications"]
    warm = line(view, "phases", "steady", "warm_response_s").cells
    assert warm[1].change_percent == pytest.approx(100 * (0.75 / 0.95 - 1), abs=5)
    assert warm[1].change_high is not None
    assert warm[1].change_high < 0
    ready = line(view, "phases", "steady", "cpu_ready_percent").cells
    assert ready[0].value == pytest.approx(73.8, abs=0.1)
    # No host of the lab tells its power: absent, and never zero.
    told = {one.figure for one in view.breakdowns[0].lines}
    assert "power_w" not in told
    copies = line(view, "actions", "copy", "median_s").cells
    assert copies[0].value is not None
    assert copies[0].boots == BLOCKS
    assert line(view, "actions", "copy", "failed").cells[1].value == 0
    # In the order of the workload's file, whatever the database does to names.
    assert [row.name for row in view.breakdowns[0].rows] == ["baseline", "ramp", "steady"]
    actions = list(dict.fromkeys(one.row for one in view.breakdowns[1].lines))
    assert actions == [row.name for row in view.breakdowns[1].rows]
    assert actions[:3] == ["login", "start", "open"]


def test_one_boot_has_no_interval_and_no_change_with_one(engine: Engine) -> None:
    view = shown(engine, make_desktops(engine, blocks=1))
    base, other = at(view, 100).cells
    assert (base.boots, base.low, base.high) == (1, None, None)
    assert base.note == other.note == "one boot: no interval"
    assert other.change_percent is not None
    assert (other.change_low, other.change_high) == (None, None)
    assert view.curve is not None
    assert {point.low for point in view.curve.lines[0].points} == {None}


def test_boots_that_do_not_count_are_in_no_figure(engine: Engine) -> None:
    world = make_desktops(engine)
    with engine.begin() as connection:
        connection.execute(text("update boot set state = 'invalid' where block > 4"))
    view = shown(engine, world)
    assert [arm.boots for arm in view.arms] == [4, 4]
    assert at(view, 100).cells[0].of == 4


def test_boots_without_details_are_counted_and_damaged_ones_are_not_shown(engine: Engine) -> None:
    world = make_desktops(engine)
    with engine.begin() as connection:
        connection.execute(
            text("delete from result_detail where boot_id = :b"), {"b": world.boots[0]}
        )
        connection.execute(
            text("""update result_detail set body = '{"curve": "none"}' where boot_id = :b"""),
            {"b": world.boots[1]},
        )
    view = shown(engine, world)
    assert [arm.boots for arm in view.arms] == [BLOCKS - 1, BLOCKS - 1]
    assert view.untold == 2
    assert "2 boots measured the case and tell no details" in table_text(detail_table(view))


def test_details_are_stored_with_their_result_and_never_replaced(engine: Engine) -> None:
    world = make_desktops(engine)
    before = shown(engine, world)
    again = result_of(recorded_case(world.case), 0.5, random.Random(9))
    with transaction(engine) as session:
        boot = session.get_one(Boot, world.boots[0])
        stored = session.scalar(text("select body_sha256 from result limit 1"))
        with pytest.raises(Exception, match="another result"):
            store_results(session, boot, [TakenResult(world.case, again)])
    assert stored
    assert shown(engine, world) == before


def test_a_case_that_declares_none_shows_none(engine: Engine) -> None:
    made = make(engine)
    with transaction(engine) as session:
        view = show_details(session, made.experiment, 1, None)
        assert (view.declared, view.curve, view.breakdowns) == (False, None, [])
        assert "tells nothing besides its metrics" in table_text(detail_table(view))
        assert first_detailed(session, made.experiment, None) is None
        with pytest.raises(NotFound, match="9999"):
            first_detailed(session, 9999, None)


def test_the_text_fits_a_mail_and_says_what_markdown_and_csv_say(engine: Engine) -> None:
    world = make_desktops(engine)
    with transaction(engine) as session:
        assert first_detailed(session, world.experiment, None) == world.case
    view = shown(engine, world)
    plain = table_text(detail_table(view))
    assert max(map(len, plain.splitlines())) <= COLUMNS
    for form in (plain, table_markdown(detail_table(view))):
        assert "EMULATED" in form
        assert "Load curve, slowdown in percent: ibpb against off" in form
        assert "no verdict comes of them" in " ".join(form.split())
        assert f"in 0 of {BLOCKS} boots" in form
        assert "≥ 2.9" in form or "≥ 3.0" in form
        assert "Phases, full load: ibpb against off" in form
        assert "Actions, Median: ibpb" in form
    assert "Actions, 95th percentile" in table_text(detail_table(view, "p95_s"))
    rows = list(detail_rows(view))
    assert all(set(row) == set(DETAIL_COLUMNS) for row in rows)
    assert {row["part"] for row in rows} == {
        "curve", "reached", "phases", "actions", "applications"
    }  # fmt: skip


def test_the_report_has_densities_with_intervals_in_both_forms(engine: Engine) -> None:
    world = make_desktops(engine)
    with transaction(engine) as session:
        report = gathered(session, show_experiment(session, world.experiment))
        plain, marked = report.text(), report.markdown()
    for form in (plain, marked):
        words = " ".join(form.split())
        assert "Density by threshold: ibpb against off; desktops: desktop light 3 sessions" in words
        assert f"in 0 of {BLOCKS} boots" in form
    assert max(map(len, plain.splitlines())) <= COLUMNS
    assert "Phases" not in plain
    made = make(engine)
    with transaction(engine) as session:
        other = gathered(session, show_experiment(session, made.experiment))
        assert "by threshold" not in other.text()
