"""Prices of a lab host itself: an instruction takes 2 ns there, and nothing else takes anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from sqlalchemy import Engine, text

from mitigauge.analysis.prices.definitions import INSTRUCTION, Processor
from mitigauge.analysis.prices.estimation import estimate
from mitigauge.analysis.prices.levels import Checked, changes, checked
from mitigauge.analysis.prices.repository import held_by_processor, put
from mitigauge.analysis.prices.schemas import CheckedOn
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.pages import price_checks as page
from mitigauge.reporting.pages.prices import checked_on, levels_of
from mitigauge.storage.database.engine import transaction
from tests.commands import Command
from tests.made import make
from tests.unit.exact.ledgers import function, ledger

ARMS = {"off": 300, "on": 337}


@pytest.fixture
def command(tmp_path: Path, database_url: str) -> Command:
    return Command(tmp_path, database_url)


def counted(engine: Engine) -> int:
    """An experiment whose boots were counted, and took 2 ns an instruction."""
    made = make(engine)
    with transaction(engine) as session:
        unit = """update benchmark_case set metrics = jsonb_set(metrics, '{time,unit}', '"ns"')"""
        session.execute(text(unit))
        arms = session.scalars(text("select id from arm order by position")).all()
        boots = session.execute(text("select id, arm_id, block from boot order by id")).all()
        cases = session.scalars(text("select id from benchmark_case order by id")).all()
        for boot, arm, block in boots:
            for place, case in enumerate(cases):
                instructions = list(ARMS.values())[arms.index(arm)] * (1 + place)
                code = {f"movq ${n}, %rax": 1 for n in range(instructions)}
                store_counts(session, boot, case, CountedPass(ledger(function("do_it", code))))
                ns = text("update measurement set mean = :ns where boot_id = :b and case_id = :c")
                value = 2.0 * instructions + 0.01 * block
                session.execute(ns, {"ns": value, "b": boot, "c": case})
    return made.experiment


def test_a_lab_host_s_price_of_an_instruction_is_two_ns(engine: Engine) -> None:
    experiment = counted(engine)
    with transaction(engine) as session:
        cases = levels_of(session, experiment, experiment)
    assert [len(case.arms) for case in cases] == [2, 2]
    assert [arm.events[INSTRUCTION] for arm in cases[0].arms] == [300.0, 337.0]
    found = estimate(changes(cases))
    assert list(found.events) == [INSTRUCTION]
    assert found.ns[0] == pytest.approx(2.0, rel=1e-3)


def test_the_commands_make_a_file_that_the_catalogue_takes_and_check_it(
    engine: Engine, command: Command
) -> None:
    experiment = counted(engine)
    number = str(experiment)
    written = command.run("price", "estimate", number, number, "--name", "lab-itself").stdout
    processor = Processor.model_validate(yaml.safe_load(written))
    [price] = processor.prices
    assert price.low <= 2.0 <= price.high
    with transaction(engine) as session:
        rows = checked(levels_of(session, experiment, experiment), processor)
    assert all(row.holds and row.sign for row in rows)
    told = command.run("price", "check", number, number, "--processor", "xeon-8280").stdout
    assert "0 of 2 predictions hold" in told
    assert "2 of 2 signs are right" in told
    assert "Stored: the page of prices (/fleet?tab=prices) shows it" in told
    with transaction(engine) as session:
        [check] = page.prices(session).checks
    assert (check.processor, check.measured.id, check.counted.id) == (
        "xeon-8280", experiment, experiment,
    )  # fmt: skip
    assert (check.held, check.checked, check.signs_right, check.signs) == (0, 2, 2, 2)


def stored_check(
    engine: Engine, measured: int, counted: int, *, held: int, of: int = 3, emulated: bool = False
) -> int:
    """A check of *of* rows of which the first ones hold; its id."""
    rows = [
        Checked("basic", "on", (10.0, 9.0, 11.0), (10.0 if n < held else 90.0,) * 3, ["ibpb"] * n)
        for n in range(of)
    ]
    host = CheckedOn("p", measured, counted, "spr-01", emulated, Clock.REAL)
    with transaction(engine) as session:
        return put(session, host, rows)


def test_a_second_check_replaces_the_first_and_others_stay(engine: Engine) -> None:
    one, other = make(engine).experiment, make(engine).experiment
    first = stored_check(engine, one, other, held=3)
    second = stored_check(engine, other, one, held=0)
    assert stored_check(engine, one, other, held=1, of=4) == first
    with transaction(engine) as session:
        found = page.prices(session).checks
        assert [(each.id, each.held, each.checked) for each in found] == [
            (first, 1, 4), (second, 0, 3),
        ]  # fmt: skip
        shown = page.check_rows(session, first)
    assert (shown.check.whole_held, shown.check.whole, shown.check.signs) == (1, 1, 4)
    assert [row.holds for row in shown.rows] == [True, False, False, False]
    assert shown.rows[2].missing == ["ibpb", "ibpb"]
    assert shown.left_out == 0
    # No file in prices/processors/ has it.
    assert shown.check.title == "p"


def test_only_checks_on_real_hosts_say_how_often_predictions_held(engine: Engine) -> None:
    one, other = make(engine).experiment, make(engine).experiment
    with transaction(engine) as session:
        assert held_by_processor(session) == {}
    stored_check(engine, one, other, held=3)
    stored_check(engine, other, one, held=1)
    stored_check(engine, one, one, held=2, emulated=True)
    with transaction(engine) as session:
        assert held_by_processor(session) == {"p": (4, 6)}


def test_a_check_goes_with_either_of_its_experiments(engine: Engine) -> None:
    one, other, kept = (make(engine).experiment for _ in range(3))
    # Nothing else of theirs stands in the way.
    bare = "insert into experiment select (jsonb_populate_record(e, :new)).* from experiment e"
    with engine.begin() as connection:
        for number in (901, 902):
            new = json.dumps({"id": number, "name": f"bare-{number}"})
            connection.execute(
                text(f"{bare} where id = :id".replace(":new", "cast(:new as jsonb)")),
                {"new": new, "id": kept},
            )
    stored_check(engine, 901, one, held=1)
    stored_check(engine, other, 902, held=1)
    stays = stored_check(engine, one, other, held=1)
    with engine.begin() as connection:
        connection.execute(text("delete from experiment where id in (901, 902)"))
    with transaction(engine) as session:
        assert [check.id for check in page.prices(session).checks] == [stays]


def test_a_list_of_checks_ends_and_says_how_many_more_there_are(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST_CHECKS", 2)
    numbers = [make(engine).experiment for _ in range(3)]
    for number in numbers:
        stored_check(engine, number, number, held=1)
    with transaction(engine) as session:
        found = page.prices(session)
    assert [check.measured.id for check in found.checks] == numbers[:0:-1]
    assert found.more == 1


def test_a_host_that_an_experiment_did_not_run_on_is_refused(engine: Engine) -> None:
    made = make(engine)
    with transaction(engine) as session:
        of = checked_on(session, "p", made.experiment, made.experiment)
        assert of.host
        with pytest.raises(InvalidInput, match="has no run on elsewhere"):
            checked_on(session, "p", made.experiment, made.experiment, host="elsewhere")


def test_experiments_that_share_nothing_are_refused(engine: Engine) -> None:
    made = make(engine)
    with (
        transaction(engine) as session,
        pytest.raises(InvalidInput, match="in two arms that experiment"),
    ):
        levels_of(session, made.experiment, made.experiment)
