"""Suspicions whose kernels could be booted, and experiments that are only said to have run."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from bench.store.fill import METRIC, Size
from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.measurement.experiments.states import FINAL_STATES, ExperimentState
from mitigauge.measurement.experiments.tables import Arm, Case, Experiment
from mitigauge.measurement.results.tables import Measurement, Result
from mitigauge.measurement.runs.states import BootState, RunState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service
from mitigauge.tracking.trends.update import update
from tests.trends_made import FACTS, weeks

OLD, NEW = "7.2.0", "7.3.0"
FIGURE = "time_per_call"
SMALL = Size(cases=1, arms=2, blocks=4, iterations=1)
# What a boot of the made weeks takes, in ns.
LEVEL = 100.0


def suspicions(
    engine: Engine, *, kernel: str = NEW, host: str = "lab-intel",
    facts: Mapping[str, Any] = FACTS, clock: str = "counted",
) -> list[int]:  # fmt: skip
    """Regressions of a step of 5 % in both modes of a case of a real workload."""
    weeks(engine, [1.0] * 10, size=SMALL, kernel=OLD)
    weeks(engine, [1.05] * 8, first=10, size=SMALL, kernel=kernel, facts=facts)
    with engine.begin() as c:
        c.execute(
            text("update host set environment = 'lab', name = :n where name = 'host-1'"),
            {"n": host},
        )
        c.execute(text("update arm set family = 'spectre-bhi',"
                       " mode = case position when 0 then 'off' else 'loop' end"))  # fmt: skip
        c.execute(
            text(
                "update benchmark_case set workload = 'syscall', title = 'syscall basic',"
                " parameters = cast(:p as jsonb),"
                " metrics = jsonb_build_object(cast(:m as text), metrics -> :o)"
            ),
            {"m": FIGURE, "o": METRIC, "p": '{"test": "basic"}'},
        )
        for table in ("measurement", "verdict"):
            c.execute(text(f"update {table} set metric = :m where metric = :o"),
                      {"m": FIGURE, "o": METRIC})  # fmt: skip
    update(engine)
    with transaction(engine) as session:
        numbers = service.take_in(session)
        session.execute(text("update regression set clock = :c"), {"c": clock})
    return numbers


def run_experiments(
    engine: Engine, levels: Mapping[str, float | None], noise: float = 0.001
) -> int:
    """Say of every experiment that is not over that it ran; a level of None: it does not boot.

    Returns how many there were.
    """
    # Each arm draws from its own numbers: the order of boots is a random one.
    draws: dict[str, random.Random] = {}
    with Session(engine) as session:
        wanted = (
            select(Experiment).where(Experiment.state.not_in(FINAL_STATES)).order_by(Experiment.id)
        )
        found = list(session.scalars(wanted))
        for experiment in found:
            of = select(Run).where(Run.experiment_id == experiment.id).order_by(Run.id)
            for run in session.scalars(of):
                _run(session, run, levels, draws, noise)
            experiment.state = ExperimentState.FINISHED
            experiment.started_at = experiment.finished_at = experiment.created_at
        session.commit()
    conclude_closed(engine)
    return len(found)


def _run(
    session: Session, run: Run, levels: Mapping[str, float | None],
    draws: dict[str, random.Random], noise: float,
) -> None:  # fmt: skip
    [case] = session.scalars(select(Case).where(Case.comparison_id == run.comparison_id))
    for boot in session.scalars(select(Boot).where(Boot.run_id == run.id).order_by(Boot.id)):
        arm = session.get_one(Arm, boot.arm_id).name
        level = levels[arm]
        boot.started_at = boot.finished_at = run.experiment.created_at
        if level is None:
            boot.state, boot.reason = BootState.DID_NOT_BOOT, "no such kernel: linux-image-7.3.0"
            continue
        boot.state = BootState.EFFECTIVE
        session.add(Result(boot_id=boot.id, case_id=case.id, state="measured",
                           body_sha256="0" * 64, lab_faults=[], tools={}))  # fmt: skip
        session.flush()
        value = level * draws.setdefault(arm, random.Random(arm)).gauss(1.0, noise)
        session.add(Measurement(boot_id=boot.id, case_id=case.id, metric=FIGURE, mean=value,
                                counted=[value]))  # fmt: skip
    run.started_at = run.finished_at = run.experiment.created_at
    run.state = RunState.FINISHED
    session.flush()
