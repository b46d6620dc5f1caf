"""Trends as rows: values of runs, changes, what people said, and what later values make of it."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.trends import service
from mitigauge.tracking.trends.page_repository import TrendFilter
from mitigauge.tracking.trends.schemas import ChangeKind, ChangeState, TrendChange, TrendView
from mitigauge.tracking.trends.update import Updated, update
from tests.trends_made import FACTS, weeks

ARMS, CASES = 2, 2
STEP = [1.0] * 10 + [1.05] * 8


def updated(engine: Engine, *, again: bool = False) -> Updated:
    done = update(engine, again=again)
    assert done is not None
    return done


def shown(engine: Engine, number: int = 0) -> TrendView:
    with transaction(engine) as session:
        page = service.list_trends(session)
        ids = sorted(trend.id for trend in page.trends)
        return service.show_trend(session, ids[number])


def only_change(engine: Engine) -> TrendChange:
    changes = shown(engine).changes
    assert len(changes) == 1
    return changes[0]


def test_each_arm_and_case_of_a_run_gives_one_value(engine: Engine) -> None:
    weeks(engine, [1.0, 1.0])
    assert updated(engine) == Updated(runs=2, trends=ARMS * CASES, changes=0)
    view = shown(engine)
    assert [value.boots for value in view.values] == [4, 4]
    assert view.values[0].at < view.values[1].at
    low, high = view.values[0].low, view.values[0].high
    assert low is not None
    assert high is not None
    assert low < view.values[0].value < high
    assert updated(engine) == Updated(runs=0, trends=0, changes=0)


def test_a_step_is_found_with_its_size_its_place_and_what_changed_then(engine: Engine) -> None:
    weeks(engine, STEP[:10])
    newer = {**FACTS, "microcode": "0x2", "packages": {"libc6": "2.42"}}
    runs = weeks(engine, STEP[10:], first=10, facts=newer, kernel="7.3.0")
    assert updated(engine).changes == ARMS * CASES
    change = only_change(engine)
    assert change.effect_percent == pytest.approx(5.0, abs=0.2)
    assert (change.kind, change.verdict, change.state) == ("lasting", "worse", "open")
    assert (change.values_before, change.values_after) == (10, 8)
    assert change.run_after == runs[0]
    assert change.earliest_at == change.at == change.latest_at
    said = {(cause.kind, cause.before, cause.after) for cause in change.causes}
    assert said == {
        ("kernel", "7.2.0", "7.3.0"), ("microcode", "0x1", "0x2"), ("tools", "2.41", "2.42"),
    }  # fmt: skip


def test_of_too_few_values_it_is_not_said_that_they_hold_no_change(engine: Engine) -> None:
    weeks(engine, [1.0] * 8 + [1.06] * 5)
    updated(engine)
    trend = shown(engine)
    # 6 % are there to be seen, and 13 values are too few to tell that from chance.
    assert trend.changes == []
    assert trend.no_change == "No change can be told yet: 14 values tell one, and there are 13."
    weeks(engine, [1.06], first=13)
    updated(engine)
    assert shown(engine).no_change == ""


def test_values_far_off_all_others_are_none_of_those_that_tell(engine: Engine) -> None:
    weeks(engine, [1.0] * 6 + [1.3] + [1.0] * 4 + [1.4] + [1.0] * 3)
    updated(engine)
    trend = shown(engine)
    assert sum(value.outlier for value in trend.values) == 2
    assert trend.no_change == (
        "No change can be told yet: 14 values tell one, and there are 13, besides 2 far off all "
        "others."
    )


def test_a_change_of_nothing_known_is_said_as_such(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    assert only_change(engine).causes == []


def test_a_change_below_delta_is_none(engine: Engine) -> None:
    weeks(engine, [1.0] * 10 + [1.008] * 8)
    updated(engine)
    assert shown(engine).changes == []


def test_one_outlier_is_marked_and_is_no_change(engine: Engine) -> None:
    weeks(engine, [1.0] * 9 + [1.2] + [1.0] * 8)
    updated(engine)
    view = shown(engine)
    assert view.changes == []
    assert [n for n, value in enumerate(view.values) if value.outlier] == [9]


def test_what_went_away_is_one_change_and_no_news(engine: Engine) -> None:
    weeks(engine, [1.0] * 12 + [1.05] * 8 + [1.0] * 12)
    updated(engine)
    change = only_change(engine)
    assert change.kind is ChangeKind.WENT_AWAY
    assert change.until is not None


def accepted(engine: Engine) -> TrendChange:
    change = only_change(engine)
    with transaction(engine) as session:
        return service.accept(session, change.id, by="mira", text="the new allocator")


def test_an_accepted_change_stays_as_it_is_while_later_values_agree(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    before = accepted(engine)
    assert before.state is ChangeState.ACCEPTED
    weeks(engine, [1.05, 1.05], first=len(STEP))
    assert updated(engine).trends == ARMS * CASES
    after = only_change(engine)
    assert after == before
    assert shown(engine).earlier == []
    with (
        transaction(engine) as session,
        pytest.raises(Conflict, match="accepted already, by mira"),
    ):
        service.accept(session, before.id, by="jo", text="again")


def test_an_open_change_is_said_anew_in_place(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    before = only_change(engine)
    weeks(engine, [1.05, 1.05], first=len(STEP))
    updated(engine)
    after = only_change(engine)
    assert (after.id, after.version) == (before.id, 1)
    assert after.values_after == before.values_after + 2
    assert after.found_at == before.found_at


def test_an_accepted_change_that_went_away_later_gets_a_new_version(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    before = accepted(engine)
    weeks(engine, [1.0] * 12, first=len(STEP))
    updated(engine)
    after = only_change(engine)
    assert (after.id, after.version, after.state) == (before.id, 2, ChangeState.OPEN)
    assert "went away instead of lasting" in after.reason
    earlier = shown(engine).earlier
    assert [(each.version, each.said_by) for each in earlier] == [(1, "mira")]
    assert earlier[0].superseded_at is not None


def test_an_accepted_change_that_is_no_longer_seen_is_withdrawn_not_lost(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    before = accepted(engine)
    with engine.begin() as connection:
        connection.execute(text("update trend_value set value = 100"))
    updated(engine, again=True)
    after = only_change(engine)
    assert (after.id, after.version, after.kind) == (before.id, 2, ChangeKind.WITHDRAWN)
    assert after.reason == "later values do not show it"
    # And it stays so.
    updated(engine, again=True)
    assert only_change(engine) == after


def test_another_unit_is_another_trend_and_each_names_the_other(engine: Engine) -> None:
    weeks(engine, [1.0, 1.0])
    with engine.begin() as connection:
        connection.execute(
            text("""update benchmark_case set metrics = jsonb_set(metrics, '{time,unit}', '"us"')
                where comparison_id = (select max(id) from comparison)""")
        )
    updated(engine)
    view = shown(engine)
    assert view.unit == "ns"
    assert len(view.values) == 1
    assert [other.why for other in view.others] == ["its values are in us, these in ns"]


def test_a_case_that_was_renamed_stays_one_trend(engine: Engine) -> None:
    weeks(engine, [1.0, 1.0])
    with engine.begin() as connection:
        connection.execute(
            text("""update benchmark_case set title = 'load, new name'
                where position = 0 and comparison_id = (select max(id) from comparison)""")
        )
    updated(engine)
    view = shown(engine)
    assert view.case == "load, new name"
    assert len(view.values) == 2


def test_a_host_that_left_is_a_cause(engine: Engine) -> None:
    weeks(engine, [1.0] * 10)
    weeks(engine, [1.05] * 8, first=10, host="host-2")
    updated(engine)
    view = shown(engine)
    cause = view.changes[0].causes[0]
    assert (cause.kind, cause.before, cause.after) == ("host", "host-1", "host-2")


def test_a_wrong_clock_of_a_host_moves_nothing(engine: Engine) -> None:
    weeks(engine, [1.0, 1.0, 1.0])
    with engine.begin() as connection:
        connection.execute(
            text("""update result set finished_at = finished_at + interval '400 days'
                where boot_id in (select id from boot where run_id = (select min(id) from run))""")
        )
    updated(engine)
    view = shown(engine)
    assert [value.run_id for value in view.values] == sorted(v.run_id for v in view.values)


def test_a_run_that_cannot_be_read_is_noted_and_keeps_nothing_else_out(engine: Engine) -> None:
    weeks(engine, [1.0, 1.0])
    with engine.begin() as connection:
        connection.execute(
            text("""update arm set family = 'a+b' where comparison_id =
                (select min(id) from comparison)""")
        )
    assert updated(engine).runs == 2
    with engine.connect() as connection:
        errors = list(connection.execute(text("select error from trend_run order by run_id")))
    assert "ValueError" in errors[0][0]
    assert errors[1][0] == ""
    assert len(shown(engine).values) == 1


def test_the_list_has_the_newest_change_first_and_is_filtered(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    with engine.begin() as connection:
        connection.execute(
            text("""update trend set changed_at = null, open_changes = 0
                where id = (select max(id) from trend)""")
        )

    def listed(**wanted: Any) -> int:
        with transaction(engine) as session:
            return service.list_trends(session, TrendFilter(**wanted)).total

    with transaction(engine) as session:
        page = service.list_trends(session, limit=3)
        assert page.next == 3
        assert all(trend.change is not None for trend in page.trends)
        last = service.list_trends(session, offset=3)
        assert last.next is None
    assert (listed(), listed(only_changed=True), listed(only_open=True)) == (4, 3, 3)
    assert (listed(workload="workload-0"), listed(host_class="bench")) == (2, 4)
    assert (listed(text="size 1"), listed(text="100%"), listed(mode="bench/mode-1")) == (2, 0, 2)


def test_changes_of_a_week_and_those_still_open_are_told(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    with transaction(engine) as session:
        found = service.changes_found(session)
        assert len(found) == ARMS * CASES
        assert service.changes_found(session, until=found[0].found_at) == []
        assert len(service.open_changes(session)) == ARMS * CASES
    with transaction(engine) as session:
        service.accept(session, found[0].id, by="mira", text="known", expected=True)
    with transaction(engine) as session:
        assert len(service.open_changes(session)) == ARMS * CASES - 1


def test_what_people_say_is_checked(engine: Engine) -> None:
    weeks(engine, STEP)
    updated(engine)
    view = shown(engine)
    other = shown(engine, 1)
    with transaction(engine) as session:
        said = service.annotate(
            session, view.id, by="mira", text="see \x1b[31mthis", change_id=view.changes[0].id
        )
        assert said.about == view.changes[0].at
        assert "\x1b" not in said.text
        with pytest.raises(InvalidInput, match="needs a text"):
            service.annotate(session, view.id, by="mira", text="  ")
        with pytest.raises(InvalidInput, match="2001 characters"):
            service.annotate(session, view.id, by="mira", text="x" * 2001)
        with pytest.raises(InvalidInput, match=f"is one of trend {view.id}"):
            service.annotate(session, other.id, by="mira", text="x", change_id=view.changes[0].id)
        with pytest.raises(NotFound, match="no trend 999"):
            service.annotate(session, 999, by="mira", text="x")
        with pytest.raises(NotFound, match="no change 999"):
            service.accept(session, 999, by="mira", text="x")
