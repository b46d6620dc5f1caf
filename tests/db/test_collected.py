"""What is collected beside cases: stored once, shown by arm, and gates that close."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, text

from mitigauge.core.errors import NotFound
from mitigauge.measurement.collectors.samples import Samples
from mitigauge.measurement.collectors.service import Collected, store_collected
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.reporting.pages.sample_schemas import CollectedView
from mitigauge.reporting.pages.samples import show_collected
from mitigauge.storage.database.engine import transaction
from pipelines.steps.host_evidence import Gates
from pipelines.steps.measure import CaseOutput, _taken_in, collect
from tests.crash.job_archive import packed
from tests.fuzz.builders import spin_case
from tests.made import Made, make
from tests.specs import CATALOG

NS = 10**9


def exits(per_second: int, seconds: int = 10, began: int = 1000) -> Samples:
    """So many exits to user space a second, two thirds of them by port."""
    ticks = np.arange(seconds + 1, dtype=np.int64)
    columns = {"exits": 5, "to_userspace": 3, "userspace.2": 2, "userspace.6": 1}
    values = np.array([ticks * per_second * share // 3 for share in columns.values()])
    return Samples("exits", dict.fromkeys(columns, "count"), began * NS + ticks * NS, values)


def boots(engine: Engine) -> list[tuple[int, int, int]]:
    """(boot, arm, block) in order."""
    with engine.connect() as connection:
        rows = connection.execute(text("select id, arm_id, block from boot order by id"))
        return [tuple(row) for row in rows]


def stored(engine: Engine, **of_first: Any) -> Made:
    """A made experiment whose first case has exits beside it: 300/s, in the other arm 600/s."""
    made = make(engine)
    baseline = min(arm for _, arm, _ in boots(engine))
    with transaction(engine) as session:
        for boot, arm, block in boots(engine):
            series = exits((300 if arm == baseline else 600) + block)
            found = Collected(
                0.02 * block, {"exits": series}, {"power": "no RAPL"}, (1002.0, 1008.0)
            )
            store_collected(session, boot, 1, found)
    return made


def shown(engine: Engine, made: Made) -> CollectedView:
    with transaction(engine) as session:
        return show_collected(session, made.experiment, 1, None)


def test_arms_are_drawn_over_one_another_with_the_range_of_their_boots(engine: Engine) -> None:
    made = stored(engine)
    view = shown(engine, made)
    assert view.boots == len(boots(engine))
    assert view.cost_percent == pytest.approx(0.02 * 8)
    chart = next(c for c in view.charts if c.figure == "to-userspace")
    assert len(chart.seconds) == 10
    means = [line.mean for line in chart.lines]
    assert means == [pytest.approx(304.5), pytest.approx(604.5)]
    first = chart.lines[0]
    assert first.boots == 8
    assert first.low[3] == pytest.approx(301, abs=1)
    assert first.high[3] == pytest.approx(308, abs=1)
    assert first.low[3] <= first.values[3] <= first.high[3]  # type: ignore[operator]


def test_reasons_are_named_and_ordered_and_what_is_absent_says_why(engine: Engine) -> None:
    view = shown(engine, stored(engine))
    table = view.reasons[0]
    assert table.title == "Exits to user space by reason"
    assert [row.reason for row in table.rows] == ["port I/O", "MMIO"]
    assert table.rows[0].per_second[1] == pytest.approx(2 * 604.5 / 3, rel=0.01)
    assert [(one.collector, one.reason) for one in view.absent] == [("power", "no RAPL")]


def test_boots_that_do_not_count_are_in_no_line(engine: Engine) -> None:
    made = stored(engine)
    with engine.begin() as connection:
        connection.execute(text("update boot set state = 'invalid' where block > 3"))
    chart = shown(engine, made).charts[0]
    assert [line.boots for line in chart.lines] == [3, 3]


def test_what_is_stored_stays_and_a_damaged_blob_is_left_out(engine: Engine) -> None:
    made = stored(engine)
    before = shown(engine, made)
    with transaction(engine) as session:
        store_collected(session, boots(engine)[0][0], 1, Collected(9.0, {"exits": exits(9999)}))
    assert shown(engine, made) == before
    with engine.begin() as connection:
        connection.execute(text("update collected_series set data = 'MGC1' where data is not null"))
    assert shown(engine, made).charts == []


def test_a_case_without_series_shows_none(engine: Engine) -> None:
    made = make(engine)
    view = shown(engine, made)
    assert (view.boots, view.charts, view.reasons, view.absent) == (0, [], [], [])
    assert view.cost_percent is None


def test_a_host_that_the_case_was_not_planned_on_is_named(engine: Engine) -> None:
    made = make(engine)
    with transaction(engine) as session, pytest.raises(NotFound, match="'nowhere'"):
        show_collected(session, made.experiment, 1, "nowhere")


COLLECTED = {
    "collected/collected.json": json.dumps(
        {"absent": {"power": "no RAPL"}, "processors": 2, "spent_ns": 10**6, "lasted_ns": 2 * 10**9,
         "samples": 3}
    ).encode(),
    "collected/cpu.txt": b'{"collector":"cpu","columns":[["user","count"]]}\n'
    b"1000000000 5\n2000000000 9\n3000000000 12\n",
}  # fmt: skip


def listed() -> dict[str, Any]:
    return {"case_id": "1", "workload": "spin", "parameters": {"size": 1}, "iterations": 3,
            "warmup": 1, "timeout_s": 30, "profile_hz": None}  # fmt: skip


def outputs(tmp_path: Path, collectors: list[str] | None, clock: str) -> CaseOutput:
    archive = tmp_path / "job.tar.gz"
    archive.write_bytes(packed("j", [listed()], files=COLLECTED))
    case = spin_case(profile_hz=None, collect=collectors)
    return collect(archive, [case], CATALOG, clock=clock)[0]


def test_what_a_job_collected_comes_with_its_result(tmp_path: Path, home: Path) -> None:
    found = outputs(tmp_path, ["cpu", "power"], "counted").collected
    assert found is not None
    assert list(found.series) == ["cpu"]
    assert found.absent == {"power": "no RAPL"}
    assert found.cost_percent == pytest.approx(0.025)


def test_unasked_a_host_in_real_time_collects_what_is_cheap_and_a_counted_one_nothing(
    tmp_path: Path, home: Path
) -> None:
    assert outputs(tmp_path, None, "counted").collected is None
    real = outputs(tmp_path, None, "real").collected
    assert real is not None
    assert {"cpu", "memory"} <= {*real.series, *real.absent}
    assert "exits" not in {*real.series, *real.absent}
    assert outputs(tmp_path, [], "real").collected is None


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        (Gates(throttled=3), "slowed for heat 3 times during spin 1"),
        (Gates(machine_checks=1, throttled=1), "1 machine checks during spin 1"),
        (Gates(), ""),
    ],
)
def test_a_gate_closes_for_heat_and_machine_checks(gates: Gates, said: str) -> None:
    assert said in gates.closed(spin_case())
    assert bool(gates.closed(spin_case())) == bool(said)


def test_a_closed_gate_makes_the_whole_block_run_again(engine: Engine) -> None:
    make(engine, state="running")
    with engine.begin() as connection:
        connection.execute(
            text("update boot set state = 'measuring' where id = (select max(id) from boot)")
        )
    with transaction(engine) as session:
        run = session.query(Run).one()
        boot = max(run.boots, key=lambda one: one.id)
        block = boot.block
        done = _taken_in(
            boot, [CaseOutput(spin_case(), None, state="failed", gate="it was hot")], 1.0
        )
        done.apply(session, run)
    assert "the block does not count: it was hot" in done.event
    with transaction(engine) as session:
        of_block = session.query(Boot).filter(Boot.block == block).all()
        assert sorted(one.state for one in of_block) == ["invalid"] * 2 + ["planned"] * 2
        assert {one.reason for one in of_block if one.state == "invalid"} == {"it was hot"}
