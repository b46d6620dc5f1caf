"""Candidates that touch what the ends' profiles differ in weigh more; none is lost by that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.store.service import store_boot_profile
from mitigauge.core.settings import get_settings
from mitigauge.kernels import renames
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import bisection_view, repository
from mitigauge.tracking.bisect.question import point_of
from mitigauge.tracking.bisect.states import AnswerKind
from mitigauge.tracking.bisect.tables import Bisection, BisectionStep
from pipelines.bisect_run import Driver, Ticked
from tests.bisections import BREAKS, Pretended, begun, eight, run_open_experiments
from tests.db.test_bisections import MOST_TICKS, slow_from

Stacks = Mapping[bytes, int]
FIRST: Stacks = {b"bench;entry_[k];work_[k]": 900, b"bench;entry_[k]": 100}
# 250 more in `entry`, 50 more in `exit`, none in `work`.
LAST: Stacks = {b"bench;entry_[k];work_[k]": 900, b"bench;entry_[k]": 350, b"bench;exit_[k]": 50}


@pytest.fixture
def driver(engine: Engine, tmp_path: Path) -> Driver:
    return Driver(Pretended(tmp_path, engine, blob_store(get_settings())))


def touching(engine: Engine, *, breaks: str = "", **functions: list[str]) -> int:
    """A bisection over eight patches; ``p3=["entry"]`` says what the third one touches."""
    special = {breaks: BREAKS} if breaks else {}
    number = begun(engine, blob_store(get_settings()), eight(**special))
    with Session(engine) as session:
        for candidate in repository.whole(session, number).candidates:
            candidate.functions = functions.get(f"p{candidate.position}", [])
        session.commit()
    return number


def profiled(engine: Engine, experiments: list[int], last: Stacks = LAST) -> None:
    """Give boots of profiled steps a profile: all but the first end have *last*'s costs."""
    with Session(engine) as session:
        wanted = select(BisectionStep).where(
            BisectionStep.experiment_id.in_(experiments), BisectionStep.profiled
        )
        for step in session.scalars(wanted):
            runs = select(Run.id).where(Run.experiment_id == step.experiment_id)
            for boot in session.scalars(select(Boot).where(Boot.run_id.in_(runs))):
                point = point_of(session.get_one(Arm, boot.arm_id).name)
                stacks = {s: n + boot.block % 3 for s, n in (last if point else FIRST).items()}
                store_boot_profile(
                    session, boot_id=boot.id, case_id=step.case_id, workload="syscall",
                    stacks=stacks,
                    of=Pass("cpu-clock", "0" * 64, samples=10, operations=10.0),
                )  # fmt: skip
        session.commit()


def taken_out(engine: Engine, number: int) -> int | None:
    """The candidate that the last end is measured without."""
    with Session(engine) as session:
        return repository.whole(session, number).points[-1].without


def taken_on(driver: Driver, number: int, culprit: int, last: Stacks = LAST) -> Bisection:
    engine, slow = driver.builder.engine, slow_from(culprit)

    def level(point: int, block: int) -> float | None:
        """Taking out another change than the culprit leaves the last end as it is."""
        is_kept = point == 9 and taken_out(engine, number) != culprit
        return slow(8 if is_kept else point, block)

    for _ in range(MOST_TICKS):
        did = driver.tick(number)
        if did is Ticked.OVER:
            break
        if did is Ticked.WAITING:
            profiled(engine, run_open_experiments(engine, level), last)
    with Session(engine) as session:
        found = repository.whole(session, number)
        session.expunge_all()
        return found


def test_who_touches_what_the_profiles_differ_in_weighs_more_and_it_is_said(
    engine: Engine, driver: Driver
) -> None:
    number = touching(engine, p3=["entry"], p5=["exit", "other"], p6=["work"])
    found = taken_on(driver, number, 3)
    assert found.end_shares == pytest.approx({"entry": 0.83, "exit": 0.17}, abs=0.01)
    weights = {each.position: each.prior for each in found.candidates}
    assert weights[3] == pytest.approx(17.7, abs=0.2)
    assert weights[5] == pytest.approx(4.3, abs=0.2)
    assert {weights[at] for at in (1, 2, 4, 6, 7, 8)} == {1.0}
    with Session(engine) as session:
        remarks = {
            each.position: each.prior_why for each in bisection_view.show(session, number).changes
        }
    assert remarks[3].startswith("weighs 17.6 times as much: it touches entry, 83% of")
    assert remarks[6] == ""
    assert found.steps[0].profiled
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [3])


@pytest.mark.parametrize("culprit", [1, 2, 8])
def test_a_weight_on_a_wrong_candidate_costs_boots_and_not_the_answer(
    culprit: int, engine: Engine, driver: Driver
) -> None:
    found = taken_on(driver, touching(engine, p5=["entry", "exit"]), culprit)
    assert found.candidates[4].prior == pytest.approx(21)
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [culprit])


def test_profiles_that_do_not_differ_weigh_nothing(engine: Engine, driver: Driver) -> None:
    found = taken_on(driver, touching(engine, p5=["entry"]), 2, FIRST)
    assert found.end_shares == {}
    assert {each.prior for each in found.candidates} == {1.0}


def test_ends_without_profiles_weigh_nothing(
    engine: Engine, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.db.test_bisect_weights.profiled", lambda *_: None)
    found = taken_on(driver, touching(engine, p5=["entry"]), 2)
    assert found.end_shares == {}
    assert found.answer is not None
    assert found.answer.candidates == [2]


def test_where_no_patch_names_a_function_the_ends_are_not_profiled(
    engine: Engine, driver: Driver
) -> None:
    found = taken_on(driver, touching(engine), 2)
    assert not found.steps[0].profiled
    assert found.end_shares is None


def test_a_binary_that_stayed_weighs_nothing_whatever_it_touches(
    engine: Engine, driver: Driver
) -> None:
    number = touching(engine, p3=["entry"], p5=["entry"])
    with Session(engine) as session:
        repository.whole(session, number).candidates[4].prior = 0.0
        session.commit()
    found = taken_on(driver, number, 3)
    assert found.candidates[2].prior > 10
    assert found.candidates[4].prior == 0


def test_a_function_that_was_renamed_counts_under_both_names(
    engine: Engine, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = {b"bench;enter_[k];work_[k]": 900, b"bench;enter_[k]": 350}
    monkeypatch.setattr(renames, "between", lambda *_: {"entry": "enter"})
    found = taken_on(driver, touching(engine, p3=["entry"], p4=["enter"]), 3, last)
    assert found.end_shares is not None
    assert found.end_shares.keys() == {"enter", "entry"}
    assert (found.candidates[2].prior, found.candidates[3].prior) == (21, 21)
