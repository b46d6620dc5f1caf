"""Any arm in the baseline's place: the same boots judged anew, and said to be chosen afterwards."""

from __future__ import annotations

import csv
import io
import json

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from bench.store.fill import Size, fill
from mitigauge.analysis.verdicts.conclusions import conclude_closed, judge_again
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.bounds import Bound
from mitigauge.reporting.pages.experiments import show_experiment, show_rebased
from mitigauge.reporting.pages.schemas import CellView, ExperimentView
from mitigauge.reporting.tables.kind import TableQuery
from mitigauge.reporting.tables.matrix_table import KIND

# How long each arm takes beside the first.
TIMES = {"off": 1.0, "ibpb": 1.2, "bhb-clear": 1.05}
EVENTS = {"off": [], "ibpb": ["IBPB"], "bhb-clear": []}


@pytest.fixture
def experiment(engine: Engine) -> int:
    """Two cases over 8 blocks: boots scatter by 0.2 %, blocks by 1 %."""
    filled = fill(engine, Size(cases=2, arms=3, blocks=8, iterations=3))
    with engine.begin() as connection:
        arms = connection.execute(text("select id from arm order by position")).scalars().all()
        for (name, times), arm in zip(TIMES.items(), arms, strict=True):
            connection.execute(
                text("update arm set name = :n, mode = :n, family = 'vmscape', events = :e "
                     "where id = :i"),
                {"n": name, "i": arm, "e": json.dumps(EVENTS[name])},
            )  # fmt: skip
            connection.execute(
                text("""
                    update measurement m set mean = 100.0 * :t * (1 + b.block / 800.0)
                        * (1 + ((m.boot_id * 7 + m.case_id) % 5 - 2) / 1000.0)
                    from boot b where b.id = m.boot_id and b.arm_id = :i
                """),
                {"t": times, "i": arm},
            )
        connection.execute(text("update run set state = 'finished'"))
    return filled.experiment


def cell(view: ExperimentView, arm: str, case: int = 0) -> CellView:
    [comparison] = view.comparisons
    [arm_id] = [a.id for a in comparison.arms if a.name == arm]
    row = [row for row in comparison.rows if row.primary][case]
    [found] = [c for c in row.cells if c.arm_id == arm_id]
    return found


def test_two_arms_of_the_same_boots_are_compared_though_neither_is_the_baseline(
    engine: Engine, experiment: int
) -> None:
    conclude_closed(engine)
    with Session(engine) as session:
        view = show_rebased(session, experiment, "ibpb")
        back = show_rebased(session, experiment, "bhb-clear")
    assert [a.name for a in view.comparisons[0].arms if a.is_baseline] == ["ibpb"]
    assert view.chosen_baseline == "ibpb"
    assert cell(view, "ibpb").state is CellState.BASELINE
    for case in (0, 1):
        bhb, off = cell(view, "bhb-clear", case), cell(view, "off", case)
        assert bhb.effect_percent == pytest.approx((1.05 / 1.2 - 1) * 100, abs=0.3)
        assert off.effect_percent == pytest.approx((1 / 1.2 - 1) * 100, abs=0.3)
        assert (bhb.verdict, bhb.n, bhb.blocks) == (Verdict.BETTER, 8, 8)
        assert bhb.q is not None
        assert bhb.q < 1e-6
        assert bhb.decided_after is None
        assert cell(back, "ibpb", case).verdict is Verdict.WORSE


def test_the_specs_own_baseline_stays_as_it_was_judged(engine: Engine, experiment: int) -> None:
    conclude_closed(engine)
    with Session(engine) as session:
        planned = show_experiment(session, experiment)
        chosen = show_rebased(session, experiment, "off")
    assert chosen == planned
    assert cell(planned, "ibpb").effect_percent == pytest.approx(20, abs=0.4)


def test_before_the_run_is_over_nothing_is_said(engine: Engine, experiment: int) -> None:
    with Session(engine) as session:
        view = show_rebased(session, experiment, "ibpb")
        written = KIND.write(session, experiment, TableQuery(baseline="ibpb"), "text")
    assert {c.state for row in view.comparisons[0].rows for c in row.cells} == {CellState.NO_DATA}
    assert "Nothing is told against ibpb. It is told once a run is over" in " ".join(
        written.split()
    )


def test_an_arm_that_is_not_there_is_named_with_those_that_are(
    engine: Engine, experiment: int
) -> None:
    with Session(engine) as session, pytest.raises(InvalidInput, match="no arm 'ibbp'") as refused:
        show_rebased(session, experiment, "ibbp")
    assert refused.value.hint == "Its arms are off, ibpb, bhb-clear."


def test_where_barriers_are_free_the_other_mode_is_cheaper_by_at_most_so_much(
    engine: Engine, experiment: int
) -> None:
    """An emulated host does not count what IBPB costs: that BHB clearing is cheaper is no less."""
    with engine.begin() as connection:
        connection.execute(text("update host set emulated = true"))
    conclude_closed(engine)
    with Session(engine) as session:
        view = show_rebased(session, experiment, "ibpb")
        back = show_rebased(session, experiment, "bhb-clear")
    assert cell(view, "bhb-clear").bound is Bound.AT_MOST
    assert cell(view, "bhb-clear").verdict is Verdict.BETTER
    assert cell(back, "ibpb").bound is Bound.AT_LEAST
    assert cell(back, "off").bound is Bound.EXACT


def test_the_table_says_that_it_was_chosen_and_counts_the_cases(
    engine: Engine, experiment: int
) -> None:
    conclude_closed(engine)
    query = TableQuery(baseline="ibpb")
    with Session(engine) as session:
        words = " ".join(KIND.write(session, experiment, query, "text").split())
        rows = list(csv.DictReader(io.StringIO(KIND.write(session, experiment, query, "csv"))))
    assert "ibpb was chosen as the baseline afterwards" in words
    assert (
        "bhb-clear against ibpb: 2 better, 0 worse, 0 same, 0 undecided: 2 primary figures" in words
    )
    primary = [row for row in rows if row["primary"] == "yes" and row["arm"] == "bhb-clear"]
    assert [row["verdict"] for row in primary] == ["better", "better"]
    assert {row["arm"] for row in rows if row["baseline"] == "yes"} == {"ibpb"}


def test_to_judge_again_replaces_what_was_said(engine: Engine, experiment: int) -> None:
    conclude_closed(engine)
    with engine.begin() as connection:
        connection.execute(text("delete from rebased_cell"))
        count = connection.execute(text("select count(*) from verdict")).scalar()
    for _ in range(2):
        judge_again(engine, experiment)
    with Session(engine) as session:
        assert cell(show_rebased(session, experiment, "ibpb"), "bhb-clear").verdict == "better"
        rebased = session.scalar(text("select count(*) from rebased_cell"))
    # Of three arms each of two stands in the baseline's place.
    assert (rebased, count) == (2 * count, count)
