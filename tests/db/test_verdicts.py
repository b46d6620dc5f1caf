"""Verdicts as rows: figures so far are replaced, what was given stays."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import Engine, text

from mitigauge.analysis.verdicts import cells, repository
from mitigauge.analysis.verdicts import service as verdict_service
from mitigauge.analysis.verdicts.conclusions import (
    END_OF_RUN,
    conclude_closed,
    conclude_run,
    judge_again,
)
from mitigauge.core.stats.terms import RULES
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.pages.schemas import CellView
from mitigauge.storage.database.engine import transaction
from tests.made import make

EFFECT = "where arm_id = (select max(id) from arm) and superseded_at is null"


def rows(engine: Engine, where: str = "") -> list[Any]:
    with engine.connect() as connection:
        return list(
            connection.execute(
                text(f"select * from verdict {where} order by case_id, arm_id, version")
            )
        )


def change(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


def shown(engine: Engine, experiment: int) -> CellView:
    with transaction(engine) as session:
        return show_experiment(session, experiment).comparisons[0].rows[0].cells[-1]


def test_a_run_that_is_over_gets_its_verdicts_and_the_experiment_its_headline(
    engine: Engine,
) -> None:
    made = make(engine)
    conclude_closed(engine)
    assert len(rows(engine)) == made.cases * made.arms
    cell = shown(engine, made.experiment)
    assert (cell.verdict, cell.version, cell.reason) == ("worse", 1, END_OF_RUN)
    assert cell.effect_percent == pytest.approx(10.0, abs=1.0)
    with transaction(engine) as session:
        assert "+1" in show_experiment(session, made.experiment).headline
        worst = session.get_one(Experiment, made.experiment).worst_effect_percent
    assert worst == pytest.approx(10.0, abs=1.0)
    stored = rows(engine, EFFECT)
    assert all(len(row.boots) == row.n for row in stored)


def test_a_run_keeps_which_verdicts_its_primary_metrics_have(engine: Engine) -> None:
    made = make(engine)
    conclude_closed(engine)
    assert kept(engine, made.run) == sorted({row.verdict for row in rows(engine) if row.verdict})
    assert "worse" in kept(engine, made.run)
    change(engine, f"update arm set is_aa = true where id = {rows(engine, EFFECT)[0].arm_id}")
    change(engine, "update boot set state = 'invalid' where block = 2")
    judge_again(engine, made.experiment)
    assert "worse" not in kept(engine, made.run)


def test_an_effect_that_is_no_longer_proven_is_not_the_worst(engine: Engine) -> None:
    made = make(engine)
    conclude_closed(engine)
    change(engine, "update boot set state = 'invalid' where block > 1")
    judge_again(engine, made.experiment)
    with transaction(engine) as session:
        assert session.get_one(Experiment, made.experiment).worst_effect_percent is None


def kept(engine: Engine, run: int) -> list[str]:
    with transaction(engine) as session:
        return [str(verdict) for verdict in session.get_one(Run, run).verdicts]


def test_concluding_again_writes_nothing(engine: Engine) -> None:
    made = make(engine)
    conclude_closed(engine)
    before = rows(engine)
    conclude_closed(engine)
    conclude_run(engine, made.run)
    assert judge_again(engine, made.experiment) == []
    assert rows(engine) == before


def test_figures_so_far_are_replaced_and_count_as_no_version(engine: Engine) -> None:
    made = make(engine, state="running")
    judgement = verdict_service.judge(verdict_service.load(engine, made.run))
    for blocks in (1, 2):
        change(engine, f"update measurement set mean = mean * {1 + blocks / 100}")
        judgement = verdict_service.judge(verdict_service.load(engine, made.run))
        undecided = [c for c in judgement.cells if not c.is_decided]
        with transaction(engine) as session:
            run = session.get_one(Run, made.run)
            repository.store_cells(session, run.id, undecided, ended=False, reason=str(blocks))
    stored = rows(engine)
    assert {row.version for row in stored} == {1}
    assert {row.given_at for row in stored} == {None}
    assert {row.reason for row in stored} == {"2"}


def test_a_boot_that_is_invalid_later_gives_a_second_version_and_the_first_is_shown(
    engine: Engine,
) -> None:
    made = make(engine)
    conclude_closed(engine)
    first = shown(engine, made.experiment)
    before = rows(engine, EFFECT)[0]
    change(engine, "update boot set state = 'invalid', reason = 'it throttled' where block = 2")
    assert judge_again(engine, made.experiment) == [made.run]
    second = shown(engine, made.experiment)
    assert second.version == 2
    [after] = [row for row in rows(engine, EFFECT) if row.case_id == before.case_id]
    assert set(before.boots) - set(after.boots) == {before.boots[1]}
    [earlier] = second.earlier
    assert (earlier.version, earlier.verdict) == (1, "worse")
    assert earlier.effect_percent == first.effect_percent
    assert (earlier.reason, second.reason) == (END_OF_RUN, "judged again")


def test_an_earlier_verdict_of_at_least_so_much_stays_one(engine: Engine) -> None:
    made = make(engine)
    conclude_closed(engine)
    change(engine, f"update verdict set bound = 'at_least' {EFFECT}")
    change(engine, "update boot set state = 'invalid', reason = 'it throttled' where block = 2")
    judge_again(engine, made.experiment)
    [earlier] = shown(engine, made.experiment).earlier
    assert earlier.bound == "at_least"


def test_other_rules_give_a_next_version_only_where_they_say_otherwise(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(engine)
    conclude_closed(engine)
    monkeypatch.setattr(repository, "RULES", RULES + 1)
    change(engine, f"update verdict set effect_percent = 3 {EFFECT}")
    judge_again(engine, made.experiment)
    versions = [row.version for row in rows(engine)]
    assert versions.count(2) == made.cases
    assert shown(engine, made.experiment).reason == f"rules {RULES + 1} instead of {RULES}"


def test_two_that_judge_at_once_write_one_version(engine: Engine) -> None:
    made = make(engine)
    both = [threading.Thread(target=conclude_run, args=(engine, made.run)) for _ in range(4)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    stored = rows(engine)
    assert len(stored) == made.cases * made.arms
    assert {row.version for row in stored} == {1}
    with transaction(engine) as session:
        assert session.get_one(Run, made.run).verdict_changes == 1


def test_sums_in_another_order_are_no_other_verdict(engine: Engine) -> None:
    made = make(engine)
    conclude_closed(engine)
    change(engine, "update verdict set effect_percent = effect_percent * (1 + 1e-12)")
    assert judge_again(engine, made.experiment) == []


def test_nothing_is_judged_on_a_read(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(engine)

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("judged on a read")

    monkeypatch.setattr("mitigauge.analysis.verdicts.service.judge_run", fail)
    monkeypatch.setattr("mitigauge.core.stats.verdicts.judge_many", fail)
    cell = shown(engine, made.experiment)
    assert (cell.state, cell.note) == ("no_data", cells.NOT_MEASURED)
