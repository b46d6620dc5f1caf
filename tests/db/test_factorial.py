"""What each knob of a stored factorial experiment costs, as table, text, CSV and JSON."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from bench.store.fill import Size, fill
from mitigauge.analysis.verdicts import service as verdict_service
from mitigauge.analysis.verdicts.conclusions import conclude_run, judge_again
from mitigauge.core.errors import NotFound
from mitigauge.measurement.experiments.factorial import design_of
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.tables.factorial_schemas import FactorialView
from mitigauge.reporting.tables.factorial_table import KIND, read_factorial
from mitigauge.reporting.tables.kind import TableQuery
from mitigauge.reporting.tables.loss import crosses

COSTS = {"pti": 400.0, "bhi": 30.0, "mds": 0.0}
BASE = 1000.0
POINTS = design_of(tuple(COSTS), ()).points
PLAN = {
    "knobs": [{"name": name, "low": f"{name}/off", "high": f"{name}/on"} for name in COSTS],
    "pairs": [],
}


def designed(engine: Engine) -> tuple[int, int]:
    """A made experiment of two cases whose eight arms turn three knobs of known cost."""
    filled = fill(engine, Size(cases=2, arms=8, blocks=2, iterations=1))
    with engine.begin() as connection:
        connection.execute(
            text("update comparison set factorial = :plan"), {"plan": json.dumps(PLAN)}
        )
        for place, point in enumerate(POINTS):
            level = BASE + sum(
                cost for cost, high in zip(COSTS.values(), point.high, strict=True) if high
            )
            connection.execute(
                text(
                    "update arm set name = :name, family = 'pti+bhi+mds', mode = :mode "
                    "where position = :place"
                ),
                {
                    "place": place,
                    "name": point.name,
                    "mode": "+".join("on" if high else "off" for high in point.high),
                },
            )
            connection.execute(
                text(
                    # Blocks differ by 1 %, boots by nothing else.
                    "update measurement set mean = :level + 10 * boot.block from boot, arm "
                    "where boot.id = measurement.boot_id and arm.id = boot.arm_id "
                    "and arm.position = :place"
                ),
                {"place": place, "level": level},
            )
    conclude_run(engine, filled.run)
    return filled.experiment, filled.run


def test_each_knob_has_its_cost_in_every_form(engine: Engine) -> None:
    experiment, run = designed(engine)
    with Session(engine) as session:
        view = read_factorial(session, experiment, TableQuery())
        assert isinstance(view, FactorialView)
        table = view.tables[0]
        rows = {row.name: row for row in table.rows}
        for knob, cost in COSTS.items():
            assert rows[knob].value == pytest.approx(cost, abs=1e-3)
        assert rows["all together"].value == pytest.approx(430.0, abs=1e-3)
        assert rows["left unexplained"].value == pytest.approx(0.0, abs=1e-3)
        assert rows["pti"].percent == pytest.approx(100 * 400 / 1015, rel=1e-3)
        assert (table.boots, table.planned) == (16, 16)
        written = KIND.write(session, experiment, TableQuery(), "text")
        assert "pti: pti/off to pti/on" in written
        assert "All cases, in percent of none" in written
        csv = KIND.write(session, experiment, TableQuery(case=table.case_id), "csv").splitlines()
        assert len(csv) == 1 + len(table.rows) * sum(
            each.case_id == table.case_id for each in view.tables
        )
        assert csv[0].startswith("comparison,host,emulated,case,metric")
        with pytest.raises(NotFound, match="host nowhere"):
            read_factorial(session, experiment, TableQuery(host="nowhere"))
        shown = show_experiment(session, experiment)
        assert [of.factorial for of in shown.comparisons] == [True]
        assert not crosses(shown.comparisons)
    judge_again(engine, experiment)
    judged = verdict_service.judge(verdict_service.load(engine, run))
    assert not judged.all_decided
    with Session(engine) as session:
        head = show_experiment(session, experiment)
        assert "3 knobs turned together" in head.headline
        listed = session.execute(text("select verdicts from run")).scalar_one()
        assert not listed


def test_what_an_emulator_does_not_count_makes_a_cost_a_lower_bound(engine: Engine) -> None:
    experiment, _ = designed(engine)
    knobs = [("pti", "pti"), ("bhi", "its"), ("mds", "mds")]
    plan = {
        "knobs": [{"name": n, "low": f"{f}/off", "high": f"{f}/on"} for n, f in knobs],
        "pairs": [],
    }

    def bounds(emulated: bool) -> dict[str, str]:
        with engine.begin() as connection:
            connection.execute(text("update host set emulated = :e"), {"e": emulated})
            connection.execute(
                text("update comparison set factorial = :plan"), {"plan": json.dumps(plan)}
            )
        with Session(engine) as session:
            table = read_factorial(session, experiment, TableQuery()).tables[0]
            return {row.name: row.bound.value for row in table.rows}

    assert set(bounds(emulated=False).values()) == {"exact"}
    # Thunks are instructions, and counted; a write of CR3 and a VERW are more than that.
    assert bounds(emulated=True) == {
        "pti": "at_least", "bhi": "exact", "mds": "at_least",
        "all together": "at_least", "left unexplained": "nothing",
    }  # fmt: skip
    with Session(engine) as session:
        written = KIND.write(session, experiment, TableQuery(), "text")
    assert "at least 400 ns [" in " ".join(written.split())
    assert "≥ +38.8%" in written
    assert "hardware are not counted here: pti, mds, all together, left unexplained carry" in (
        " ".join(written.split())
    )


def test_an_experiment_without_one_says_how_to_have_one(engine: Engine) -> None:
    filled = fill(engine, Size(cases=1, arms=2, blocks=2, iterations=1))
    with Session(engine) as session:
        assert "factorial: {knobs" in KIND.write(
            session, filled.experiment, TableQuery(), "text"
        ).replace("\n", " ")
