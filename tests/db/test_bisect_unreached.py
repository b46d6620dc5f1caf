"""Candidates of which the case runs nothing weigh less; none is lost by that."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.core.settings import get_settings
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import repository
from mitigauge.tracking.bisect.states import AnswerKind
from mitigauge.tracking.bisect.tables import Bisection, BisectionStep
from mitigauge.tracking.bisect.weights import UNREACHED
from pipelines.bisect_run import Driver, Ticked
from pipelines.kernel_order import Order
from tests.bisections import Pretended, begun, eight, run_open_experiments
from tests.db.test_bisections import MOST_TICKS, slow_from
from tests.unit.exact.ledgers import function, ledger


class Noting(Pretended):
    """Patch k changes the function `fk` of the kernel, and no other."""

    def build(self, order: Order, *, anew: bool = False) -> int:
        kernel = super().build(order, anew=anew)
        lines = [f"9 {number <= len(order.patches):016x} f{number}\n" for number in range(1, 9)]
        lines.append(f"data 4 {0:016x} limit\n")
        lines.append(f"targets 1 {0:016x} entry\n")
        lines.append(f"boot 9 {0:016x} start_kernel\n")
        with self.transaction() as session:
            sha256 = self.blobs.put("".join(lines).encode())
            session.get_one(Kernel, kernel).functions_sha256 = sha256
        return kernel


def counted(engine: Engine, experiments: list[int], runs: str) -> None:
    """Count the case of these steps' boots: it runs one function."""
    with Session(engine) as session:
        steps = select(BisectionStep).where(BisectionStep.experiment_id.in_(experiments))
        for step in session.scalars(steps):
            boots = (
                select(Boot)
                .join(Run)
                .where(Run.experiment_id == step.experiment_id, Boot.state == BootState.EFFECTIVE)
            )
            for boot in session.scalars(boots):
                of = session.scalars(select(Kernel).where(Kernel.release == boot.arm.kernel)).one()
                boot.proof = BootProof(kernel_release=of.release, build_id=of.build_id)
                made = CountedPass(ledger(function(runs, {"push": 1})))
                store_counts(session, boot.id, step.case_id, made)
        session.commit()


def taken_on(driver: Driver, culprit: int, runs: str) -> Bisection:
    engine, slow = driver.builder.engine, slow_from(culprit)
    number = begun(engine, driver.builder.blobs, eight())

    def level(point: int, block: int) -> float | None:
        with Session(engine) as session:
            without = repository.whole(session, number).points[-1].without
        return slow(8 if point == 9 and without != culprit else point, block)

    for _ in range(MOST_TICKS):
        did = driver.tick(number)
        if did is Ticked.OVER:
            break
        if did is Ticked.WAITING:
            counted(engine, run_open_experiments(engine, level), runs)
    with Session(engine) as session:
        found = repository.whole(session, number)
        session.expunge_all()
        return found


@pytest.fixture
def driver(engine: Engine, tmp_path: Path) -> Driver:
    return Driver(Noting(tmp_path, engine, blob_store(get_settings())))


def test_what_the_case_does_not_run_weighs_less_and_it_is_said(driver: Driver) -> None:
    found = taken_on(driver, 3, "f3")
    assert found.candidates[2].prior == 1.0
    less = [each for each in found.candidates if each.prior == UNREACHED]
    assert less
    assert all("the case runs none of the functions that it changes" in c.prior_why for c in less)
    assert all("(counted on 7.2.12" in each.prior_why for each in less)
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [3])


def test_one_that_acts_by_its_data_is_found_all_the_same(driver: Driver) -> None:
    found = taken_on(driver, 6, "f3")
    assert found.candidates[5].prior == UNREACHED
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (AnswerKind.FOUND, [6])
