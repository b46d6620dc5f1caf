"""A bisection on two hosts at once, which may not agree on what boots, and one without order."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from mitigauge.core.settings import get_settings
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.states import AnswerKind, BisectionState
from pipelines.bisect_run import Driver
from tests.bisections import Level, Pretended, begun, eight
from tests.db.test_bisections import slow_from, taken_on

BOTH = Question(("lab-intel", "lab-amd"), "syscall", {"test": "basic"})


@pytest.fixture
def driver(engine: Engine, tmp_path: Path) -> Driver:
    return Driver(Pretended(tmp_path, engine, blob_store(get_settings())))


def begun_on_both(engine: Engine) -> int:
    return begun(engine, blob_store(get_settings()), eight(), BOTH)


def slower(level: Level, times: float) -> Level:
    """The same on a host that takes so many times as long for everything."""

    def on_it(point: int, block: int) -> float | None:
        value = level(point, block)
        return None if value is None else value * times

    return on_it


def test_each_step_is_spread_over_the_hosts_whose_levels_are_their_own(
    engine: Engine, driver: Driver
) -> None:
    number = begun_on_both(engine)
    found = taken_on(
        driver, number, slow_from(5), on={"lab-amd": slower(slow_from(5, seed=2), 3.0)}
    )
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [5])
    assert found.answer.effect_percent == pytest.approx(30, abs=2)
    for step in found.steps:
        assert {value.host for value in step.observed} == {"lab-intel", "lab-amd"}
        # Blocks are each host's: what a step asks for is shared between them.
        assert len(step.observed) == 2 * step.blocks * len(step.points) == step.boots
    with Session(engine) as session:
        ids = [step.experiment_id for step in found.steps]
        runs = list(session.scalars(select(Run.experiment_id).where(Run.experiment_id.in_(ids))))
    assert sorted(runs) == sorted([*ids, *ids])
    assert found.boots <= found.budget_boots


@pytest.mark.parametrize("dead", [4, 5])
def test_a_candidate_that_boots_on_one_host_alone_is_judged_there_and_said(
    dead: int, engine: Engine, driver: Driver
) -> None:
    number = begun_on_both(engine)
    found = taken_on(
        driver, number, slow_from(5), on={"lab-amd": slower(slow_from(5, dead, seed=2), 3.0)}
    )
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [5])
    assert not [point for point in found.points if point.skipped]
    measured = [step for step in found.steps if dead in step.points]
    for step in measured:
        assert {value.host for value in step.observed if value.point == dead} == {"lab-intel"}
        assert f"point {dead} on lab-amd: does not boot" in step.outcome
    assert measured


def test_an_end_that_boots_on_one_host_alone_is_no_reason_to_refuse(
    engine: Engine, driver: Driver
) -> None:
    number = begun_on_both(engine)
    found = taken_on(
        driver, number, slow_from(5), on={"lab-amd": slower(slow_from(5, 8, seed=2), 3.0)}
    )
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [5])


def test_a_host_that_never_gives_a_value_leaves_the_others_to_answer(
    engine: Engine, driver: Driver
) -> None:
    number = begun_on_both(engine)
    nothing: Level = lambda _point, _block: None  # noqa: E731
    found = taken_on(driver, number, slow_from(5), on={"lab-amd": nothing})
    assert found.state == BisectionState.FINISHED
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [5])


def test_a_change_that_comes_and_goes_names_both_sides(engine: Engine, driver: Driver) -> None:
    number = begun_on_both(engine)
    slow = slow_from(3)

    def level(point: int, block: int) -> float | None:
        value = slow(point, block)
        assert value is not None
        return value / 1.2 if 6 <= point <= 8 else value

    found = taken_on(driver, number, level)
    assert found.answer is not None
    assert found.answer.kind == AnswerKind.SEVERAL
    assert set(found.answer.candidates) >= {3, 6}
    assert "comes and goes" in found.answer.why


def test_reversed_ends_are_refused_with_the_way_out(engine: Engine, driver: Driver) -> None:
    number = begun_on_both(engine)
    slow = slow_from(3)
    faster: Level = lambda point, block: 1e6 / (slow(point, block) or 1.0)  # noqa: E731
    found = taken_on(driver, number, faster)
    assert found.answer is not None
    assert found.answer.kind == AnswerKind.REFUSED
    assert "better than the first" in found.answer.why
    assert "Swap the ends" in found.answer.what_it_takes


def test_equal_ends_are_refused_or_none_of_these(engine: Engine, driver: Driver) -> None:
    found = taken_on(driver, begun_on_both(engine), slow_from(9))
    assert found.answer is not None
    assert found.answer.kind in {AnswerKind.REFUSED, AnswerKind.NONE_OF_THESE}
    assert found.answer.why
