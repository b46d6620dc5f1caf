"""Prices of a lab host itself: an instruction takes 2 ns there, and nothing else takes anything."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sqlalchemy import Engine, text

from mitigauge.analysis.prices.definitions import INSTRUCTION, Processor
from mitigauge.analysis.prices.estimation import estimate
from mitigauge.analysis.prices.levels import changes
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.pages.prices import levels_of
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


def test_the_commands_make_a_file_that_the_catalogue_takes(
    engine: Engine, command: Command
) -> None:
    experiment = counted(engine)
    number = str(experiment)
    written = command.run("price", "estimate", number, number, "--name", "lab-itself").stdout
    processor = Processor.model_validate(yaml.safe_load(written))
    [price] = processor.prices
    assert price.low <= 2.0 <= price.high


def test_experiments_that_share_nothing_are_refused(engine: Engine) -> None:
    made = make(engine)
    with (
        transaction(engine) as session,
        pytest.raises(InvalidInput, match="in two arms that experiment"),
    ):
        levels_of(session, made.experiment, made.experiment)
