"""Threads by name: stored with the result, compared over arms, and shown with what was claimed."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from sqlalchemy import Engine, text

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.documents.csv_text import as_csv
from mitigauge.core.documents.table_markdown import table_markdown
from mitigauge.core.documents.table_text import table_text
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.results.schema import read_result
from mitigauge.measurement.results.tables import ThreadTable
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.intake import TakenResult, store_results
from mitigauge.reporting.tables import thread_table
from mitigauge.reporting.tables.service import threads_beside
from mitigauge.reporting.tables.thread_schemas import ThreadRow, ThreadsView
from mitigauge.storage.database.engine import transaction
from pipelines.steps.parser import checked, timed_pass
from tests.made import make
from tests.threads_made import HANDLERS, row, threads_made


def shown(engine: Engine, **asked: Any) -> ThreadsView:
    with transaction(engine) as session:
        return threads_beside(session, 1, **asked)


def named(view: ThreadsView, name: str) -> ThreadRow:
    [table] = view.tables
    return next(one for one in table.rows if one.name == name)


def test_the_published_table_comes_out_with_its_change_and_claim(engine: Engine) -> None:
    threads_made(engine)
    view = shown(engine)
    [table] = view.tables
    assert (table.window_s, table.measured_s, table.emulated) == (5.0, 25.0, False)
    assert [one.name for one in table.arms] == ["before", "after"]
    handlers = named(view, "handler*")
    assert (handlers.own, handlers.threads) == (True, 8)
    before, after = handlers.cells
    assert before.wakeups is not None
    assert after.wakeups is not None
    for cell, in_5s in zip((before, after), HANDLERS, strict=True):
        assert cell.n == 8
        assert cell.wakeups is not None
        assert cell.wakeups.mean * 5 == pytest.approx(in_5s, rel=0.005)
        assert cell.wakeups.low is not None
        assert cell.wakeups.high is not None
        assert cell.wakeups.low < cell.wakeups.mean < cell.wakeups.high
    assert before.wakeups.change_percent is None
    assert after.wakeups.change_percent == pytest.approx(-96.0, abs=0.1)
    assert after.wakeups.q is not None
    assert after.wakeups.q < 1e-6
    # 20 µs of each wake-up, in ms of a second.
    assert after.run is not None
    assert after.run.mean == pytest.approx(after.wakeups.mean * 0.02)
    [claim] = after.claims
    assert (claim.source, claim.low_percent) == ("ovs-wakeups", -96.0)
    assert claim.outcome is ClaimOutcome.REPRODUCED
    assert before.claims == []


def test_what_does_not_change_is_not_called_changed(engine: Engine) -> None:
    threads_made(engine)
    cell = named(shown(engine), "kworker/*").cells[1]
    assert cell.wakeups is not None
    assert cell.wakeups.q is not None
    assert cell.wakeups.q > 0.2
    assert cell.claims == []


def test_a_name_that_an_arm_lacks_did_nothing_there(engine: Engine) -> None:
    threads_made(engine)
    before, after = named(shown(engine), "ovs-vswitchd").cells
    assert before.wakeups is not None
    assert after.wakeups is not None
    assert before.wakeups.mean == pytest.approx(10.0, abs=0.1)
    assert (after.wakeups.mean, after.n) == (0.0, 8)
    assert after.wakeups.change_percent == pytest.approx(-100.0)


def test_a_name_that_a_cut_list_lacks_is_not_known(engine: Engine) -> None:
    threads_made(engine)
    with engine.begin() as connection:
        connection.execute(
            text("""
                update thread_table set other_names = 7, threads = threads || 9::bigint,
                  wakeups = wakeups || 100::bigint, run_ns = run_ns || 1::bigint,
                  wait_ns = wait_ns || null::bigint
                where boot_id in (select boot.id from boot join arm on arm.id = arm_id
                                  where not is_baseline)
            """)
        )
    view = shown(engine)
    _, after = named(view, "ovs-vswitchd").cells
    assert (after.n, after.wakeups) == (0, None)
    assert view.tables[0].others is not None
    assert (view.tables[0].others.names, view.tables[0].others.wakeups) == (7, 4.0)
    assert "up to 7 other names with 20 wake-ups are summed" in " ".join(
        table_text(thread_table.thread_table(view)).split()
    )


def test_a_host_that_tells_no_times_has_none(engine: Engine) -> None:
    threads_made(engine)
    with engine.begin() as connection:
        connection.execute(
            text("update thread_table set run_ns = array_fill(null::bigint, array["
                 "cardinality(threads)]), wait_ns = array_fill(null::bigint, array["
                 "cardinality(threads)])")
        )  # fmt: skip
    view = shown(engine)
    assert all(cell.run is None for one in view.tables[0].rows for cell in one.cells)
    assert "run, ms" not in table_text(thread_table.thread_table(view))


def test_boots_that_do_not_count_are_in_no_figure(engine: Engine) -> None:
    threads_made(engine)
    with engine.begin() as connection:
        connection.execute(text("update boot set state = 'invalid' where block > 3"))
    assert [cell.n for cell in named(shown(engine), "handler*").cells] == [3, 3]


def test_the_csv_has_the_columns_of_the_published_one(engine: Engine) -> None:
    threads_made(engine)
    text_ = "".join(as_csv(thread_table.thread_columns(5.0), thread_table.thread_rows(
        shown(engine), 5.0)))  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(text_)))
    assert list(rows[0])[:2] == ["state", "wakeups_in_5s"]
    told = [
        (one["state"], round(float(one["wakeups_in_5s"]))) for one in rows if one["own"] == "yes"
    ]
    assert told == [("before", 1177), ("after", 47)]
    assert float(rows[1]["wakeups_in_5s_change_percent"]) == pytest.approx(-96.0, abs=0.1)
    assert rows[1]["claims"] == "'-96.0%"


@pytest.mark.parametrize("window_s", [None, 1.0])
def test_text_and_markdown_say_what_they_are_of(engine: Engine, window_s: float | None) -> None:
    threads_made(engine, emulated=True)
    view = shown(engine)
    plain = table_text(thread_table.thread_table(view, window_s))
    assert max(map(len, plain.splitlines())) <= 78
    for whole in (plain, table_markdown(thread_table.thread_table(view, window_s))):
        assert "EMULATED" in whole
        assert ("in 5 s" if window_s is None else "in 1 s") in " ".join(whole.split())
        assert ("1177" in whole) == (window_s is None)


def test_an_experiment_that_tells_of_no_threads_says_which_would(engine: Engine) -> None:
    make(engine)
    assert "Measure a case of `wakeups` or `window`" in " ".join(
        table_text(thread_table.thread_table(shown(engine))).split()
    )


@pytest.mark.parametrize(("asked", "said"), [
    ({"case_id": 99}, "has no case 99"), ({"case_id": 1, "host": "elsewhere"}, "'elsewhere'"),
])  # fmt: skip
def test_what_is_not_there_is_named(engine: Engine, asked: Any, said: str) -> None:
    threads_made(engine)
    with pytest.raises(NotFound, match=said):
        shown(engine, **asked)


def result(threads: dict[str, Any]) -> bytes:
    import orjson

    return orjson.dumps(
        {
            "schema": "mitigauge.result/1", "workload": "workload-0", "case_id": "1",
            "parameters": {"size": 0}, "started_at": "2026-01-01T00:00:00Z",
            "finished_at": "2026-01-01T00:00:09Z", "threads": threads,
            "metrics": {"time": {"unit": "ns", "direction": "lower", "values": [1.0, 2.0, 3.0]}},
        }
    )  # fmt: skip


def test_a_table_is_stored_with_its_result(engine: Engine) -> None:
    make(engine)
    others = {**row("", 5), "names": 3}
    del others["name"], others["own"]
    told = {"seconds": 1.5, "rows": [row("ring-*", 9, own=True)], "others": others}
    with transaction(engine) as session:
        session.execute(text("delete from measurement"))
        session.execute(text("delete from result"))
        session.execute(text("update boot set state = 'measuring' where id = 1"))
        boot = run_rows.boot(session, 1)
        case = boot.run.comparison.cases[0]
        with pytest.raises(InvalidInput, match="no metric of the case is of threads"):
            checked(result(told), timed_pass(case))
        case.metrics = {"time": CaseMetric("ns", "lower", "Time", primary=True, threads=True)}
        taken = TakenResult(case.id, checked(result(told), timed_pass(case)))
        assert store_results(session, boot, [taken]) == 1
        stored = session.get_one(ThreadTable, (1, 1))
    assert (stored.seconds, stored.names, stored.own) == (1.5, ["ring-*"], [True])
    assert (stored.wakeups, stored.other_names) == ([9, 5], 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seconds": 0.0}, "threads.seconds"),
        ({"rows": []}, "threads.rows"),
        ({"rows": [row("a", 1), row("a", 2)]}, "a name is there twice"),
        ({"rows": [row(f"n{n}", 1) for n in range(51)]}, "threads.rows"),
        ({"rows": [row("a", -1)]}, "threads.rows.0.wakeups"),
        ({"rows": [row("a", 1) | {"wakeups": 1.5}]}, "threads.rows.0.wakeups"),
        ({"rows": [row("a", 1) | {"run_ns": 1 << 63}]}, "threads.rows.0.run_ns"),
        ({"rows": [row("x" * 201, 1)]}, "threads.rows.0.name"),
    ],
)
def test_a_table_that_cannot_be_is_refused_by_field(change: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said.replace(".", r"\.")):
        read_result(result({"seconds": 1.0, "rows": [row("a", 1)], **change}))
